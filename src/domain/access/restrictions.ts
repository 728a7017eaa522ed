import type { BudgetPeriod } from '../budget/budget-period.ts'
import { type BudgetUnit, toMicros } from '../budget/budget.ts'
import type { AgentId, AttemptId, RunId, ScheduleId, SessionKey } from '../ids.ts'
import { type Flaw, flawed, parsed, type Parsed } from '../input.ts'
import { MASK } from '../secret/mask.ts'

/** The prefix of attempt keys. */
const ATTEMPT_KEY_PREFIX = 'esa_'

const ATTEMPT_KEY = /^esa_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/
const ATTEMPT_KEY_ANYWHERE = /esa_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}/g

/** Whether a text has the form of an attempt key. */
export const isAttemptKey = (text: string): boolean => ATTEMPT_KEY.test(text)

/** Splits an attempt key into its claims and the signature over them; null when it is not an attempt key. */
export function readAttemptKey(text: string): { readonly said: string; readonly proof: string } | null {
  const [, claims, proof] = ATTEMPT_KEY.exec(text) ?? []
  return claims === undefined || proof === undefined ? null : { said: claims, proof }
}

/** Masks attempt keys in the output of agents that were given one. A value without one is returned unchanged. */
export function hideAttemptKeys<Value>(value: Value): Value {
  return hideAttemptKeysIn(value) as Value
}

function hideAttemptKeysIn(value: unknown): unknown {
  if (typeof value === 'string')
    return value.includes(ATTEMPT_KEY_PREFIX) ? value.replaceAll(ATTEMPT_KEY_ANYWHERE, MASK) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const hidden = value.map(hideAttemptKeysIn)
    return hidden.every((one, index) => one === value[index]) ? value : hidden
  }
  const entries = Object.entries(value)
  const hidden = entries.map(([name, inner]) => [hideAttemptKeysIn(name) as string, hideAttemptKeysIn(inner)] as const)
  const isSame = hidden.every(([name, inner], index) => {
    const [was, held] = entries[index] ?? []
    return name === was && inner === held
  })
  return isSame ? value : Object.fromEntries(hidden)
}

/** The budget shared by everything that an owner creates. */
interface RestrictionBudget {
  readonly unit: BudgetUnit
  /** Tokens, or money with up to six decimals. */
  readonly amount: number
  readonly period: BudgetPeriod
}

/**
 * The restrictions of a key, which apply in addition to its role. They belong to the key and hold for the API, MCP
 * and the CLI alike.
 */
export interface Restrictions {
  /** Whether the key can read and change only what it created itself. */
  readonly ownSchedulesOnly: boolean
  /** The maximum number of schedules at a time. */
  readonly maxSchedules: number
  /** The minimum time between two occurrences of a schedule and between two requested runs of it. */
  readonly minIntervalSeconds: number
  /** The maximum per hour of requested runs, tasks, messages and created or rescheduled schedules together. */
  readonly maxRunsPerHour: number
  /** How long created objects may live; null: without limit. */
  readonly maxLifetimeSeconds: number | null
  readonly budget: RestrictionBudget | null
  /** Whether created schedules need approval before they run. */
  readonly approval: boolean
}

/** The restrictions of a key that sets none explicitly. */
export const DEFAULT_RESTRICTIONS: Restrictions = {
  ownSchedulesOnly: true,
  maxSchedules: 10,
  minIntervalSeconds: 60,
  maxRunsPerHour: 60,
  maxLifetimeSeconds: null,
  budget: null,
  approval: false,
}

const YEAR_SECONDS = 366 * 86_400

/** The allowed ranges of the numeric restrictions. */
export const RESTRICTION_BOUNDS = {
  maxSchedules: { min: 0, max: 10_000 },
  minIntervalSeconds: { min: 1, max: YEAR_SECONDS },
  maxRunsPerHour: { min: 0, max: 100_000 },
  maxLifetimeSeconds: { min: 60, max: 10 * YEAR_SECONDS },
} as const

export const MAX_RESTRICTION_AMOUNT = 1_000_000_000

/** Reads the amount of a restriction's budget. */
export function parseRestrictionAmount(field: string, value: unknown): Parsed<number> {
  const allowed = `a number above 0, up to ${MAX_RESTRICTION_AMOUNT}`
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= MAX_RESTRICTION_AMOUNT
    ? parsed(value)
    : flawed({ field, value, message: 'is not a valid amount', allowed })
}

/** Flaws of the unit and the amount in combination; each may also be invalid by itself. */
export function restrictionBudgetFlaws({
  unit,
  amount,
}: Partial<Pick<RestrictionBudget, 'unit' | 'amount'>>): readonly Flaw[] {
  if (!parseRestrictionAmount('', amount).ok || amount === undefined || unit === undefined) return []
  const isExact = unit === 'tokens' ? Number.isInteger(amount) : toMicros(amount) > 0
  if (isExact) return []
  const allowed = unit === 'tokens' ? 'a whole number of tokens' : 'at least a millionth'
  return [{ field: 'amount', value: amount, message: 'is not a valid amount', allowed }]
}

