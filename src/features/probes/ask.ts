import { createHash } from 'node:crypto'
import { createMask, privateHeaders } from '../../domain/secret/mask.ts'
import { type OrgId, type RunId, scheduleId, sessionKey } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Probe, StateProbe } from '../../domain/probe/probe.ts'
import { decideProbe, parseProbeAnswer, type ProbeResult, type ProbeDecision } from '../../domain/probe/verdict.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type ExecutedRun, loadLastExecutedRun, loadSessionActivity } from './store.ts'
import { loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import type { Ports } from '../../engine/ports.ts'
import { formatInstantOrNull } from '../schedules/view.ts'

/** The ports that running a probe needs. */
export type ProbePorts = Pick<Ports, 'database' | 'clock' | 'runProbe'>

/** The schedule, session and run that a probe runs for. */
export interface ProbeContext {
  readonly orgId: OrgId
  readonly scheduleId: string | null
  readonly session: string | null
  readonly runId: RunId | null
  /** The fingerprint of the answer before the last successful run. */
  readonly before: string | null
  readonly signal: AbortSignal
}

/** Runs a probe once and evaluates its answer. Stores nothing. */
export async function runProbe(ports: ProbePorts, probe: Probe, context: ProbeContext): Promise<ProbeDecision> {
  const verdict = decideProbe(probe, await queryProbe(ports, probe, context), { before: context.before, digest })
  if (probe.kind !== 'http') return verdict
  // A server may echo the credentials it receives.
  const hidden = privateHeaders(probe.headers)
  if (hidden.length === 0) return verdict
  const mask = createMask(hidden)
  return { ...verdict, ...(mask.value({ sentence: verdict.sentence, seen: verdict.seen }) as typeof verdict) }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

function queryProbe(ports: ProbePorts, probe: Probe, context: ProbeContext): Promise<ProbeResult> {
  if (probe.kind === 'state') return queryState(ports.database, probe, { ...context, now: ports.clock.now() })
  return ports.runProbe?.(probe, context.signal) ?? Promise.resolve(PROBES_UNAVAILABLE)
}

const PROBES_UNAVAILABLE: ProbeResult = { kind: 'failed', message: 'this server cannot run http and command probes' }

/** The schedule and session that a `state` probe reads if it names none. */
interface StateQuery {
  readonly orgId: OrgId
  /** The schedule of the probe; null for a heartbeat, or before the schedule is created. */
  readonly scheduleId: string | null
  readonly session: string | null
  /** The run that the probe runs for, which is left out of the answer. */
  readonly runId: RunId | null
  readonly now: Instant
}

/** Runs a `state` probe: reads a schedule with its last run, and a session, from the database. */
async function queryState(connection: Connection, probe: StateProbe, context: StateQuery): Promise<ProbeResult> {
  const { orgId, runId, now } = context
  const scheduleRef = probe.of.scheduleId ?? context.scheduleId
  const [row] = scheduleRef === null ? [] : await loadSchedules(connection, { orgId, ids: [scheduleId(scheduleRef)] })
  if (probe.of.scheduleId !== null && row === undefined)
    return { kind: 'failed', message: `schedule ${probe.of.scheduleId} does not exist` }
  const last =
    row === undefined ? null : await loadLastExecutedRun(connection, { orgId, scheduleId: row.id, without: runId })
  const key = probe.of.session ?? context.session
  const value = {
    schedule: row === undefined ? null : scheduleValue(row),
    last_run: last === null ? null : runValue(last, now),
    session: key === null ? null : await sessionValue(connection, key, { ...context, since: last?.createdAt ?? null }),
  }
  return { kind: 'seen', value, how: 'the stored state was read', mark: null }
}

const scheduleValue = (row: ScheduleRow) => ({
  id: row.id,
  name: row.name,
  state: row.state,
  last_status: row.lastStatus,
  failure_streak: row.failureStreak,
  failure_count: row.failureCount,
  fires: row.fires,
})

const runValue = (run: ExecutedRun, now: Instant) => ({
  id: run.id,
  status: run.status,
  reason: run.reason,
  error_code: run.errorCode,
  // The output of an agent is mostly text, even if it contains JSON.
  output: typeof run.output === 'string' ? parseProbeAnswer(run.output) : run.output,
  summary: run.summary,
  finished_at: formatInstant(run.finishedAt),
  age_seconds: Math.max(0, Math.floor((now - run.finishedAt) / 1_000)),
})

async function sessionValue(
  connection: Connection,
  key: string,
  context: StateQuery & { readonly since: Instant | null },
) {
  const { orgId, since, runId: without } = context
  const activity = await loadSessionActivity(connection, { orgId, key: sessionKey(key), since, without })
  return {
    key,
    waiting: activity.waiting,
    messages_since_last_run: activity.messages,
    last_message_at: formatInstantOrNull(activity.lastMessageAt),
  }
}
