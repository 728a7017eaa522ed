import { laneName, type LaneName } from '../core/ids.ts'
import { flawed, parsed, parseInteger, type Parsed } from '../core/input.ts'
import { DEFAULT_LANES, resolveLane } from '../core/lanes.ts'
import {
  DEFAULT_CATCHUP_MAX_ACTIVE,
  DEFAULT_FIRING_SETTINGS,
  type FiringSettings,
} from '../core/schedule/schedule-rules.ts'
import { DEFAULT_SESSION_RULES, parseSessionRules, type SessionRules } from '../core/session/session-rules.ts'
import { parseZone } from '../core/time/zone.ts'
import { collectFlaws, parseObject, unknownFields, type Collector, type Given } from './input-fields.ts'

/** The settings of the engine, complete and checked. Never changed, only replaced. */
export interface EngineSettings {
  readonly node: { readonly leaseMs: number; readonly renewMs: number; readonly stopGraceMs: number }
  readonly lanes: ReadonlyMap<LaneName, number>
  readonly sessions: SessionRules
  readonly tasks: {
    readonly maxQueue: number
    readonly maxPerAgent: number
    readonly maxInflight: number
    readonly maxPerAgentInflight: number
    readonly resultTtlSeconds: number
    readonly defaultDeadlineSeconds: number
  }
  readonly schedules: {
    readonly defaultTimezone: string
    readonly pollMs: number
    readonly firing: FiringSettings
    readonly catchupMaxActive: number
  }
  readonly retention: {
    /** Null: for ever. */
    readonly runDays: number | null
    readonly runsPerSchedule: number
    readonly maxRunsPerSchedule: number
    readonly outputBytes: number
  }
  readonly drainGraceSeconds: number
}

export const DEFAULT_SETTINGS: EngineSettings = deepFreeze({
  node: { leaseMs: 15_000, renewMs: 5_000, stopGraceMs: 5_000 },
  lanes: new Map(Object.entries(DEFAULT_LANES).map(([name, size]) => [laneName(name), size])),
  sessions: DEFAULT_SESSION_RULES,
  tasks: {
    maxQueue: 1_000,
    maxPerAgent: 100,
    maxInflight: 20,
    maxPerAgentInflight: 10,
    resultTtlSeconds: 300,
    defaultDeadlineSeconds: 60,
  },
  schedules: {
    defaultTimezone: 'UTC',
    pollMs: 1_000,
    firing: DEFAULT_FIRING_SETTINGS,
    catchupMaxActive: DEFAULT_CATCHUP_MAX_ACTIVE,
  },
  retention: { runDays: 30, runsPerSchedule: 200, maxRunsPerSchedule: 10_000, outputBytes: 16_384 },
  drainGraceSeconds: 30,
})

/** The groups of settings, as they are named on every surface. */
export const SETTINGS_FIELDS = [
  'node',
  'lanes',
  'sessions',
  'tasks',
  'schedules',
  'retention',
  'drain_grace_seconds',
] as const

/** No length of time in the settings is longer: a year. */
const MOST_SECONDS = 366 * 86_400
const MOST_MS = MOST_SECONDS * 1_000

/**
 * Reads a change of the settings, whole or not at all. What is missing stays, and so does a size, a limit or a time to
 * live of 0, which would mean that nothing works; where 0 means "none" it is a value. Negative numbers and fractions are
 * flaws everywhere.
 */
