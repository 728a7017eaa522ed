import { readShape } from '../../api/read-input.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { laneName, sessionKey, type SessionKey } from '../../domain/ids.ts'
import { collectFlaws, type InputObject } from '../../domain/input-fields.ts'
import { flawed, type Parsed, parsed } from '../../domain/input.ts'
import { formatInstant, instant, type Instant } from '../../domain/instant.ts'
import { DEFAULT_RETRY_POLICY } from '../../domain/run/retry-policy.ts'
import { defaultMaxRetries } from '../../domain/run/retry.ts'
import { deletesAfterRun } from '../../domain/schedule/lifecycle.ts'
import { type Policies, policiesFrom } from '../../domain/schedule/rule-fields.ts'
import { parseJitter } from '../../domain/time/jitter.ts'
import { parseTiming, storeTiming } from '../../domain/time/parse-timing.ts'
import { sentenceFor } from '../../domain/time/sentence.ts'
import {
  findField,
  isGiven,
  LIMIT_NAMES,
  PLAN_NAMES,
  PLAN_FIELDS,
  TIMING_FIELDS,
  ZONE_NAMES,
} from '../../domain/time/timing-fields.ts'
import type { Timing } from '../../domain/time/timing.ts'
import type { Zone } from '../../domain/time/zone.ts'
import { parseInlineExecutor } from '../../executors/parse-executor.ts'
import type { AgentExecutor, AgentRow } from '../agents/store.ts'
import type { BudgetTerms, ScheduleBudgetInput } from '../budgets/schema.ts'
import { readProbe } from '../probes/decide.ts'
import { parseBudgetTerms, ownBudgetTerms } from './budget.ts'
import { scheduleFields, type ScheduleInput, schedulePatch } from './schema.ts'
import type { ScheduleRow } from './store.ts'

const TIME_FIELDS = ['at', 'run_at', 'anchor', 'starts_at', 'ends_at']

/** The stored timing of a schedule, and the fields it was parsed from. */
interface TimedSchedule {
  readonly input: InputObject
  readonly timing: Timing
}

interface ParsedTiming {
  readonly timing: Timing
  /** The given fields, without synonyms. */
  readonly input: InputObject
  /** Whether the occurrences differ from before. */
  readonly changed: boolean
}

/** Parses the timing of a new schedule. */
export function parseNewTiming(
  given: InputObject,
  context: { readonly now: Instant; readonly defaultZone: Zone },
): Parsed<ParsedTiming> {
  const fields = timingFields(given)
  const read = parseTiming(fields, context)
  return read.ok
    ? { ok: true, value: { timing: read.value, input: storedTimingInput(fields, read.value), changed: true } }
    : read
}

/** The earliest instant: compared with it, no time is in the past. */
const EARLIEST_INSTANT = instant(-8.64e15)

/**
 * Parses a change of timing. Omitted fields keep their values. An equal timing counts as unchanged and is not validated
 * again, so that a past `at` can be sent back as it was.
 */
function parseTimingChange(
  given: InputObject,
  existing: TimedSchedule,
  { now, defaultZone: orgZone }: { readonly now: Instant; readonly defaultZone: Zone },
): Parsed<ParsedTiming> {
  const change = timingFields(given)
  const unchanged: ParsedTiming = { timing: existing.timing, input: timingFields(existing.input), changed: false }
  if (Object.keys(change).length === 0) return { ok: true, value: unchanged }
  const merged = mergeTiming(change, existing)
  // The zone was fixed at creation and the org's default may have changed since, so only null selects the default.
  const isReset = ZONE_NAMES.some((name) => change[name] === null) && !ZONE_NAMES.some((name) => isGiven(change[name]))
  const defaultZone = isReset ? orgZone : existing.timing.zone
  const parsedIgnoringNow = parseTiming(merged.fields, { now: EARLIEST_INSTANT, defaultZone })
  if (parsedIgnoringNow.ok && sameTiming(parsedIgnoringNow.value, existing.timing))
    return { ok: true, value: unchanged }
  const read = parseTiming(merged.fields, { now, defaultZone })
  if (!read.ok) return read
  const input = storedTimingInput(merged.givenAnchor ? merged.fields : { ...merged.fields, anchor: null }, read.value)
  return { ok: true, value: { timing: read.value, input, changed: !sameTiming(read.value, existing.timing) } }
}

const sameTiming = (a: Timing, b: Timing): boolean => jsonText(storeTiming(a)) === jsonText(storeTiming(b))

interface MergedTiming {
  readonly fields: InputObject
  readonly givenAnchor: boolean
}

