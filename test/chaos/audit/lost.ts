import type { StoredRun, TickingSchedule } from '../records.ts'
import type { Finding } from './findings.ts'
import { groupBy, type Evidence } from './spans.ts'

const lost = (what: string, ...rows: readonly unknown[]): Finding => ({ wrong: 'lost', what, rows })

/** What was accepted, executed or due, and is not on record as it should be. */
export const findLost = (evidence: Evidence): readonly Finding[] => [
  ...findLostSubmissions(evidence),
  ...findLostWork(evidence),
  ...evidence.records.schedules.flatMap((schedule) => findLostOccurrences(evidence, schedule)),
]

/** An answer that named a run is a promise: the run is there, carries the words, and has ended. */
function findLostSubmissions({ records, runs, tails }: Evidence): readonly Finding[] {
  const carriers = new Map(records.runs.flatMap((run) => run.submissions.map((id) => [id, run] as const)))
  return records.submissions.flatMap((submission): readonly Finding[] => {
    const carrier = carriers.get(submission.id)
    if (submission.outcome === 'refused' && carrier !== undefined && carrier.ending !== 'rejected')
      return [lost('a refused submission left a run that was not rejected', submission, carrier)]
    if (submission.outcome === 'unknown' || submission.run === null) return []
    const run = runs.get(submission.run)
    if (run?.submissions.includes(submission.id) !== true && tails.mayBeLost(submission)) return []
    if (run === undefined) return [lost('an answered submission has no run', submission)]
    if (!run.submissions.includes(submission.id))
      return [lost('the run of an answered submission does not carry it', submission, run)]
    if (run.ending === null) return [lost('the run of an answered submission has not ended', submission, run)]
    return []
  })
}

/** A success that no handler brought home, and work on a run that nobody knows. */
function findLostWork({ records, runs, tails, handledByRun }: Evidence): readonly Finding[] {
  const unproven = records.runs.filter(
    (run) => run.ending === 'success' && !handledByRun.get(run.id)?.some(({ how }) => how === 'ok'),
  )
  // After a failover that is work without a record, which has a name of its own.
  const unknown = records.handled.filter((attempt) => !runs.has(attempt.run) && !tails.isOver(attempt.startedAt))
  return [
    ...unproven.map((run) => lost('a run ended in success, and no handler finished it', run)),
    ...unknown.map((attempt) => lost('a handler worked on a run that is not in the database', attempt)),
  ]
}

/** Every tick between the first decided one and the end of the load is decided: as a run, or inside a range. */
function findLostOccurrences({ records }: Evidence, schedule: TickingSchedule): readonly Finding[] {
  const decided = new Set(
    records.runs.filter((run) => run.schedule === schedule.id).flatMap((run) => run.nominal ?? []),
  )
  for (const range of records.ranges)
    if (range.schedule === schedule.id)
      for (let at = range.first; at <= range.last; at += schedule.intervalMs) decided.add(at)
  if (decided.size === 0) return [lost(`schedule ${schedule.name} never fired`, schedule)]
  const findings: Finding[] = []
  for (let at = Math.min(...decided); at <= schedule.until; at += schedule.intervalMs)
    if (!decided.has(at))
      findings.push(lost(`an occurrence of ${schedule.name} was never decided`, new Date(at).toISOString(), schedule))
  return findings
}

/** Runs by the schedule and nominal time that made them. */
export const byOccurrence = (runs: readonly StoredRun[]): ReadonlyMap<string, readonly StoredRun[]> =>
  groupBy(runs, (run) =>
    run.nominal === null || (run.trigger !== 'schedule' && run.trigger !== 'catchup')
      ? null
      : `${String(run.schedule)} ${run.nominal}`,
  )