export function parseSettings(value: unknown, current: EngineSettings = DEFAULT_SETTINGS): Parsed<EngineSettings> {
  const object = parseObject('settings', value)
  if (!object.ok) return object
  const collector = collectFlaws()
  const given = object.value
  collector.flaws.push(...unknownFields('', given, SETTINGS_FIELDS))
  const drain = groupOf({ name: '', given, known: SETTINGS_FIELDS }, collector)
  const settings: EngineSettings = {
    node: readNode(given, current, collector),
    lanes: readLanes(given['lanes'], current, collector),
    sessions: readSessions(given['sessions'], current, collector),
    tasks: readTasks(given, current, collector),
    schedules: readSchedules(given, current, collector),
    retention: readRetention(given, current, collector),
    drainGraceSeconds: drain.amount('drain_grace_seconds', current.drainGraceSeconds, 86_400),
  }
  if (settings.node.renewMs >= settings.node.leaseMs)
    collector.flaws.push({
      field: 'node.renew_ms',
      value: settings.node.renewMs,
      message: `must be below lease_ms, ${settings.node.leaseMs}: a lease has to be renewed before it lapses`,
    })
  return collector.flaws.length > 0 ? flawed(...collector.flaws) : parsed(deepFreeze(settings))
}

/** Reads the numbers of a group of settings. */
interface Group {
  readonly given: Given
  /** A size, a limit or a time to live: 0 keeps the current one. */
  readonly limit: (name: string, current: number, max: number) => number
  /** A number that may be 0. */
  readonly amount: (name: string, current: number, max: number) => number
}

function groupOf(
  group: { readonly name: string; readonly given: Given; readonly known: readonly string[] },
  { flaws, keep }: Collector,
): Group {
  const { name: prefix, given, known } = group
  if (prefix !== '') flaws.push(...unknownFields(prefix, given, known))
  const amount = (name: string, current: number, max: number): number => {
    const field = prefix === '' ? name : `${prefix}.${name}`
    return given[name] === undefined ? current : (keep(parseInteger(field, given[name], { min: 0, max })) ?? current)
  }
  const limit = (name: string, current: number, max: number): number => {
    const found = amount(name, current, max)
    return found === 0 ? current : found
  }
  return { given, amount, limit }
}

/** A group of the settings by its name; empty when it is missing. */
function namedGroup(
  all: Given,
  named: { readonly name: string; readonly known: readonly string[] },
  of: Collector,
): Group {
  const given = all[named.name] === undefined ? {} : (of.keep(parseObject(named.name, all[named.name])) ?? {})
  return groupOf({ ...named, given }, of)
}

function readNode(all: Given, { node }: EngineSettings, collector: Collector): EngineSettings['node'] {
  const group = namedGroup(all, { name: 'node', known: ['lease_ms', 'renew_ms', 'stop_grace_ms'] }, collector)
  return {
    leaseMs: group.limit('lease_ms', node.leaseMs, MOST_MS),
    renewMs: group.limit('renew_ms', node.renewMs, MOST_MS),
    stopGraceMs: group.amount('stop_grace_ms', node.stopGraceMs, MOST_MS),
  }
}

/** More slots than this in one process are a slip of the pen. */
export const MOST_SLOTS = 1_000_000

function readLanes(value: unknown, { lanes }: EngineSettings, { flaws, keep }: Collector): EngineSettings['lanes'] {
  if (value === undefined) return lanes
  const sizes = new Map(lanes)
  for (const [name, size] of Object.entries(keep(parseObject('lanes', value)) ?? {})) {
    const read = size === undefined ? null : keep(parseInteger(`lanes.${name}`, size, { min: 0, max: MOST_SLOTS }))
    if (name === '' || name.length > 100)
      flaws.push({ field: 'lanes', value: name, message: 'is not the name of a lane', allowed: '1 to 100 characters' })
    if (read !== null && read !== 0) sizes.set(meantLane(name), read)
  }
  return sizes
}

/** The lane a name means: itself, or what it is an alias of. */
export const meantLane = (name: string): LaneName =>
  resolveLane(name, new Map([...Object.keys(DEFAULT_LANES), name].map((known) => [laneName(known), true])))

