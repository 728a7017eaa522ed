import type { HandledAttempt, StoredRun, Submission } from '../records.ts'
import type { Finding } from './findings.ts'
import { findCrowd, groupBy, type Evidence } from './spans.ts'

const disorder = (what: string, ...rows: readonly unknown[]): Finding => ({ wrong: 'out of session order', what, rows })

/** Sessions that let one run in at a time: in order, and never two. */
export function findDisorder(evidence: Evidence): readonly Finding[] {
  const { limits, handled, runs, submissions } = evidence.records
  const handledIn = groupBy(handled, (attempt) => attempt.session)
  const runsIn = groupBy(runs, (run) => run.session)
  const sentTo = groupBy(submissions, (submission) => submission.to)
  return [...limits.sessions].flatMap(([session, limit]): readonly Finding[] => {
    if (limit !== 1) return []
    const attempts = handledIn.get(session) ?? []
    const alone = findCompany(evidence, session, attempts)
    if (!evidence.records.orderedSessions.has(session)) return alone
    const starts = firstStarts(attempts)
    return [
      ...alone,
      ...findOvertaking(starts, runsIn.get(session) ?? []),
      ...findOvertakenSenders(starts, sentTo.get(session) ?? []),
    ]
  })
}

function findCompany(evidence: Evidence, session: string, attempts: readonly HandledAttempt[]): readonly Finding[] {
  const crowd = findCrowd(attempts.map(evidence.spanOf), 1)
  return crowd === null ? [] : [disorder(`two attempts of ${session} at the same time`, ...crowd.rows)]
}

function firstStarts(attempts: readonly HandledAttempt[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>()
  for (const { run, startedAt } of attempts) starts.set(run, Math.min(startedAt, starts.get(run) ?? startedAt))
  return starts
}

/** By the database: what was created earlier starts earlier. Runs of one commit have the same time and no order here. */
function findOvertaking(starts: ReadonlyMap<string, number>, runs: readonly StoredRun[]): readonly Finding[] {
  const started = runs
    .flatMap((run) => {
      const start = starts.get(run.id)
      return start === undefined ? [] : [{ run, start }]
    })
    .sort((a, b) => a.start - b.start)
  const findings: Finding[] = []
  let youngest: StoredRun | undefined
  for (const { run } of started) {
    if (youngest !== undefined && run.createdAt < youngest.createdAt)
      findings.push(disorder('a run started after one that was created later', run, youngest))
    else youngest = run
  }
  return findings
}

/** By the submitters alone: what was sent after the answer to another starts after it. */
function findOvertakenSenders(
  starts: ReadonlyMap<string, number>,
  submissions: readonly Submission[],
): readonly Finding[] {
  const accepted = submissions.flatMap((submission) => {
    const start = submission.run === null ? undefined : starts.get(submission.run)
    const { answeredAt } = submission
    return start === undefined || answeredAt === null ? [] : [{ submission, start, answeredAt }]
  })
  const bySent = [...accepted].sort((a, b) => a.submission.sentAt - b.submission.sentAt)
  const byAnswer = [...accepted].sort((a, b) => a.answeredAt - b.answeredAt)
  const findings: Finding[] = []
  let answered = 0
  let latest: (typeof accepted)[number] | undefined
  for (const later of bySent) {
    for (
      let earlier = byAnswer[answered];
      earlier !== undefined && earlier.answeredAt < later.submission.sentAt;
      earlier = byAnswer[(answered += 1)]
    )
      if (latest === undefined || earlier.start > latest.start) latest = earlier
    if (latest !== undefined && latest.start > later.start)
      findings.push(
        disorder('a submission started before one that had been answered before it was sent', latest, later),
      )
  }
  return findings
}
