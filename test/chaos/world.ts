import type { ScheduleInput } from '../../src/features/schedules/schema.ts'
import type { SessionPatch } from '../../src/features/sessions/schema.ts'
import type { Settings } from '../../src/library/escapement.ts'

// What lives in the database that is tormented: agents, sessions of every mode, schedules of every policy, and limits
// small enough to be reached.

/** Short, so that a stop can outlast it several times in a minute; the grace is longer, so that the lease lapses first. */
export const LEASE_MS = 4_000

export const TASKS_IN_FLIGHT = 16
export const TASKS_PER_AGENT = 5
export const LANES = { main: 12, cron: 8, task: 6 }
export const CATCHUPS = 1

/** All lanes of all nodes together have more slots, so it is reached; those of two have fewer, so the third can work. */
export const ORG_LIMIT = 56

/** So small that most of what waits is in the backlog. */
export const WINDOW = { line: 3, session: 2, org: 40 }

export const SETTINGS: Settings = {
  node: { lease_ms: LEASE_MS, renew_ms: 1_000, stop_grace_ms: LEASE_MS + 2_000 },
  lanes: LANES,
  sessions: { cap: 5_000, debounce_ms: 0 },
  tasks: {
    max_queue: 1_000,
    max_per_agent: 200,
    max_inflight: TASKS_IN_FLIGHT,
    max_per_agent_inflight: TASKS_PER_AGENT,
    // The audit wants to see every task.
    result_ttl_seconds: 86_400,
    default_deadline_seconds: 60,
  },
  schedules: { catchup_spacing_ms: 200, catchup_max_active: CATCHUPS },
  drain_grace_seconds: 5,
}

/** Quick retries: a minute is short. */
const RETRIES = { max_retries: 3, strategy: 'fixed', base_ms: 300 } as const

export const TASK_AGENTS = ['tabs1', 'tabs2', 'tabs3', 'tabs4', 'tabs5'] as const

/** Agents, with how many runs each may have in flight. Tasks bring their own retries, so these have none. */
export const AGENTS: readonly { readonly id: string; readonly max: number | null; readonly retry: object | null }[] = [
  { id: 'helper', max: null, retry: RETRIES },
  { id: 'writer', max: 4, retry: RETRIES },
  { id: 'clock', max: null, retry: RETRIES },
  ...TASK_AGENTS.map((id) => ({ id, max: null, retry: null })),
]

export type SessionKind = 'fifo' | 'group' | 'bulk' | 'drop_old' | 'drop_new' | 'interrupt' | 'debounce' | 'stopped'

interface SessionGroup {
  readonly kind: SessionKind
  readonly agent: string
  readonly count: number
  /** Its share of the messages. */
  readonly weight: number
  readonly rules: SessionPatch
  /** Milliseconds of work, from and to. */
  readonly work: readonly [number, number]
  /** Runs start in the order in which they were sent. */
  readonly ordered: boolean
}

const GROUPS: readonly SessionGroup[] = [
  { kind: 'fifo', agent: 'helper', count: 40, weight: 45, rules: {}, work: [2, 40], ordered: true },
  { kind: 'fifo', agent: 'writer', count: 10, weight: 10, rules: {}, work: [2, 40], ordered: true },
  {
    kind: 'group',
    agent: 'helper',
    count: 10,
    weight: 16,
    rules: { max_concurrent: 3 },
    work: [5, 60],
    ordered: false,
  },
  {
    kind: 'drop_old',
    agent: 'helper',
    count: 4,
    weight: 7,
    rules: { cap: 3, drop: 'old' },
    work: [20, 300],
    ordered: true,
  },
  {
    kind: 'drop_new',
    agent: 'helper',
    count: 4,
    weight: 7,
    rules: { cap: 3, drop: 'new' },
    work: [20, 300],
    ordered: true,
  },
  {
    kind: 'interrupt',
    agent: 'helper',
    count: 4,
    weight: 4,
    rules: { mode: 'interrupt' },
    work: [50, 500],
    ordered: true,
  },
  {
    kind: 'debounce',
    agent: 'helper',
    count: 6,
    weight: 7,
    rules: { debounce_ms: 250 },
    work: [5, 50],
    ordered: false,
  },
  // Long work that fills the lane of every node, so that others wait for its slots.
  {
    kind: 'bulk',
    agent: 'helper',
    count: 1,
    weight: 12,
    rules: { max_concurrent: 40, cap: 60, drop: 'new' },
    work: [500, 2_500],
    ordered: false,
  },
  { kind: 'stopped', agent: 'helper', count: 4, weight: 4, rules: {}, work: [20, 200], ordered: true },
]

