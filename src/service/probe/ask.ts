import { createHash } from 'node:crypto'
import { privateHeaders } from '../../core/executor/masked.ts'
import { type OrgId, type RunId, scheduleId, sessionKey } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Probe, StateProbe } from '../../domain/probe/probe.ts'
import { judgeSight, readSight, type Sight, type Verdict } from '../../core/probe/verdict.ts'
import { createMask } from '../../domain/secret/mask.ts'
import type { Connection } from '../../store/database.ts'
import { type EndedRun, loadLastExecuted, loadSessionSight } from '../../features/probes/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { loadSchedules } from '../../store/schedules.ts'
import type { Ports } from '../ports.ts'
import { momentOrNull } from '../schedule-view.ts'

/** What asking needs. */
export type Asking = Pick<Ports, 'database' | 'clock' | 'look'>

/** For whom a probe is asked. */
export interface AskedFor {
  readonly orgId: OrgId
  readonly scheduleId: string | null
  readonly session: string | null
  readonly runId: RunId | null
  /** What the last asking saw whose run succeeded. */
  readonly before: string | null
  readonly signal: AbortSignal
}

/** Asks a probe once and judges what was seen. Nothing is put on record. */
export async function ask(ports: Asking, probe: Probe, of: AskedFor): Promise<Verdict> {
  const verdict = judgeSight(probe, await see(ports, probe, of), { before: of.before, digest })
  if (probe.kind !== 'http') return verdict
  // Whoever is sent a credential may say it back.
  const hidden = privateHeaders(probe.headers)
  if (hidden.length === 0) return verdict
  const mask = createMask(hidden)
  return { ...verdict, ...(mask.value({ sentence: verdict.sentence, seen: verdict.seen }) as typeof verdict) }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

function see(ports: Asking, probe: Probe, of: AskedFor): Promise<Sight> {
  if (probe.kind === 'state') return seeState(ports.database, probe, { ...of, now: ports.clock.now() })
  return ports.look?.(probe, of.signal) ?? Promise.resolve(NOBODY_LOOKS)
}

const NOBODY_LOOKS: Sight = { kind: 'failed', message: 'this server cannot ask anybody outside' }

/** For whom is looked: what a probe means that names nothing. */
interface StateOf {
  readonly orgId: OrgId
  /** The schedule that carries the probe; null: a heartbeat, or nobody yet. */
  readonly scheduleId: string | null
  readonly session: string | null
  /** The run that is asked for, which does not count. */
  readonly runId: RunId | null
  readonly now: Instant
}

/** Looks at what is stored: a schedule with its last run, and a session. Nobody outside is asked. */
async function seeState(connection: Connection, probe: StateProbe, of: StateOf): Promise<Sight> {
  const { orgId, runId, now } = of
  const named = probe.of.scheduleId ?? of.scheduleId
  const [row] = named === null ? [] : await loadSchedules(connection, { orgId, ids: [scheduleId(named)] })
  if (probe.of.scheduleId !== null && row === undefined)
    return { kind: 'failed', message: `there is no schedule ${probe.of.scheduleId}` }
  const last =
    row === undefined ? null : await loadLastExecuted(connection, { orgId, scheduleId: row.id, without: runId })
  const key = probe.of.session ?? of.session
  const value = {
    schedule: row === undefined ? null : viewSchedule(row),
    last_run: last === null ? null : viewRun(last, now),
    session: key === null ? null : await viewSession(connection, key, { ...of, since: last?.createdAt ?? null }),
  }
  return { kind: 'seen', value, how: 'what is stored was looked at', mark: null }
}

const viewSchedule = (row: ScheduleRow) => ({
  id: row.id,
  name: row.name,
  state: row.state,
  last_status: row.lastStatus,
  failure_streak: row.failureStreak,
  failure_count: row.failureCount,
  fires: row.fires,
})

const viewRun = (run: EndedRun, now: Instant) => ({
  id: run.id,
  status: run.status,
  reason: run.reason,
  error_code: run.errorCode,
  // What an agent says is mostly text, even where it is JSON.
  output: typeof run.output === 'string' ? readSight(run.output) : run.output,
  summary: run.summary,
  finished_at: formatInstant(run.finishedAt),
  age_seconds: Math.max(0, Math.floor((now - run.finishedAt) / 1_000)),
})

async function viewSession(connection: Connection, key: string, of: StateOf & { readonly since: Instant | null }) {
  const { orgId, since, runId: without } = of
  const sight = await loadSessionSight(connection, { orgId, key: sessionKey(key), since, without })
  return {
    key,
    waiting: sight.waiting,
    messages_since_last_run: sight.messages,
    last_message_at: momentOrNull(sight.lastMessageAt),
  }
}
