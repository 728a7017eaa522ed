import type { Limits } from './records.ts'
import {
  AGENTS,
  CATCHUPS,
  LANES,
  ORG_LIMIT,
  SCHEDULE_INTERVAL_MS,
  SCHEDULES,
  SESSIONS,
  TASK_AGENTS,
  TASKS_IN_FLIGHT,
  TASKS_PER_AGENT,
  type PlannedSchedule,
  type PlannedSession,
} from './world.ts'

// Two hundred orgs of very different sizes: one with half of the load and with everything there is, and many that follow
// Zipf's law, of which the last ones send a message every few minutes.

export interface PlannedOrg {
  readonly id: string
  /** Its share of all submissions. */
  readonly share: number
  readonly agents: readonly string[]
  readonly taskAgents: readonly string[]
  readonly sessions: readonly PlannedSession[]
  readonly schedules: readonly (PlannedSchedule & { readonly intervalMs: number })[]
}

/** The large one. */
export const LARGE_ORG = 'default'

const SMALL_ORGS = 199
/** Of the first of the small ones; others have as much less as they send less, and at least two. */
const SESSIONS_OF_FIRST = 30
/** Every so many of the small ones has a schedule. */
const SMALL_WITH_SCHEDULE = 5
const SMALL_INTERVAL_MS = 5_000

const HARMONIC = Array.from({ length: SMALL_ORGS }, (_, index) => 1 / (index + 1)).reduce((a, b) => a + b)

const smallOrg = (rank: number): PlannedOrg => ({
  id: `org-${rank}`,
  share: 0.5 / rank / HARMONIC,
  agents: ['helper', 'clock', TASK_AGENTS[0]],
  taskAgents: [TASK_AGENTS[0]],
  sessions: Array.from({ length: Math.max(2, Math.ceil(SESSIONS_OF_FIRST / rank)) }, (_, index) => ({
    ...{ kind: 'fifo', agent: 'helper', key: `agent:helper:org-${rank}:fifo:${index + 1}`, weight: 1 },
    ...{ rules: {}, work: [2, 40], ordered: true },
  })),
  schedules: SCHEDULES.filter(({ name }) => name === 'plain' && rank % SMALL_WITH_SCHEDULE === 0).map((schedule) => ({
    ...schedule,
    intervalMs: SMALL_INTERVAL_MS,
  })),
})

export const ORGS: readonly PlannedOrg[] = [
  {
    ...{ id: LARGE_ORG, share: 0.5, agents: AGENTS.map(({ id }) => id), taskAgents: TASK_AGENTS, sessions: SESSIONS },
    schedules: SCHEDULES.map((schedule) => ({ ...schedule, intervalMs: SCHEDULE_INTERVAL_MS })),
  },
  ...Array.from({ length: SMALL_ORGS }, (_, index) => smallOrg(index + 1)),
]

const ALL_SESSIONS = ORGS.flatMap(({ sessions }) => sessions)

/** Every limit of this world, for the audit. */
export const LIMITS: Limits = {
  sessions: new Map([
    ...ALL_SESSIONS.map(({ key, rules }) => [key, rules.max_concurrent ?? 1] as const),
    ['agent:clock:chaos:named:1', 1] as const,
  ]),
  agents: new Map(AGENTS.flatMap(({ id, max }) => (max === null ? [] : [[`${LARGE_ORG} ${id}`, max] as const]))),
  orgs: new Map([[LARGE_ORG, ORG_LIMIT]]),
  tasks: TASKS_IN_FLIGHT,
  tasksPerAgent: TASKS_PER_AGENT,
  lanes: new Map(Object.entries(LANES)),
  catchups: CATCHUPS,
}

export const ORDERED_SESSIONS: ReadonlySet<string> = new Set(
  ALL_SESSIONS.filter(({ ordered }) => ordered).map(({ key }) => key),
)
