import { agentId, orgId, runId, scheduleId, sessionKey } from '../../../src/domain/ids.ts'
import { later, type Instant } from '../../../src/domain/instant.ts'
import { because, type Why } from '../../../src/domain/reasons.ts'
import { isPending, type RunState } from '../../../src/domain/run/run-machine.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { storeTiming } from '../../../src/domain/time/parse-timing.ts'
import type { AgentRow } from '../../../src/features/agents/store.ts'
import type { Connection } from '../../../src/platform/db/database.ts'
import { ensureOrg } from '../../../src/features/access/orgs-store.ts'
import type { ScheduleRow } from '../../../src/features/schedules/store.ts'
import type { SessionRow } from '../../../src/features/sessions/store.ts'
import { toTimestamp } from '../../../src/platform/db/table.ts'
import { NOW, rules } from '../../support/builders.ts'
import { timingOf } from '../../support/schedules.ts'

export const ORG = orgId('acme')
export const OTHER_ORG = orgId('other')

/** Two orgs, so that every test can see that it touches only one. */
export async function makeOrgs(connection: Connection): Promise<void> {
  for (const id of [ORG, OTHER_ORG])
    await ensureOrg(connection, { id, name: id, defaultTimezone: 'UTC', defaultAgentId: null, at: NOW })
}

export const anAgent = (over: Partial<AgentRow> = {}): AgentRow => ({
  orgId: ORG,
  id: agentId('writer'),
  name: 'Writer',
  description: '',
  executor: { kind: 'echo' },
  retryPolicy: null,
  timeoutSeconds: null,
  maxConcurrent: null,
  contextWindow: null,
  defaultSession: null,
  provider: null,
  selfService: null,
  version: 1,
  createdAt: NOW,
  updatedAt: NOW,
  ...over,
})

export const aSessionRow = (key: string, over: Partial<SessionRow> = {}): SessionRow => ({
  orgId: ORG,
  key: sessionKey(key),
  own: {},
  cutoff: null,
  generation: 0,
  context: null,
  behind: 0,
  behindFrom: 0,
  createdAt: NOW,
  ...over,
})

export const aScheduleRow = (id: string, over: Partial<ScheduleRow> = {}): ScheduleRow => ({
  id: scheduleId(id),
  orgId: ORG,
  agentId: agentId('writer'),
  createdBy: null,
  ...{ owner: null, createdByRun: null, lineage: null, approval: null },
  name: `schedule ${id}`,
  description: '',
  input: { every_seconds: 60 },
  timing: timingOf({ every_seconds: 60 }, NOW),
  rules: rules(),
  retryPolicy: null,
  timeoutSeconds: null,
  lane: null,
  sessionKey: null,
  payload: null,
  deleteAfterRun: false,
  state: 'active',
  watermark: NOW,
  nextRunAt: later(NOW, 60_000),
  pace: null,
  failureStreak: 0,
  failureCount: 0,
  skippedFor: null,
  fires: 0,
  previousRunId: null,
  lastReleaseAt: null,
  lastEnding: null,
  lastRunAt: null,
  lastStatus: null,
  lastError: null,
  alerts: null,
  version: 1,
  createdAt: NOW,
  updatedAt: NOW,
  ...over,
})

/** Schedules compare by what is stored of their timing: its zone remembers what it has worked out. */
export const plain = (row: ScheduleRow): unknown => ({ ...row, timing: storeTiming(row.timing) })

/** The few things about a run that tests of reading and retention vary. */
export interface RunSeed {
  readonly org?: string
  readonly agent?: string
  readonly session?: string | null
  readonly generation?: number
  readonly schedule?: string | null
  readonly nominal?: Instant | null
  readonly trigger?: string
  readonly priority?: number
  readonly createdAt?: Instant
  readonly state?: RunState
  readonly attempt?: number
  readonly startedAt?: Instant | null
  readonly finishedAt?: Instant | null
  readonly notBefore?: Instant | null
  readonly deadline?: Instant | null
  readonly payload?: unknown
  readonly output?: unknown
  readonly usage?: unknown
  readonly decision?: Why
  readonly why?: Why | null
  readonly errorCode?: string | null
  readonly errorMessage?: string | null
}

/** Puts a run on record the way the engine does: in `run`, and in `pending` while it is pending. */
export async function seedRun(connection: Connection, id: string, seed: RunSeed = {}): Promise<void> {
  const { org = ORG, state = 'queued', createdAt = NOW, attempt = 1 } = seed
  const at = (moment: Instant | null | undefined): string | null =>
    moment === null || moment === undefined ? null : toTimestamp(moment)
  const pending = isPending(state)
  const executed = ['running', 'awaiting_callback', 'stopping', 'success', 'failed', 'timeout'].includes(state)
  const startedAt = seed.startedAt ?? (executed ? createdAt : null)
  const attempted = executed ? `att_${id}` : null
  await connection.query(
    `insert into run (org_id, id, job_run_id, agent_id, executor_key, session_key, generation, schedule_id, nominal_at,
       trigger, lane, priority, created_at, deadline, retry_policy, payload, decision, state, attempt, attempt_id, node_id,
       started_at, finished_at, superseded, why, error_code, error_message, output, usage)
     values ($1, $2, $2, $3, 'echo', $4, $5, $6, $7, $8, 'main', $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
       $21, $22, $23, $24, $25, $26)`,
    [
      ...[org, id, seed.agent ?? 'writer', seed.session ?? null, seed.generation ?? 0, seed.schedule ?? null],
      ...[at(seed.nominal), seed.trigger ?? 'message', seed.priority ?? 0, toTimestamp(createdAt), at(seed.deadline)],
      ...[JSON.stringify(DEFAULT_RETRY_POLICY), JSON.stringify(seed.payload ?? null)],
      JSON.stringify(seed.decision ?? because('accepted', 'admission')),
      ...(pending
        ? [null, null, null, null, null, null, null, null]
        : [
            ...[state, attempt, attempted, attempted === null ? null : 'nod_1', at(startedAt)],
            ...[at(seed.finishedAt ?? createdAt), false],
            JSON.stringify(seed.why ?? because('completed', 'executor')),
          ]),
      ...[seed.errorCode ?? null, seed.errorMessage ?? null],
      ...[JSON.stringify(seed.output ?? null), JSON.stringify(seed.usage ?? null)],
    ],
  )
  if (!pending) return
  await connection.query(
    `insert into pending (org_id, id, state, attempt, seq, not_before, attempt_id, node_id, started_at, why)
     values ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9)`,
    [
      ...[org, id, state, attempt, at(seed.notBefore), attempted, attempted === null ? null : 'nod_1', at(startedAt)],
      seed.why === undefined || seed.why === null ? null : JSON.stringify(seed.why),
    ],
  )
}

export const run = runId
