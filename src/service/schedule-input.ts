import type { BudgetTerms } from '../contract/budget.ts'
import { addAll } from '../core/long-lists.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import { parseInlineExecutor } from '../core/executor/parse-executor.ts'
import { laneName, sessionKey, type SessionKey } from '../core/ids.ts'
import { flawed, parsed, parseInteger, parseWord, type Parsed } from '../core/input.ts'
import type { Instant } from '../core/instant.ts'
import { defaultMaxRetries } from '../core/run/retry.ts'
import { DEFAULT_RETRY_POLICY } from '../core/run/retry-policy.ts'
import { MAX_TIMEOUT_SECONDS } from '../core/run/timeouts.ts'
import {
  parseScheduleRules,
  SCHEDULE_RULE_FIELDS,
  type ReadScheduleRules,
} from '../core/schedule/parse-schedule-rules.ts'
import { deletesAfterRun, ENABLED_WORDS } from '../core/schedule/schedule-life.ts'
import { parseJitter } from '../core/time/jitter.ts'
import { sentenceFor } from '../core/time/sentence.ts'
import { findField } from '../core/time/timing-fields.ts'
import type { Timing } from '../core/time/timing.ts'
import type { Zone } from '../core/time/zone.ts'
import type { AgentExecutor, AgentRow } from '../store/agents.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import {
  collectFlaws,
  parseFlag,
  parseJson,
  parseObject,
  parseSessionKey,
  textField,
  unknownFields,
  type Collector,
  type Given,
} from '../core/input-fields.ts'
import { readProbe } from './probe/judge.ts'
import { parseDelivery } from './schedule-delivery.ts'
import { parseTerms, termsIn } from './schedule-budget.ts'
import { parseNewTiming, parseTimingChange, TIMING_FIELDS, type ReadTiming } from './schedule-timing.ts'

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

/** Fields that are kept as they were given and read again with every change. */
const PLAIN_FIELDS = [
  ...['session', 'lane', 'timeout_seconds', 'jitter_ms', 'delete_after_run', 'delivery', 'budget', 'probe'],
] as const
const RULE_FIELDS: readonly string[] = [...SCHEDULE_RULE_FIELDS, ...PLAIN_FIELDS]

/** Every name that a schedule may be given by, synonyms included. */
export const SCHEDULE_FIELDS: readonly string[] = [
  ...['name', 'description', 'agent_id', 'executor', 'payload', 'enabled', 'status'],
  ...TIMING_FIELDS,
  ...RULE_FIELDS,
]

const isInline = ({ id }: WokenAgent): boolean => inlineKindOf(id) !== null

/**
 * The executor that a schedule brings with it, of its own input or of what it has been so far; null: it wakes an agent.
 * An agent that is named, and an executor of null, end it.
 */
export function executorIn(value: unknown, existing: ScheduleRow | null): Parsed<AgentExecutor | null> {
  const object = parseObject('schedule', value)
  if (!object.ok) return object
  const { executor: given, agent_id: named } = object.value
  if (given === undefined) {
    const before = existing?.input['executor']
    return parsed(isGiven(named) || before === undefined ? null : (before as AgentExecutor))
  }
  if (given === null) return parsed(null)
  if (isGiven(named))
    return flawed({ field: 'executor', value: given, message: 'cannot be given together with agent_id' })
  return parseInlineExecutor('executor', given, { executor: existing?.input['executor'], reach: 'address' })
}

/** The agent that an input names, or null when it names none. */
export function agentNamedIn(value: unknown): Parsed<string | null> {
  const object = parseObject('schedule', value)
  if (!object.ok) return object
  const named = object.value['agent_id']
  return named === undefined || named === null ? parsed(null) : textField({ min: 1, max: 200 })('agent_id', named)
}

/**
 * Reads a new schedule, or a change of one: what a change leaves out stays, and null brings back the default. Says
 * everything that is wrong, not only the first thing.
 */
export function parseSchedule(value: unknown, context: ScheduleContext): Parsed<ReadSchedule> {
  const object = parseObject('schedule', value)
  if (!object.ok) return object
  const collector = collectFlaws()
  addAll(collector.flaws, unknownFields('', object.value, SCHEDULE_FIELDS))
  const read = readSchedule(object.value, context, collector)
  return read === null || collector.flaws.length > 0 ? flawed(collector.flaws) : parsed(read)
}

function readSchedule(given: Given, context: ScheduleContext, collector: Collector): ReadSchedule | null {
  const { existing, agent } = context
  const { keep } = collector
  const timing = keep(readTiming(given, context))
  const plain = mergePlain(given, existing)
  const rules = keep(readRules(plain, agent))
  const own = readOwn(plain, context, keep)
  const jitterMs = timing === null ? null : keep(readJitter(plain, timing.timing))
  const texts = readTexts(given, existing, keep)
  if (plain['delivery'] !== undefined) keep(parseDelivery('delivery', plain['delivery']))
  const budget = plain['budget'] === undefined ? null : keep(readBudget(plain['budget'], context))
  const probe = plain['probe'] === undefined ? null : keep(readProbe('probe', plain['probe'], existing?.input['probe']))
  const payload = Object.hasOwn(given, 'payload') ? keep(readPayload(given['payload'])) : (existing?.payload ?? null)
  const enabled = readEnabled(given, collector)
  if (timing === null || rules === null || jitterMs === null) return null
  return {
    agentId: agent.id,
    name: texts.name ?? sentenceFor(timing.timing),
    description: texts.description ?? '',
    input: {
      ...timing.input,
      ...plain,
      ...(budget === null ? {} : { budget }),
      ...(probe === null ? {} : { probe }),
      ...(isInline(agent) ? { executor: agent.executor } : {}),
    },
    timing: timing.timing,
    timingChanged: timing.changed,
    rules: { ...rules.rules, jitterMs },
    retryPolicy: rules.retryPolicy,
    timeoutSeconds: own.timeoutSeconds,
    lane: own.lane === null ? null : laneName(own.lane),
    sessionKey: own.sessionKey,
    payload,
    deleteAfterRun: deletesAfterRun(timing.timing, own.deleteAfterRun),
    enabled,
  }
}

