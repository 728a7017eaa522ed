import type { Records, Submission } from '../records.ts'
import { findCrowding } from './crowding.ts'
import { countReattempts, findDoubled } from './doubled.ts'
import { measureFairness, type Fairness } from './fairness.ts'
import type { Finding } from './findings.ts'
import { longestGap, longestSilence, type Gap } from './gaps.ts'
import { findLost } from './lost.ts'
import { findDisorder } from './order.ts'
import { findWronglyLost } from './wrongly-lost.ts'
import { layOut, type Evidence } from './spans.ts'
import { findEarly, longestLateness, type Lateness } from './timeliness.ts'

/** What the three records say when they are laid side by side. */
export interface Audit {
  readonly findings: readonly Finding[]
  /** Kinds of limits that were reached, and those that never were and so prove nothing. */
  readonly limitsReached: ReadonlySet<string>
  readonly limitsUnreached: ReadonlySet<string>
  readonly reattempts: { readonly lapsed: number; readonly failed: number }
  /** Occurrences that became no work, by reason; ranges count with all they hold. */
  readonly skipped: ReadonlyMap<string, number>
  readonly endings: ReadonlyMap<string, number>
  readonly outcomes: Readonly<Record<Submission['outcome'], number>>
  /** Submissions per second of load that were answered with a run. */
  readonly acceptedPerSecond: number
  /** What became of those whose senders never heard of it. */
  readonly unheard: { readonly kept: number; readonly never: number }
  /** Between orgs. */
  readonly fairness: Omit<Fairness, 'findings'>
  /** What failovers took back: answered submissions and attempts. */
  readonly withTails: { readonly submissions: number; readonly attempts: number }
  /** On a healthy node while another was away. */
  readonly gap: Gap | null
  /** On a node that nothing was done to just then. */
  readonly silence: Gap | null
  /** Of occurrences that fell due while a node had the wrong time. */
  readonly lateness: Lateness | null
}

/** Compares the records. Pure: it can be asked about records of things that never happened. */
export function audit(records: Records): Audit {
  const evidence = layOut(records)
  const crowding = findCrowding(evidence)
  const fairness = measureFairness(evidence)
  const outcomes = { accepted: 0, refused: 0, unknown: 0 }
  for (const { outcome } of records.submissions) outcomes[outcome] += 1
  return {
    findings: [
      ...findLost(evidence),
      ...findDoubled(evidence),
      ...findDisorder(evidence),
      ...crowding.findings,
      ...findStuck(evidence),
      ...findEarly(evidence),
      ...fairness.findings,
      ...evidence.tails.findUnrecorded(),
      ...findWronglyLost(evidence),
    ],
    limitsReached: crowding.reached,
    limitsUnreached: crowding.unreached,
    reattempts: countReattempts(evidence),
    skipped: countSkipped(records),
    endings: countBy(records.runs.map((run) => run.ending ?? 'pending')),
    outcomes,
    acceptedPerSecond: (outcomes.accepted * 1_000) / Math.max(1, records.load.until - records.load.from),
    unheard: countUnheard(records),
    fairness,
    withTails: countWithTails(evidence, records),
    gap: longestGap(records),
    silence: longestSilence(records),
    lateness: longestLateness(records),
  }
}

const findStuck = ({ records }: Evidence): readonly Finding[] =>
  records.runs
    .filter((run) => run.ending === null)
    .map((run) => ({ wrong: 'stuck', what: 'a run has not ended', rows: [run] }))

function countWithTails({ tails, runs }: Evidence, { submissions, handled }: Records): Audit['withTails'] {
  const isGone = ({ id, run }: Submission): boolean => run !== null && runs.get(run)?.submissions.includes(id) !== true
  return {
    submissions: submissions.filter((submission) => isGone(submission) && tails.mayBeLost(submission)).length,
    attempts: handled.filter(tails.isLostAttempt).length,
  }
}

function countUnheard({ submissions, runs }: Records): Audit['unheard'] {
  const carried = new Set(runs.flatMap((run) => run.submissions))
  const unknown = submissions.filter(({ outcome }) => outcome === 'unknown')
  const kept = unknown.filter(({ id }) => carried.has(id)).length
  return { kept, never: unknown.length - kept }
}

function countSkipped(records: Records): ReadonlyMap<string, number> {
  const counts = new Map(
    countBy(records.runs.filter(({ ending }) => ending === 'skipped').map(({ reason }) => reason ?? 'no reason')),
  )
  for (const { count } of records.ranges) counts.set('misfire', (counts.get('misfire') ?? 0) + count)
  return counts
}

function countBy(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