function mergeTiming(change: InputObject, existing: TimedSchedule): MergedTiming {
  const before = timingFields(existing.input)
  const base: Record<string, unknown> = { ...before }
  const plan = findField(change, PLAN_NAMES)
  const staysOfKind = plan === null || PLAN_FIELDS[existing.timing.kind].includes(plan.name)
  if (plan !== null) for (const name of PLAN_NAMES) Reflect.deleteProperty(base, name)
  if (!staysOfKind) Reflect.deleteProperty(base, 'anchor')
  if (ZONE_NAMES.some((name) => Object.hasOwn(change, name))) Reflect.deleteProperty(base, 'timezone')
  const fields: Record<string, unknown> = { ...base, ...change }
  const givenAnchor = isGiven(fields['anchor'])
  // An unchanged interval or rule keeps its anchor when other timing fields change.
  const samePlan = plan === null || jsonText(before[plan.name] ?? null) === jsonText(plan.value)
  if (!givenAnchor && samePlan) fields['anchor'] = anchorOf(existing.timing)
  return { fields, givenAnchor }
}

function anchorOf(timing: Timing): string | null {
  if (timing.kind === 'every') return formatInstant(timing.anchor)
  return timing.kind === 'rrule' ? formatInstant(timing.rule.start) : null
}

const jsonText = (value: unknown): string => JSON.stringify(value)

/** The timing fields. Times given as milliseconds are converted to RFC 3339. */
function timingFields(given: InputObject): InputObject {
  const fields: Record<string, unknown> = {}
  for (const name of TIMING_FIELDS) {
    if (!Object.hasOwn(given, name) || given[name] === undefined) continue
    const value = given[name]
    fields[name] = TIME_FIELDS.includes(name) && typeof value === 'number' ? formatInstant(instant(value)) : value
  }
  return fields
}

/** The fields of a parsed timing that are stored: without synonyms and defaults. */
function storedTimingInput(fields: InputObject, timing: Timing): InputObject {
  const zone = ZONE_NAMES.map((name) => fields[name]).find(isGiven)
  const found: Record<string, unknown> = { ...planField(fields, timing) }
  if (isGiven(zone)) found['timezone'] = timing.zone.name
  if (isGiven(fields['anchor'])) found['anchor'] = fields['anchor']
  for (const name of LIMIT_NAMES) if (isGiven(fields[name])) found[name] = fields[name]
  return found
}

function planField(fields: InputObject, timing: Timing): InputObject {
  switch (timing.kind) {
    case 'at':
      return { at: formatInstant(timing.at) }
    case 'every':
      return everyField(timing.intervalMs)
    case 'cron':
      return { cron: PLAN_FIELDS.cron.map((name) => fields[name]).find(isGiven) }
    case 'rrule':
      return { rrule: fields['rrule'] }
  }
}

/** The field of an interval: in seconds, or in milliseconds when it is not whole seconds. */
export const everyField = (intervalMs: number): InputObject =>
  intervalMs % 1000 === 0 ? { every_seconds: intervalMs / 1000 } : { everyMs: intervalMs }

/** The fields of a schedule's agent that parsing a schedule depends on. */
export type ScheduleAgent = Pick<AgentRow, 'id' | 'executor' | 'defaultSession'>

interface ScheduleContext {
  readonly now: Instant
  /** The org's zone, for schedules without one. */
  readonly defaultZone: Zone
  readonly agent: ScheduleAgent
  /** The schedule to change; null for a new one. */
  readonly existing: ScheduleRow | null
}

/** The fields of a schedule that a user sets. */
export interface ParsedSchedule extends Pick<
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
  /** Null: not given. */
  readonly enabled: boolean | null
}

/** Fields stored in their own columns. All others are stored as given in `input`, and parsed again on every change. */
const COLUMN_FIELDS: readonly string[] = [
  ...['name', 'description', 'agent_id', 'executor', 'payload', 'enabled', 'status'],
  ...TIMING_FIELDS,
]
const INPUT_FIELDS = (Object.keys(scheduleFields) as readonly (keyof ScheduleInput)[]).filter(
  (name) => !COLUMN_FIELDS.includes(name),
)

const isInline = ({ id }: ScheduleAgent): boolean => inlineKindOf(id) !== null

/**
 * The schedule's own executor, from the input or from the existing schedule; null: it runs an agent. A given `agent_id`
 * or a null `executor` removes it.
 */
export function parseOwnExecutor(
  { executor: given, agent_id: agentId }: ScheduleInput,
  existing: ScheduleRow | null,
): Parsed<AgentExecutor | null> {
  if (given === null) return parsed(null)
  const before = existing?.input['executor']
  if (given === undefined) return parsed(isGiven(agentId) ? null : ((before as AgentExecutor | undefined) ?? null))
  return parseInlineExecutor('executor', given, { executor: before, reach: 'address' })
}

