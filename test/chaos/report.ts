import type { Audit } from './audit/audit.ts'
import { WRONGS } from './audit/findings.ts'
import { AWAY_KINDS } from './audit/gaps.ts'
import { FAULT_NAMES, type FaultKind } from './fault-kinds.ts'
import { countFaults, type FaultRecord } from './faults.ts'

/** What has to be reached for the run to prove anything. */
export interface Demands {
  readonly faults: number
  readonly acceptedPerSecond: number
  /** Of a healthy node while another was away. */
  readonly longestGapMs: number
  /** Of a node until it is back at work, once nothing is done to it any more. */
  readonly longestSilenceMs: number
  /** Of an occurrence that falls due while a node has the wrong time. */
  readonly longestLatenessMs: number
  /** Of small orgs, for a slot that others use: 99 of 100 starts wait at most this long. */
  readonly longestWaitMs: number
}

export interface Told {
  readonly seed: number
  readonly nodes: number
  readonly orgs: number
  readonly loadMs: number
  readonly audit: Audit
  /** The kinds of faults that were asked for. */
  readonly kinds: readonly FaultKind[]
  readonly faults: readonly FaultRecord[]
  /** Nodes that ended by themselves. */
  readonly crashes: readonly string[]
  /** What else went wrong: commands that failed, nodes that did not say what they should. */
  readonly troubles: readonly string[]
}

const MOST_ROWS = 5

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, count]) => `${word} ${count}`)
    .join(', ')

const words = (set: ReadonlySet<string>): string => [...set].sort().join(', ')

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)

/** The line everybody looks at. */
export const verdictOf = ({ findings }: Audit): string =>
  WRONGS.map((wrong) => `${findings.filter((finding) => finding.wrong === wrong).length} ${wrong}`).join(', ')

/** The whole result, line by line; the verdict is the last. */
export function describeRun(told: Told): readonly string[] {
  const { audit, faults } = told
  const { accepted, refused, unknown } = audit.outcomes
  const counts = countFaults(faults)
  const sent = accepted + refused + unknown
  return [
    `seed ${told.seed}`,
    `${told.nodes} nodes, ${told.orgs} orgs, ${(told.loadMs / 1_000).toFixed(0)} s of load, ${audit.acceptedPerSecond.toFixed(1)} submissions/s acknowledged (${sent} sent: ${accepted} acknowledged, ${refused} refused, ${unknown} unknown)`,
    `unknown submissions: ${audit.unheard.kept} kept once, ${audit.unheard.never} never`,
    `lost with the tail of a failover: ${audit.withTails.submissions} answered submissions, ${audit.withTails.attempts} attempts`,
    `${faults.length} faults: ${told.kinds.map((kind) => `${FAULT_NAMES[kind]} ${counts[kind]}`).join(', ')}`,
    `runs: ${listed(audit.endings)}`,
    `re-attempts: ${audit.reattempts.lapsed} after a lapsed lease, ${audit.reattempts.failed} after a failure`,
    `skipped: ${sum(audit.skipped)} (${listed(new Map([['misfire', 0], ...audit.skipped]))})`,
    `limits reached: ${words(audit.limitsReached)}${audit.limitsUnreached.size === 0 ? '' : `; never reached: ${words(audit.limitsUnreached)}`}`,
    `longest gap without a start on a healthy node while another was away: ${describeGap(audit.gap, 'no node was away')}`,
    `longest silence of a node that nothing was done to: ${describeGap(audit.silence, 'there was none')}`,
    `latest decision while a node had the wrong time: ${describeLateness(audit)}`,
    describeFairness(audit),
    `${verdictOf(audit)}, ${told.crashes.length} crashes`,
  ]
}

const describeGap = (gap: Audit['gap'], none: string): string =>
  gap === null ? none : `${gap.ms.toFixed(0)} ms (${gap.process})`

const describeLateness = ({ lateness }: Audit): string =>
  lateness === null ? 'no node had the wrong time' : `${lateness.ms.toFixed(0)} ms`

const describeFairness = ({ fairness: { orgs, runs, p50Ms, p99Ms, longestMs } }: Audit): string =>
  `${runs} starts of ${orgs} small orgs waited while others started in their lane: half of them at most ${p50Ms.toFixed(0)} ms, 99 % ${p99Ms.toFixed(0)} ms, all ${longestMs.toFixed(0)} ms`

/** Why the result is not good enough, one line each; none when it is. */
export function complaintsOf(told: Told, demands: Demands): readonly string[] {
  const { audit, faults } = told
  const counts = countFaults(faults)
  return [
    ...told.crashes,
    ...told.troubles,
    ...(faults.length < demands.faults ? [`only ${faults.length} faults, ${demands.faults} were demanded`] : []),
    ...told.kinds.filter((kind) => counts[kind] === 0).map((kind) => `no fault of kind ${FAULT_NAMES[kind]}`),
    ...(audit.acceptedPerSecond < demands.acceptedPerSecond
      ? [`only ${audit.acceptedPerSecond.toFixed(1)} submissions/s, ${demands.acceptedPerSecond} were demanded`]
      : []),
    ...describeWaits(told, demands),
    ...describeFindings(audit),
  ]
}

/** What took too long, or was never seen although it had to be. */
function describeWaits({ audit, kinds }: Told, demands: Demands): readonly string[] {
  const { gap, silence, lateness, fairness } = audit
  const { longestGapMs, longestSilenceMs, longestLatenessMs } = demands
  const wantsGap = kinds.some((kind) => AWAY_KINDS.includes(kind))
  const wantsLateness = kinds.includes('clock_step')
  return [
    ...(wantsGap && (gap === null || gap.ms > longestGapMs)
      ? [`the longest gap was ${describeGap(gap, 'never seen')}, ${longestGapMs} ms are allowed`]
      : []),
    ...(silence !== null && silence.ms > longestSilenceMs
      ? [`the longest silence was ${describeGap(silence, '')}, ${longestSilenceMs} ms are allowed`]
      : []),
    ...(wantsLateness && (lateness === null || lateness.ms > longestLatenessMs)
      ? [`the latest decision was ${describeLateness(audit)}, ${longestLatenessMs} ms are allowed`]
      : []),
    ...(fairness.p99Ms > demands.longestWaitMs
      ? [
          `99 % of the starts of small orgs waited up to ${fairness.p99Ms.toFixed(0)} ms, ${demands.longestWaitMs} ms are allowed`,
        ]
      : []),
  ]
}

/** The offending rows, a few of each kind. */
export function describeFindings({ findings }: Audit): readonly string[] {
  return WRONGS.flatMap((wrong) => {
    const found = findings.filter((finding) => finding.wrong === wrong)
    const shown = found
      .slice(0, MOST_ROWS)
      .flatMap(({ what, rows }) => [`${wrong}: ${what}`, ...rows.map((row) => `    ${JSON.stringify(row)}`)])
    return found.length > MOST_ROWS ? [...shown, `${wrong}: … and ${found.length - MOST_ROWS} more`] : shown
  })
}
