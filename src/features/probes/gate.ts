import type { AttemptId, OrgId, RunId } from '../../domain/ids.ts'
import { describeFlaw } from '../../domain/input.ts'
import { type ProbeRecord, probeTargetText, type ProbeDecision } from '../../domain/probe/verdict.ts'
import { parseProbe, type Probe } from '../../domain/probe/probe.ts'
import { because } from '../../domain/reasons.ts'
import type { AttemptOutcome } from '../../domain/run/outcome.ts'
import type { ReportDecision } from '../../domain/run/reports.ts'
import { loadProbeHistory, writeProbe, type ProbeHistory } from './store.ts'
import type { RunProbe } from '../../engine/commands/probes.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Command } from '../../engine/commands-port.ts'
import { runProbe, type ProbePorts } from './ask.ts'

/** An attempt whose probe runs before the agent is woken. */
export interface ProbedAttempt extends RunProbe {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly scheduleId: string | null
  readonly session: string | null
}

/** The end of an attempt that does not wake the agent. The result of the probe is stored with it. */
export interface ProbeEnding {
  readonly outcome: AttemptOutcome
  readonly errorMessage?: string
  readonly probe: ProbeRecord
}

/**
 * Runs the probe before the agent is woken. Null: wake the agent; the result is stored by then, so that a later attempt
 * of the same run does not run the probe again.
 */
export async function probeBeforeRun(
  ports: ProbePorts & Pick<Ports, 'commands'>,
  attempt: ProbedAttempt,
  signal: AbortSignal,
): Promise<ProbeEnding | null> {
  const read = parseProbe('probe', attempt.given)
  // It was validated when it was written, so only a row changed outside of Escapement is unreadable.
  if (!read.ok) return probeInvalid(attempt, read.flaws.map(describeFlaw).join('; '))
  const probe = read.value
  const { orgId, subject, runId, scheduleId, session } = attempt
  const history = await loadProbeHistory(ports.database, { orgId, subject, runId })
  if (hasWokenAgent(probe, history)) return null
  // An answer counts as seen only once the run it woke has succeeded, so that no change is lost.
  const before = history.wokenSucceeded ? history.wokenMark : history.seenMark
  const verdict = await runProbe(ports, probe, { orgId, scheduleId, session, runId, before, signal })
  const record = probeRecord(probe, { subject, verdict, before })
  if (signal.aborted) return null
  if (verdict.answer === 'no') return { outcome: { kind: 'not_needed', why: notNeededReason(record) }, probe: record }
  if (verdict.answer === 'error' && probe.onError === 'fail') return probeFailed(record)
  await ports.commands.execute(recordWakeCommand(attempt, record))
  return null
}

/** Whether an earlier attempt of the run woke the agent: it should finish what it has begun. */
const hasWokenAgent = ({ onError }: Probe, { earlierAnswer }: ProbeHistory): boolean =>
  earlierAnswer === 'yes' || (earlierAnswer === 'error' && onError === 'run')

function probeRecord(
  probe: Probe,
  context: { readonly subject: string; readonly verdict: ProbeDecision; readonly before: string | null },
): ProbeRecord {
  const { answer, sentence, seen, fingerprint } = context.verdict
  return {
    ...{ subject: context.subject, answer, asked: probeTargetText(probe), sentence, seen, seenMark: context.before },
    wokenMark: answer === 'yes' ? fingerprint : null,
  }
}

const notNeededReason = ({ asked, sentence, seen }: ProbeRecord) =>
  because('probe_no', 'probe', { asked, seen: sentence, answer: 'no', ...(seen === '' ? {} : { found: seen }) })

const probeFailed = (record: ProbeRecord): ProbeEnding => ({
  outcome: { kind: 'failed', errorCode: 'probe_failed', retryable: null, retryAfterMs: null },
  errorMessage: `Probe failed (${record.asked}): ${record.sentence}`,
  probe: record,
})

const probeInvalid = ({ subject }: ProbedAttempt, flaw: string): ProbeEnding =>
  probeFailed({
    ...{ subject, answer: 'error', asked: 'stored probe', sentence: `it is invalid (${flaw})`, seen: '' },
    ...{ seenMark: null, wokenMark: null },
  })

/** Creates the command that records that the agent is woken, unless the attempt is no longer current. */
function recordWakeCommand(attempt: ProbedAttempt, record: ProbeRecord): Command<boolean> {
  const { orgId, runId, attemptId } = attempt
  const reason = record.answer === 'error' ? 'probe_error' : 'probe_yes'
  return {
    orgId,
    apply: (state) => {
      const run = state.runs.get(runId)
      if (run?.attemptId !== attemptId) return false
      const data = { status: run.state, reason, attempt: run.attempt, session: run.sessionKey }
      state.changes.probeAnswers.push(record.answer)
      state.changes.events.push({ kind: 'run.touched', subject: runId, data })
      return true
    },
    afterApply: async (tx, isCurrent, at) => {
      if (isCurrent) writeProbe(tx, { ...record, orgId, runId, at })
      return Promise.resolve()
    },
  }
}

/** Whether a report was applied. */
export const isApplied = (decision: ReportDecision | null): boolean =>
  decision !== null && decision.kind !== 'stale_report'

/** Extends a command so that it also stores the result of a probe, if the answer of the command counts. */
export const withProbeRecord = <Answer>(
  command: Command<Answer>,
  context: { readonly runId: RunId; readonly probe: ProbeRecord },
  counts: (answer: Answer) => boolean,
): Command<Answer> => ({
  ...command,
  apply: (state, prepared) => {
    const answer = command.apply(state, prepared)
    if (counts(answer)) state.changes.probeAnswers.push(context.probe.answer)
    return answer
  },
  afterApply: async (tx, answer, at) => {
    await command.afterApply?.(tx, answer, at)
    if (counts(answer)) writeProbe(tx, { ...context.probe, orgId: command.orgId, runId: context.runId, at })
  },
})