/**
 * Parses a new schedule or a change of one: omitted fields keep their values, and null restores the default. Reports
 * all flaws, not only the first.
 */
export function parseSchedule(given: ScheduleInput, context: ScheduleContext): Parsed<ParsedSchedule> {
  const { existing, agent } = context
  const { flaws, keep } = collectFlaws()
  const before = existing === null ? {} : normalizedInput(existing.input)
  const timing = keep(parseScheduleTiming(given, before, context))
  const mergedFields = mergedInputFields(given, before)
  const policies = keep(parsePolicies(mergedFields, agent))
  if (timing !== null) keep(parseJitter('jitter_ms', mergedFields.jitter_ms ?? 0, timing.timing))
  const budget = mergedFields.budget ? parseScheduleBudget(mergedFields.budget, context) : null
  const probe = isGiven(mergedFields.probe) ? keep(readProbe('probe', mergedFields.probe, before.probe)) : null
  if (timing === null || policies === null || flaws.length > 0) return flawed(flaws)
  const { name, description, payload, enabled, status } = given
  return parsed({
    agentId: agent.id,
    name: (name === undefined ? existing?.name : name) ?? sentenceFor(timing.timing),
    description: (description === undefined ? existing?.description : description) ?? '',
    input: {
      ...timing.input,
      ...mergedFields,
      ...(budget === null ? {} : { budget }),
      ...(probe === null ? {} : { probe }),
      ...(isInline(agent) ? { executor: agent.executor } : {}),
    },
    timing: timing.timing,
    timingChanged: timing.changed,
    rules: policies.rules,
    retryPolicy: policies.retryPolicy,
    timeoutSeconds: isGiven(mergedFields.timeout_seconds) ? timeoutOrNull(Number(mergedFields.timeout_seconds)) : null,
    lane: typeof mergedFields.lane === 'string' ? laneName(mergedFields.lane) : null,
    sessionKey: sessionKeyFor(mergedFields.session ?? 'isolated', agent),
    // A string is a prompt.
    payload:
      payload === undefined ? (existing?.payload ?? null) : typeof payload === 'string' ? { prompt: payload } : payload,
    deleteAfterRun: deletesAfterRun(timing.timing, mergedFields.delete_after_run ?? null),
    enabled: enabled ?? (isGiven(status) ? status === 'ENABLED' : null),
  })
}

/** Normalizes fields that were stored before enum values had one spelling. */
function normalizedInput(stored: ScheduleRow['input']): ScheduleInput {
  const read = readShape(schedulePatch, stored)
  return read.ok ? read.value : stored
}

const parseScheduleTiming = (
  given: ScheduleInput,
  before: ScheduleInput,
  { existing, now, defaultZone }: ScheduleContext,
): Parsed<ParsedTiming> =>
  existing === null
    ? parseNewTiming(given, { now, defaultZone })
    : parseTimingChange(given, { input: before, timing: existing.timing }, { now, defaultZone })

/** The other fields after the change. */
function mergedInputFields(given: ScheduleInput, before: ScheduleInput): ScheduleInput {
  const found = INPUT_FIELDS.map((name) => [name, given[name] === undefined ? before[name] : given[name]] as const)
  return Object.fromEntries(found.filter(([, value]) => isGiven(value)))
}

function parsePolicies(mergedFields: ScheduleInput, agent: ScheduleAgent): Parsed<Policies> {
  const maxRetries = defaultMaxRetries({
    trigger: 'schedule',
    executorKind: agent.executor.kind,
    inlineExecutor: isInline(agent),
  })
  return policiesFrom(mergedFields, { ...DEFAULT_RETRY_POLICY, maxRetries })
}

const parseScheduleBudget = (given: ScheduleBudgetInput, { existing, defaultZone }: ScheduleContext): BudgetTerms =>
  parseBudgetTerms(given, {
    before: existing === null ? undefined : ownBudgetTerms(existing)?.timezone,
    usual: defaultZone,
  })

/** `isolated` gives every run its own session, `main` is the agent's session, and any other value is a session key. */
function sessionKeyFor(value: string, agent: ScheduleAgent): SessionKey | null {
  if (value === 'isolated') return null
  return value === 'main' ? mainSessionOf(agent) : sessionKey(value)
}

/** The session that `main` means. */
const mainSessionOf = (agent: Pick<AgentRow, 'id' | 'defaultSession'>): SessionKey =>
  agent.defaultSession ?? sessionKey(`agent:${agent.id}:main`)

/** Values of 0 and below mean the default of the executor. */
const timeoutOrNull = (seconds: number): number | null => (seconds > 0 ? seconds : null)