function readSessions(value: unknown, { sessions }: EngineSettings, { keep }: Collector): SessionRules {
  if (value === undefined) return sessions
  const object = keep(parseObject('sessions', value))
  if (object === null) return sessions
  const isKept = ([name, given]: readonly [string, unknown]): boolean =>
    given === undefined || (given === 0 && (name === 'cap' || name === 'max_concurrent'))
  const change = Object.fromEntries(Object.entries(object).filter((entry) => !isKept(entry)))
  return keep(parseSessionRules('sessions', change, sessions)) ?? sessions
}

const TASK_FIELDS = [
  ...['max_queue', 'max_per_agent', 'max_inflight', 'max_per_agent_inflight'],
  ...['result_ttl_seconds', 'default_deadline_seconds'],
]

function readTasks(all: Given, { tasks }: EngineSettings, collector: Collector): EngineSettings['tasks'] {
  const group = namedGroup(all, { name: 'tasks', known: TASK_FIELDS }, collector)
  return {
    maxQueue: group.limit('max_queue', tasks.maxQueue, 100_000_000),
    maxPerAgent: group.limit('max_per_agent', tasks.maxPerAgent, 100_000_000),
    maxInflight: group.limit('max_inflight', tasks.maxInflight, MOST_SLOTS),
    maxPerAgentInflight: group.limit('max_per_agent_inflight', tasks.maxPerAgentInflight, MOST_SLOTS),
    resultTtlSeconds: group.limit('result_ttl_seconds', tasks.resultTtlSeconds, MOST_SECONDS),
    defaultDeadlineSeconds: group.limit('default_deadline_seconds', tasks.defaultDeadlineSeconds, MOST_SECONDS),
  }
}

const SCHEDULE_FIELDS = [
  ...['default_timezone', 'poll_ms', 'misfire_grace_seconds', 'catchup_window_seconds'],
  ...['catchup_spacing_ms', 'catchup_max_active'],
]

function readSchedules(all: Given, { schedules }: EngineSettings, collector: Collector): EngineSettings['schedules'] {
  const group = namedGroup(all, { name: 'schedules', known: SCHEDULE_FIELDS }, collector)
  const { firing } = schedules
  const zone = group.given['default_timezone']
  const read = zone === undefined ? null : collector.keep(parseZone('schedules.default_timezone', zone))
  const seconds = (name: string, currentMs: number): number =>
    group.amount(name, currentMs / 1_000, MOST_SECONDS) * 1_000
  return {
    defaultTimezone: read?.name ?? schedules.defaultTimezone,
    pollMs: group.limit('poll_ms', schedules.pollMs, 3_600_000),
    firing: {
      misfireGraceMs: seconds('misfire_grace_seconds', firing.misfireGraceMs),
      catchupWindowMs: seconds('catchup_window_seconds', firing.catchupWindowMs),
      catchupSpacingMs: group.amount('catchup_spacing_ms', firing.catchupSpacingMs, 3_600_000),
    },
    catchupMaxActive: group.limit('catchup_max_active', schedules.catchupMaxActive, MOST_SLOTS),
  }
}

const RETENTION_FIELDS = ['run_days', 'runs_per_schedule', 'max_runs_per_schedule', 'output_bytes']

function readRetention(all: Given, { retention }: EngineSettings, collector: Collector): EngineSettings['retention'] {
  const group = namedGroup(all, { name: 'retention', known: RETENTION_FIELDS }, collector)
  const isForEver = group.given['run_days'] === null
  const days = isForEver ? 0 : group.limit('run_days', retention.runDays ?? 0, 36_600)
  return {
    // 0 keeps what is there, and what is there may be "for ever".
    runDays: isForEver ? null : days === 0 ? retention.runDays : days,
    runsPerSchedule: group.limit('runs_per_schedule', retention.runsPerSchedule, 1_000_000),
    maxRunsPerSchedule: group.limit('max_runs_per_schedule', retention.maxRunsPerSchedule, 1_000_000),
    outputBytes: group.limit('output_bytes', retention.outputBytes, 1_048_576),
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze<unknown>(part)
  return Object.freeze(value)
}
