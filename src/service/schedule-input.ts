import type { BudgetTerms, ScheduleBudgetInput } from '../features/budgets/schema.ts'
import { readShape } from '../contract/read-shape.ts'
import { scheduleFields } from '../contract/schedule-fields.ts'
import { schedulePatch, type ScheduleInput } from '../contract/schedule.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import { parseInlineExecutor } from '../executors/parse-executor.ts'
import { laneName, sessionKey, type SessionKey } from '../domain/ids.ts'
import { flawed, parsed, parseInteger, type Parsed } from '../domain/input.ts'
import type { Instant } from '../domain/instant.ts'
import { defaultMaxRetries } from '../domain/run/retry.ts'
import { DEFAULT_RETRY_POLICY } from '../domain/run/retry-policy.ts'
import { MAX_TIMEOUT_SECONDS } from '../domain/run/timeouts.ts'
import { policiesFrom, type Policies } from '../domain/schedule/rule-fields.ts'
import { deletesAfterRun } from '../domain/schedule/lifecycle.ts'
import { parseJitter } from '../domain/time/jitter.ts'
import { sentenceFor } from '../core/time/sentence.ts'
import { isGiven, TIMING_FIELDS } from '../domain/time/timing-fields.ts'
import type { Zone } from '../core/time/zone.ts'
import type { AgentExecutor, AgentRow } from '../features/agents/store.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { collectFlaws } from '../domain/input-fields.ts'
import { readProbe } from './probe/judge.ts'
import { givenTerms, termsIn } from './schedule-budget.ts'
import { parseNewTiming, parseTimingChange, type ReadTiming } from './schedule-timing.ts'

/** The agent a schedule wakes, as far as reading the schedule depends on it. */
export type WokenAgent = Pick<AgentRow, 'id' | 'executor' | 'defaultSession'>

export interface ScheduleContext {
  readonly now: Instant
  /** The zone of the org, for schedules that name none. */
  readonly defaultZone: Zone
  readonly agent: WokenAgent
  /** The schedule that is changed; null for a new one. */
  readonly existing: ScheduleRow | null
}

/** What a person decides about a schedule. */
export interface ReadSchedule extends Pick<
  ScheduleRow,
  | 'agentId'
  | 'name'
  | 'description'
  | 'input'
  | 'timing'
  | 'rules'
  | 'retryPolicy'
  | 'timeoutSeconds'
  | 'lane'
  | 'sessionKey'
  | 'payload'
  | 'deleteAfterRun'
> {
  readonly timingChanged: boolean
  /** Null: nobody said. */
  readonly enabled: boolean | null
}

/** Fields with a place of their own in a schedule. All others are kept as they were given, and read again with every change. */
const OWN_FIELDS: readonly string[] = [
  ...['name', 'description', 'agent_id', 'executor', 'payload', 'enabled', 'status'],
  ...TIMING_FIELDS,
]
const KEPT_FIELDS = (Object.keys(scheduleFields) as readonly (keyof ScheduleInput)[]).filter(
  (name) => !OWN_FIELDS.includes(name),
)

const isInline = ({ id }: WokenAgent): boolean => inlineKindOf(id) !== null

/**
 * The executor that a schedule brings with it, of its own input or of what it has been so far; null: it wakes an agent.
 * An agent that is named, and an executor of null, end it.
 */
export function executorIn(
  { executor: given, agent_id: named }: ScheduleInput,
  existing: ScheduleRow | null,
): Parsed<AgentExecutor | null> {
  if (given === null) return parsed(null)
  const before = existing?.input['executor']
  if (given === undefined) return parsed(isGiven(named) ? null : ((before as AgentExecutor | undefined) ?? null))
  return parseInlineExecutor('executor', given, { executor: before, reach: 'address' })
}

/**
 * Makes a schedule of what was read, or changes one: what a change leaves out stays, and null brings back the default.
 * Says everything that is wrong with it as a whole, not only the first thing.
 */