/** The API access that an attempt of an agent with `self_service` receives for as long as it runs. */
export interface AttemptApiAccess {
  /** The address of the API; null when this process does not listen. */
  readonly api_url: string | null
  readonly mcp_url: string | null
  /** Valid while the attempt is in flight and the current one of its run. */
  readonly key: string
  /** The time limit of the attempt. */
  readonly expires_at: string | null
}

/** The names of the restrictions in refusals. */
type RestrictionName =
  | 'operation'
  | 'own_schedules_only'
  | 'max_schedules'
  | 'min_interval_seconds'
  | 'max_runs_per_hour'
  | 'max_lifetime_seconds'
  | 'approval'
  | 'executor'
  | 'session'
  | 'lineage'

/** A request that a restriction does not allow, and what the caller can do instead. */
export interface RestrictionBreach {
  readonly code: 'GUARD_RAIL' | 'GUARD_RAIL_RATE' | 'LINEAGE_DEPTH' | 'LINEAGE_LOOP'
  readonly restriction: RestrictionName
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
  /** How long to wait before trying again; null when waiting does not help. */
  readonly retryAfterMs: number | null
}

/** A refusal that waiting does not lift. */
export const breach = (
  restriction: RestrictionName,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): RestrictionBreach => ({
  code: 'GUARD_RAIL',
  restriction,
  message,
  facts,
  retryAfterMs: null,
})

/** A refusal that ends after a wait. */
export const rateBreach = (
  restriction: RestrictionName,
  message: string,
  wait: { readonly retryAfterMs: number; readonly facts?: Readonly<Record<string, unknown>> },
): RestrictionBreach => ({
  ...{ code: 'GUARD_RAIL_RATE', restriction, message, facts: wait.facts ?? {} },
  retryAfterMs: Math.max(1, wait.retryAfterMs),
})

/** The runs that led to an object: the run that created it, the run that started that run, and so on. */
export interface Lineage {
  /** The first run of the chain. */
  readonly root: RunId
  /** The number of runs above; 1 for what a run creates that no other run started. */
  readonly depth: number
  /** The schedules of the runs above. */
  readonly schedules: readonly ScheduleId[]
}

/** The attempt that an attempt key belongs to, with its run. */
export interface RestrictedAttempt {
  readonly id: AttemptId
  readonly runId: RunId
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  /** The lineage of the run; null when no other run started it. */
  readonly lineage: Lineage | null
}

/** A key that has restrictions. */
export interface RestrictedKey {
  readonly restrictions: Restrictions
  /**
   * The owner of everything that the key creates: the key or, for an attempt key, the agent, so that objects of
   * earlier runs remain its own.
   */
  readonly owner: string
  /** Null for an ordinary key. */
  readonly attempt: RestrictedAttempt | null
}

/** The owner of what an agent creates by itself. */
export const ownerOfAgent = (id: AgentId): string => `agent:${id}`

/** The owner that reads and lists are limited to; null when the whole org is visible. */
export const visibleOwner = (restricted: RestrictedKey | undefined): string | null =>
  restricted?.restrictions.ownSchedulesOnly === true ? restricted.owner : null

/** Whether a session belongs to the key: the session of the attempt, or one in the key's own namespace. */
export function isOwnSession({ owner, attempt }: RestrictedKey, key: SessionKey): boolean {
  if (attempt === null) return isBelow(key, /^agent:[^:]+:key:/, owner)
  return key === attempt.sessionKey || isBelow(key, /^agent:/, `${attempt.agentId}:self`)
}

/** The namespace of the key's own sessions, for error messages. */
export const ownSessionsOf = ({ owner, attempt }: RestrictedKey): string =>
  attempt === null ? `agent:<agent>:key:${owner}` : `agent:${attempt.agentId}:self`

function isBelow(key: SessionKey, start: RegExp, name: string): boolean {
  const [head] = start.exec(key) ?? []
  if (head === undefined) return false
  const rest = key.slice(head.length)
  return rest === name || rest.startsWith(`${name}:`)
}

/** The schedules that a run of the attempt descends from, including its own. */
export const schedulesAbove = ({ scheduleId, lineage }: RestrictedAttempt): readonly ScheduleId[] =>
  scheduleId === null ? (lineage?.schedules ?? []) : [...(lineage?.schedules ?? []), scheduleId]

/** The lineage of what an attempt creates. */
export const lineageBelow = (attempt: RestrictedAttempt): Lineage => ({
  root: attempt.lineage?.root ?? attempt.runId,
  depth: (attempt.lineage?.depth ?? 0) + 1,
  schedules: [...new Set(schedulesAbove(attempt))],
})