/** Whether it is to be on, under either name; null: nobody said. */
function readEnabled(given: Given, { flaws, keep }: Collector): boolean | null {
  const field = findField(given, ['enabled', 'status'], flaws)
  if (field === null) return null
  if (field.name === 'enabled') return keep(parseFlag('enabled', field.value))
  const word = keep(parseWord('status', field.value, ENABLED_WORDS))
  return word === null ? null : word === 'ENABLED'
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const readTiming = (given: Given, { existing, now, defaultZone }: ScheduleContext): Parsed<ReadTiming> =>
  existing === null
    ? parseNewTiming(given, { now, defaultZone })
    : parseTimingChange(given, existing, { now, defaultZone })

/** The other fields as they stand after the change. */
function mergePlain(given: Given, existing: ScheduleRow | null): Given {
  const before: Given = existing?.input ?? {}
  const found: Record<string, unknown> = {}
  for (const name of RULE_FIELDS) {
    const value = given[name] === undefined ? before[name] : given[name]
    if (isGiven(value)) found[name] = value
  }
  return found
}

function readRules(plain: Given, agent: WokenAgent): Parsed<ReadScheduleRules> {
  const maxRetries = defaultMaxRetries({
    trigger: 'schedule',
    executorKind: agent.executor.kind,
    inlineExecutor: isInline(agent),
  })
  const rules = Object.fromEntries(Object.entries(plain).filter(([name]) => SCHEDULE_RULE_FIELDS.includes(name)))
  return parseScheduleRules(rules, { ...DEFAULT_RETRY_POLICY, maxRetries })
}

const readBudget = (given: unknown, { existing, defaultZone }: ScheduleContext): Parsed<BudgetTerms> =>
  parseTerms('budget', given, {
    ...{ before: existing === null ? undefined : termsIn(existing)?.timezone, usual: defaultZone },
  })

const readJitter = (plain: Given, timing: Timing): Parsed<number> =>
  plain['jitter_ms'] === undefined ? parsed(0) : parseJitter('jitter_ms', plain['jitter_ms'], timing)

interface Own {
  readonly sessionKey: SessionKey | null
  readonly lane: string | null
  readonly timeoutSeconds: number | null
  readonly deleteAfterRun: boolean | null
}

function readOwn(plain: Given, context: ScheduleContext, keep: Collector['keep']): Own {
  const optional = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    plain[name] === undefined ? null : keep(parse(name, plain[name]))
  const session = optional('session', parseSessionKey)
  return {
    sessionKey: session === null ? null : sessionFor(session, context.agent),
    lane: optional('lane', textField({ min: 1, max: 100 })),
    timeoutSeconds: optional('timeout_seconds', parseTimeout),
    deleteAfterRun: optional('delete_after_run', parseFlag),
  }
}

/** `isolated` gives every run a session of its own, `main` is the agent's; everything else is a key. */
function sessionFor(word: string, agent: WokenAgent): SessionKey | null {
  if (word === 'isolated') return null
  return word === 'main' ? mainSessionOf(agent) : sessionKey(word)
}

/** The session that `main` means. */
const mainSessionOf = (agent: Pick<AgentRow, 'id' | 'defaultSession'>): SessionKey =>
  agent.defaultSession ?? sessionKey(`agent:${agent.id}:main`)

/** Reads a time limit. What is not above 0 means the default of the executor. */
export function parseTimeout(field: string, value: unknown): Parsed<number | null> {
  const whole = parseInteger(field, value, { min: -MAX_TIMEOUT_SECONDS, max: MAX_TIMEOUT_SECONDS })
  return whole.ok && whole.value <= 0 ? parsed(null) : whole
}

function readTexts(
  given: Given,
  existing: ScheduleRow | null,
  keep: Collector['keep'],
): { readonly name: string | null; readonly description: string | null } {
  const text = (name: string, bounds: { readonly min: number; readonly max: number }): string | null =>
    isGiven(given[name]) ? keep(textField(bounds)(name, given[name])) : null
  const name = text('name', { min: 1, max: 200 })
  const description = text('description', { min: 0, max: 10_000 })
  return {
    name: name ?? (given['name'] === undefined ? (existing?.name ?? null) : null),
    description: description ?? (given['description'] === undefined ? (existing?.description ?? null) : null),
  }
}

/** A text is a prompt. */
const readPayload = (value: unknown): Parsed<unknown> =>
  typeof value === 'string' ? parseJson('payload', { prompt: value }) : parseJson('payload', value)