export function parseSchedule(given: ScheduleInput, context: ScheduleContext): Parsed<ReadSchedule> {
  const { existing, agent } = context
  const { flaws, keep } = collectFlaws()
  const before = existing === null ? {} : inOurWords(existing.input)
  const timing = keep(readTiming(given, before, context))
  const kept = keptFields(given, before)
  const policies = keep(readPolicies(kept, agent))
  if (timing !== null) keep(parseJitter('jitter_ms', kept.jitter_ms ?? 0, timing.timing))
  const budget = kept.budget ? readBudget(kept.budget, context) : null
  const probe = isGiven(kept.probe) ? keep(readProbe('probe', kept.probe, before.probe)) : null
  if (timing === null || policies === null || flaws.length > 0) return flawed(flaws)
  const { name, description, payload, enabled, status } = given
  return parsed({
    agentId: agent.id,
    name: (name === undefined ? existing?.name : name) ?? sentenceFor(timing.timing),
    description: (description === undefined ? existing?.description : description) ?? '',
    input: {
      ...timing.input,
      ...kept,
      ...(budget === null ? {} : { budget }),
      ...(probe === null ? {} : { probe }),
      ...(isInline(agent) ? { executor: agent.executor } : {}),
    },
    timing: timing.timing,
    timingChanged: timing.changed,
    rules: policies.rules,
    retryPolicy: policies.retryPolicy,
    timeoutSeconds: isGiven(kept.timeout_seconds) ? timeLimit(Number(kept.timeout_seconds)) : null,
    lane: typeof kept.lane === 'string' ? laneName(kept.lane) : null,
    sessionKey: sessionFor(kept.session ?? 'isolated', agent),
    // A text is a prompt.
    payload:
      payload === undefined ? (existing?.payload ?? null) : typeof payload === 'string' ? { prompt: payload } : payload,
    deleteAfterRun: deletesAfterRun(timing.timing, kept.delete_after_run ?? null),
    enabled: enabled ?? (isGiven(status) ? status === 'ENABLED' : null),
  })
}

/** What was stored before words had one spelling is read once more. */
function inOurWords(stored: ScheduleRow['input']): ScheduleInput {
  const read = readShape(schedulePatch, stored)
  return read.ok ? read.value : stored
}

const readTiming = (
  given: ScheduleInput,
  before: ScheduleInput,
  { existing, now, defaultZone }: ScheduleContext,
): Parsed<ReadTiming> =>
  existing === null
    ? parseNewTiming(given, { now, defaultZone })
    : parseTimingChange(given, { input: before, timing: existing.timing }, { now, defaultZone })

/** The other fields as they stand after the change. */
function keptFields(given: ScheduleInput, before: ScheduleInput): ScheduleInput {
  const found = KEPT_FIELDS.map((name) => [name, given[name] === undefined ? before[name] : given[name]] as const)
  return Object.fromEntries(found.filter(([, value]) => isGiven(value)))
}

function readPolicies(kept: ScheduleInput, agent: WokenAgent): Parsed<Policies> {
  const maxRetries = defaultMaxRetries({
    trigger: 'schedule',
    executorKind: agent.executor.kind,
    inlineExecutor: isInline(agent),
  })
  return policiesFrom(kept, { ...DEFAULT_RETRY_POLICY, maxRetries })
}

const readBudget = (given: ScheduleBudgetInput, { existing, defaultZone }: ScheduleContext): BudgetTerms =>
  givenTerms(given, { before: existing === null ? undefined : termsIn(existing)?.timezone, usual: defaultZone })

/** `isolated` gives every run a session of its own, `main` is the agent's; everything else is a key. */
function sessionFor(word: string, agent: WokenAgent): SessionKey | null {
  if (word === 'isolated') return null
  return word === 'main' ? mainSessionOf(agent) : sessionKey(word)
}

/** The session that `main` means. */
const mainSessionOf = (agent: Pick<AgentRow, 'id' | 'defaultSession'>): SessionKey =>
  agent.defaultSession ?? sessionKey(`agent:${agent.id}:main`)

/** What is not above 0 means the default of the executor. */
const timeLimit = (seconds: number): number | null => (seconds > 0 ? seconds : null)

/** Reads a time limit. */
export function parseTimeout(field: string, value: unknown): Parsed<number | null> {
  const whole = parseInteger(field, value, { min: -MAX_TIMEOUT_SECONDS, max: MAX_TIMEOUT_SECONDS })
  return whole.ok ? parsed(timeLimit(whole.value)) : whole
}
