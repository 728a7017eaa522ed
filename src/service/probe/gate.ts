import type { AttemptId, OrgId, RunId } from '../../domain/ids.ts'
import { describeFlaw } from '../../domain/input.ts'
import type { ProbeRecord } from '../../core/probe/asked.ts'
import { parseProbe, type Probe } from '../../domain/probe/probe.ts'
import { subjectOf } from '../../core/probe/say-probe.ts'
import type { Verdict } from '../../core/probe/verdict.ts'
import { because } from '../../domain/reasons.ts'
import type { Outcome } from '../../domain/run/outcome.ts'
import type { ReportDecision } from '../../domain/run/reports.ts'
import { loadProbeStanding, writeProbe, type ProbeStanding } from '../../features/probes/store.ts'
import type { CarriedProbe } from '../../engine/commands/probes.ts'
import type { Ports } from '../ports.ts'
import type { Work } from '../turn-port.ts'
import { ask, type Asking } from './ask.ts'

/** An attempt that is about to wake somebody. */
export interface GatedAttempt extends CarriedProbe {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly scheduleId: string | null
  readonly session: string | null
}

/** The attempt ends here: nobody is woken. What was seen is put on record with its ending. */
export interface Ended {
  readonly outcome: Outcome
  readonly errorMessage?: string
  readonly probe: ProbeRecord
}

/**
 * Asks before somebody is woken. Null: wake them; that is on record then, so that a later attempt of the same run is not
 * asked about again.
 */
export async function gate(
  ports: Asking & Pick<Ports, 'turns'>,
  attempt: GatedAttempt,
  signal: AbortSignal,
): Promise<Ended | null> {
  const read = parseProbe('probe', attempt.given)
  // It was checked when it was written; whoever has written it otherwise is told.
  if (!read.ok) return unreadable(attempt, read.flaws.map(describeFlaw).join('; '))
  const probe = read.value
  const { orgId, subject, runId, scheduleId, session } = attempt
  const standing = await loadProbeStanding(ports.database, { orgId, subject, runId })
  if (isWokenAlready(probe, standing)) return null
  // What the woken run was shown counts as seen once that has succeeded, and not before: nothing is lost.
  const before = standing.wokenSucceeded ? standing.wokenMark : standing.seenMark
  const verdict = await ask(ports, probe, { orgId, scheduleId, session, runId, before, signal })
  const record = recordOf(probe, { subject, verdict, before })
  if (signal.aborted) return null
  if (verdict.answer === 'no') return { outcome: { kind: 'not_needed', why: whyNo(record) }, probe: record }
  if (verdict.answer === 'error' && probe.onError === 'fail') return failed(record)
  await ports.turns.take(wakeWork(attempt, record))
  return null
}

/** Who was woken once is woken again without a question: what it has begun it should finish. */
const isWokenAlready = ({ onError }: Probe, { said }: ProbeStanding): boolean =>
  said === 'yes' || (said === 'error' && onError === 'run')

function recordOf(
  probe: Probe,
  of: { readonly subject: string; readonly verdict: Verdict; readonly before: string | null },
): ProbeRecord {
  const { answer, sentence, seen, fingerprint } = of.verdict
  return {
    ...{ subject: of.subject, answer, asked: subjectOf(probe), sentence, seen, seenMark: of.before },
    wokenMark: answer === 'yes' ? fingerprint : null,
  }
}

const whyNo = ({ asked, sentence, seen }: ProbeRecord) =>
  because('probe_no', 'probe', { asked, seen: sentence, answer: 'no', ...(seen === '' ? {} : { found: seen }) })

const failed = (record: ProbeRecord): Ended => ({
  outcome: { kind: 'failed', errorCode: 'probe_failed', retryable: null, retryAfterMs: null },
  errorMessage: `${record.asked} could not be asked: ${record.sentence}`,
  probe: record,
})

const unreadable = ({ subject }: GatedAttempt, flaw: string): Ended =>
  failed({
    ...{ subject, answer: 'error', asked: 'the probe', sentence: `it cannot be read (${flaw})`, seen: '' },
    ...{ seenMark: null, wokenMark: null },
  })

/** Puts on record that somebody is woken, unless the attempt is current no more. */
function wakeWork(attempt: GatedAttempt, record: ProbeRecord): Work<boolean> {
  const { orgId, runId, attemptId } = attempt
  const reason = record.answer === 'error' ? 'probe_error' : 'probe_yes'
  return {
    orgId,
    apply: (desk) => {
      const run = desk.runs.get(runId)
      if (run?.attemptId !== attemptId) return false
      const data = { status: run.state, reason, attempt: run.attempt, session: run.sessionKey }
      desk.changes.probeAnswers.push(record.answer)
      desk.changes.events.push({ kind: 'run.touched', subject: runId, data })
      return true
    },
    conclude: async (tx, isCurrent, at) => {
      if (isCurrent) writeProbe(tx, { ...record, orgId, runId, at })
      return Promise.resolve()
    },
  }
}

/** Whether a report was taken in. */
export const isApplied = (decision: ReportDecision | null): boolean =>
  decision !== null && decision.kind !== 'stale_report'

/** The same work, which puts on record besides what was seen, if it counts. */
export const alsoRecording = <Answer>(
  work: Work<Answer>,
  of: { readonly runId: RunId; readonly probe: ProbeRecord },
  counts: (answer: Answer) => boolean,
): Work<Answer> => ({
  ...work,
  apply: (desk, prepared) => {
    const answer = work.apply(desk, prepared)
    if (counts(answer)) desk.changes.probeAnswers.push(of.probe.answer)
    return answer
  },
  conclude: async (tx, answer, at) => {
    await work.conclude?.(tx, answer, at)
    if (counts(answer)) writeProbe(tx, { ...of.probe, orgId: work.orgId, runId: of.runId, at })
  },
})
