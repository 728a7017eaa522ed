import type { HandledAttempt } from '../records.ts'
import type { Finding } from './findings.ts'
import { byOccurrence } from './lost.ts'
import { groupBy, type Evidence } from './spans.ts'

const doubled = (what: string, ...rows: readonly unknown[]): Finding => ({ wrong: 'doubled', what, rows })

/** What happened twice and may happen once. */
export const findDoubled = (evidence: Evidence): readonly Finding[] => [
  ...findDoubledRuns(evidence),
  ...evidence.records.runs
    .filter((run) => run.endings > 1)
    .map((run) => doubled(`a run ended ${run.endings} times`, run)),
  ...[...evidence.handledByRun.values()].flatMap((attempts) => findDoubledAttempts(evidence, attempts)),
]

function findDoubledRuns({ records }: Evidence): readonly Finding[] {
  const carriers = records.runs.flatMap((run) => run.submissions.map((submission) => ({ submission, run })))
  const bySubmission = groupBy(carriers, ({ submission }) => submission)
  return [
    ...[...bySubmission]
      .filter(([, found]) => found.length > 1)
      .map(([submission, found]) =>
        doubled(`submission ${submission} is in ${found.length} runs`, ...found.map(({ run }) => run)),
      ),
    ...[...byOccurrence(records.runs)]
      .filter(([, found]) => found.length > 1)
      .map(([occurrence, found]) => doubled(`occurrence ${occurrence} has ${found.length} runs`, ...found)),
  ]
}

/**
 * Two attempts of one run are told apart from a doubled one by what was between them: the first had failed and ended, or
 * its holder's lease had lapsed. `attempts` are those of one run, in order of their numbers.
 */
function findDoubledAttempts(evidence: Evidence, attempts: readonly HandledAttempt[]): readonly Finding[] {
  const findings: Finding[] = []
  attempts.forEach((attempt, index) => {
    const earlier = attempts[index - 1]
    if (earlier === undefined) return
    if (earlier.number === attempt.number || earlier.id === attempt.id)
      findings.push(doubled(`attempt ${attempt.number} of a run began twice`, earlier, attempt))
    else if (attempt.startedAt < earlier.startedAt)
      findings.push(doubled('an attempt began although a later one of the same run had begun', earlier, attempt))
    else if (!mayFollow(evidence, earlier, attempt))
      findings.push(doubled('an attempt began while the one before it still held its lease', earlier, attempt))
  })
  return findings
}

function mayFollow({ leases, tails }: Evidence, earlier: HandledAttempt, attempt: HandledAttempt): boolean {
  const gaveUp = earlier.how === 'failed' || earlier.how === 'aborted'
  if (gaveUp && earlier.endedAt !== null && earlier.endedAt <= attempt.startedAt) return true
  return tails.mayLackEnd(earlier, attempt) || !leases.isHeld(earlier.node, attempt.startedAt)
}

/** Attempts beyond the first of a run: after its holder was lost, and after it had failed. */
export function countReattempts({ records }: Evidence): { readonly lapsed: number; readonly failed: number } {
  const followed = records.runs.flatMap((run) => run.attempts.slice(0, -1))
  const lapsed = followed.filter(({ errorCode }) => errorCode === 'node_lost' || errorCode === 'node_shutdown').length
  return { lapsed, failed: followed.length - lapsed }
}