export interface PlannedSession extends Omit<SessionGroup, 'count' | 'weight'> {
  readonly key: string
  readonly weight: number
}

export const SESSIONS: readonly PlannedSession[] = GROUPS.flatMap(({ count, weight, ...group }) =>
  Array.from({ length: count }, (_, index) => ({
    ...group,
    key: `agent:${group.agent}:chaos:${group.kind}:${index + 1}`,
    weight: weight / count,
  })),
)

export const SCHEDULE_INTERVAL_MS = 1_000

export interface PlannedSchedule {
  readonly name: string
  readonly rules: ScheduleInput
  /** Milliseconds of work, from and to. */
  readonly work: readonly [number, number]
  /** Share of attempts that fail. */
  readonly failing: number
  readonly limit: number | null
}

const QUICK = [5, 60] as const
const SLOW = [200, 1_800] as const

/** One every-second schedule for each policy that decides something. */
export const SCHEDULES: readonly PlannedSchedule[] = [
  { name: 'plain', rules: {}, work: QUICK, failing: 0, limit: 1 },
  { name: 'misfire-skip', rules: { misfire_policy: 'SKIP' }, work: QUICK, failing: 0, limit: 1 },
  {
    name: 'misfire-fire-now',
    rules: { misfire_policy: 'FIRE_NOW', concurrency_policy: 'PARALLEL' },
    work: QUICK,
    failing: 0,
    limit: null,
  },
  {
    name: 'misfire-limited',
    rules: { misfire_policy: 'CATCH_UP_LIMITED', catchup_limit: 2, max_concurrency: 2 },
    work: QUICK,
    failing: 0,
    limit: 2,
  },
  { name: 'overlap-skip', rules: { overlap_action: 'SKIP' }, work: SLOW, failing: 0, limit: 1 },
  { name: 'overlap-cancel', rules: { overlap_action: 'CANCEL_PREV' }, work: SLOW, failing: 0, limit: 1 },
  {
    name: 'overlap-parallel',
    rules: { overlap_action: 'PARALLEL', max_parallel: 3 },
    work: SLOW,
    failing: 0,
    limit: 3,
  },
  { name: 'overlap-buffer', rules: { overlap_action: 'BUFFER_ONE' }, work: SLOW, failing: 0, limit: 1 },
  {
    name: 'concurrency-skip',
    rules: { concurrency_policy: 'SKIP', max_concurrency: 2 },
    work: SLOW,
    failing: 0,
    limit: 2,
  },
  {
    name: 'concurrency-queue',
    rules: { concurrency_policy: 'QUEUE', max_concurrency: 2, queue_depth: 3 },
    work: SLOW,
    failing: 0,
    limit: 2,
  },
  { name: 'failure-retry', rules: { failure_action: 'RETRY' }, work: QUICK, failing: 0.3, limit: 1 },
  {
    name: 'failure-skip',
    rules: { failure_action: 'SKIP', retry_policy: { max_retries: 0 } },
    work: QUICK,
    failing: 0.3,
    limit: 1,
  },
  {
    name: 'failure-backoff',
    rules: {
      failure_action: 'BACKOFF',
      failure_options: { ladder_seconds: [1, 2, 4] },
      retry_policy: { max_retries: 0 },
    },
    work: QUICK,
    failing: 0.3,
    limit: 1,
  },
  {
    name: 'failure-half-open',
    rules: {
      failure_action: 'HALF_OPEN',
      failure_options: { threshold: 2, cooldown_seconds: 3 },
      retry_policy: { max_retries: 0 },
    },
    work: QUICK,
    failing: 0.5,
    limit: 1,
  },
  { name: 'named-session', rules: { session: 'agent:clock:chaos:named:1' }, work: QUICK, failing: 0, limit: 1 },
]
