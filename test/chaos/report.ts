import type { Audit } from './audit/audit.ts'
import { WRONGS } from './audit/findings.ts'
import { countFaults, FAULT_KINDS, FAULT_NAMES, type FaultRecord } from './faults.ts'

/** What has to be reached for the run to prove anything. */
export interface Demands {
  readonly faults: number
  readonly acceptedPerSecond: number
  readonly longestGapMs: number
}

export interface Told {
  readonly seed: number
  readonly nodes: number
  readonly loadMs: number
  readonly audit: Audit
  readonly faults: readonly FaultRecord[]
  /** What else went wrong: nodes that crashed, commands that failed. */
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
    `${told.nodes} nodes, ${(told.loadMs / 1_000).toFixed(0)} s of load, ${audit.acceptedPerSecond.toFixed(1)} submissions/s acknowledged (${sent} sent: ${accepted} acknowledged, ${refused} refused, ${unknown} unknown)`,
    `${faults.length} faults: ${FAULT_KINDS.map((kind) => `${FAULT_NAMES[kind]} ${counts[kind]}`).join(', ')}`,
    `runs: ${listed(audit.endings)}`,
    `re-attempts: ${audit.reattempts.lapsed} after a lapsed lease, ${audit.reattempts.failed} after a failure`,
    `skipped: ${sum(audit.skipped)} (${listed(new Map([['misfire', 0], ...audit.skipped]))})`,
    `limits reached: ${words(audit.limitsReached)}${audit.limitsUnreached.size === 0 ? '' : `; never reached: ${words(audit.limitsUnreached)}`}`,
    `longest gap without a start on a healthy node while another was stopped: ${describeGap(audit)}`,
    verdictOf(audit),
  ]
}

const describeGap = ({ gap }: Audit): string =>
  gap === null ? 'no node was stopped' : `${gap.ms.toFixed(0)} ms (${gap.process})`

/** Why the result is not good enough, one line each; none when it is. */
export function complaintsOf(told: Told, demands: Demands): readonly string[] {
  const { audit, faults } = told
  const counts = countFaults(faults)
  return [
    ...told.troubles,
    ...(faults.length < demands.faults ? [`only ${faults.length} faults, ${demands.faults} were demanded`] : []),
    ...FAULT_KINDS.filter((kind) => counts[kind] === 0).map((kind) => `no fault of kind ${FAULT_NAMES[kind]}`),
    ...(audit.acceptedPerSecond < demands.acceptedPerSecond
      ? [`only ${audit.acceptedPerSecond.toFixed(1)} submissions/s, ${demands.acceptedPerSecond} were demanded`]
      : []),
    ...(audit.gap === null || audit.gap.ms > demands.longestGapMs
      ? [`the longest gap was ${describeGap(audit)}, ${demands.longestGapMs} ms are allowed`]
      : []),
    ...describeFindings(audit),
  ]
}

/** The offending rows, a few of each kind. */
function describeFindings({ findings }: Audit): readonly string[] {
  return WRONGS.flatMap((wrong) => {
    const found = findings.filter((finding) => finding.wrong === wrong)
    const shown = found
      .slice(0, MOST_ROWS)
      .flatMap(({ what, rows }) => [`${wrong}: ${what}`, ...rows.map((row) => `    ${JSON.stringify(row)}`)])
    return found.length > MOST_ROWS ? [...shown, `${wrong}: … and ${found.length - MOST_ROWS} more`] : shown
  })
}
