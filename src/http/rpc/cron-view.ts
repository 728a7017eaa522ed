import type { CronJob, CronJobSchedule, CronRunEntry, CronRunStatus } from '../../contract/rpc/cron.ts'
import type { RunView } from '../../features/runs/schema.ts'
import type { ScheduleView } from '../../contract/schedule.ts'

const msOf = (moment: string): number => Date.parse(moment)

/** A schedule as a job. */
export function viewJob(schedule: ScheduleView): CronJob {
  const { next_run_at: next, last_run_at: last, last_status: status, last_error: error, created_by: user } = schedule
  return {
    ...{ id: schedule.id, name: schedule.name, agentId: schedule.agent_id ?? '' },
    ...(user === null ? {} : { userId: user }),
    enabled: schedule.enabled,
    schedule: viewTiming(schedule),
    payload: { kind: 'agent_turn', message: messageIn(schedule.payload) },
    state: {
      ...(next === null ? {} : { nextRunAtMs: msOf(next) }),
      ...(last === null ? {} : { lastRunAtMs: msOf(last) }),
      ...(status === null ? {} : { lastStatus: wordFor(status) }),
      ...(error === null ? {} : { lastError: error }),
    },
    deleteAfterRun: schedule.delete_after_run,
    stateless: schedule.session === 'isolated',
    deliver: schedule.delivery !== null,
    ...(schedule.delivery === null ? {} : { deliverTo: schedule.delivery.target_id }),
    createdAtMs: msOf(schedule.created_at),
    updatedAtMs: msOf(schedule.updated_at),
  }
}

function viewTiming(schedule: ScheduleView): CronJobSchedule {
  const { kind, timezone: tz, at, every_seconds: seconds, everyMs, cron, rrule } = schedule
  return {
    kind,
    ...(at === undefined ? {} : { atMs: msOf(at) }),
    ...(seconds === undefined ? {} : { everyMs: seconds * 1_000 }),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(cron === undefined ? {} : { expr: cron }),
    ...(rrule === undefined ? {} : { rrule }),
    tz,
  }
}

/** What the agent is told; anything else that a schedule carries is shown as it is. */
function messageIn(payload: unknown): string {
  if (payload === null || payload === undefined) return ''
  if (typeof payload === 'string') return payload
  const { prompt } = payload as { readonly prompt?: unknown }
  return typeof prompt === 'string' ? prompt : JSON.stringify(payload)
}

const WORDS: Readonly<Record<string, CronRunStatus>> = {
  success: 'ok',
  failed: 'error',
  timeout: 'error',
  cancelled: 'error',
  expired: 'error',
  rejected: 'error',
  dropped: 'error',
  skipped: 'skipped',
}

const wordFor = (status: string): CronRunStatus => WORDS[status] ?? 'running'

const textOf = (summary: unknown): string => (typeof summary === 'string' ? summary : JSON.stringify(summary))

/** A run as the log of its job has it. */
export function viewEntry(jobId: string, run: RunView): CronRunEntry {
  const status = wordFor(run.status)
  const error = status === 'ok' || status === 'running' ? null : (run.error_message ?? run.error_code ?? run.reason)
  const { input_tokens: read, output_tokens: written } = run.usage ?? {}
  return {
    ...{ ts: msOf(run.started_at ?? run.finished_at ?? run.created_at), jobId, runId: run.id, status },
    ...(error === null ? {} : { error }),
    ...(run.result_summary === null ? {} : { summary: textOf(run.result_summary) }),
    ...(run.duration_ms === null ? {} : { durationMs: run.duration_ms }),
    ...(read === undefined ? {} : { inputTokens: read }),
    ...(written === undefined ? {} : { outputTokens: written }),
  }
}
