import type { ScheduleInput } from '../../contract/schedule.ts'
import {
  MOST_ROWS,
  MOST_SCHEDULES,
  MOST_WINDOW_SECONDS,
  type NamedAssumption,
  type OutageAsked,
  type SimulateInput,
} from '../../contract/simulate.ts'
import {
  INTERVENTIONS,
  type AssumptionInput,
  type Intervention,
  type OutageInput,
  type PolicyChange,
} from '../../contract/simulation.ts'
import { OUTAGE_EFFECTS, OUTAGE_KINDS } from '../../contract/outage-words.ts'
import { flawed, integerField, parsed, parseFields, wordField, type Flaw, type Parsed } from '../../core/input.ts'
import { DAY_MS, formatInstant, later, SECOND_MS, type Instant, parseMoment } from '../../core/instant.ts'
import { parseFlag, parseObject, textField } from '../../core/input-fields.ts'
import { parseAssumption } from './assumption.ts'
import { listOf } from './list-field.ts'

/** What is to be simulated, read and completed. */
export interface ReadSimulation {
  readonly schedules: readonly ScheduleInput[]
  readonly ids: readonly string[]
  readonly all: boolean
  /** Null: of every agent. */
  readonly agentId: string | null
  readonly from: Instant
  readonly to: Instant
  readonly assume: AssumptionInput
  readonly assumeFor: readonly NamedAssumption[]
  readonly observed: boolean
  readonly outages: readonly OutageInput[]
  readonly changes: readonly PolicyChange[]
  /** Null: nothing to compare with. */
  readonly against: readonly PolicyChange[] | null
  readonly interventions: readonly Intervention[]
  readonly budgets: boolean
  readonly replay: boolean
  readonly seed: number
  readonly maxRows: number
}

const USUAL_ROWS = 2_000
const USUAL_SEED = 1
const MOST_OUTAGES = 1_000
const MOST_CHANGES = 100
const MOST_SEED = 4_294_967_295

const id = textField({ min: 1, max: 512 })
const seconds = integerField({ min: 1, max: MOST_WINDOW_SECONDS })
const idList = listOf(id, { min: 1, max: MOST_SCHEDULES })

/** What is inside is read by whoever reads schedules. */
const scheduleText = (field: string, value: unknown): Parsed<ScheduleInput> => parseObject(field, value)

const required = <Name extends string>(
  prefix: string,
  found: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
): readonly Flaw[] =>
  names
    .filter((name) => found[name] === undefined)
    .map((name) => ({ field: `${prefix}.${name}`, value: undefined, message: 'is missing' }))

function parseChange(field: string, value: unknown): Parsed<PolicyChange> {
  const read = parseFields(field, value, { schedules: idList, set: scheduleText })
  if (!read.ok) return read
  const { set, schedules } = read.value
  if (set === undefined) return flawed(required(field, read.value, ['set']))
  return parsed({ set, ...(schedules === undefined ? {} : { schedules }) })
}

function parseNamedAssumption(field: string, value: unknown): Parsed<NamedAssumption> {
  const read = parseFields(field, value, { schedules: idList, assume: parseAssumption })
  if (!read.ok) return read
  const { schedules, assume } = read.value
  if (schedules === undefined || assume === undefined)
    return flawed(required(field, read.value, ['schedules', 'assume']))
  return parsed({ schedules, assume })
}

function parseIntervention(field: string, value: unknown): Parsed<Intervention> {
  const read = parseFields(field, value, { at: parseMoment, schedule_id: id, action: wordField(INTERVENTIONS) })
  if (!read.ok) return read
  const { at, schedule_id: schedule, action } = read.value
  if (at === undefined || schedule === undefined || action === undefined)
    return flawed(required(field, read.value, ['at', 'schedule_id', 'action']))
  return parsed({ at: formatInstant(at), schedule_id: schedule, action })
}

const OUTAGE_FIELDS = {
  kind: wordField(OUTAGE_KINDS),
  from: parseMoment,
  to: parseMoment,
  seconds,
  agent_id: id,
  effect: wordField(OUTAGE_EFFECTS),
} satisfies Record<keyof OutageAsked, unknown>

function parseOutage(field: string, value: unknown): Parsed<OutageInput> {
  const read = parseFields(field, value, OUTAGE_FIELDS)
  if (!read.ok) return read
  const { kind, from, agent_id: agent, effect } = read.value
  if (kind === undefined || from === undefined) return flawed(required(field, read.value, ['kind', 'from']))
  const { to: end, seconds: length } = read.value
  if ((end === undefined) === (length === undefined))
    return flawed({
      field: `${field}.to`,
      value: end,
      message: 'or seconds, exactly one of them, says when it is over',
    })
  const to = end ?? later(from, (length ?? 0) * SECOND_MS)
  if (to <= from) return flawed({ field: `${field}.to`, value: formatInstant(to), message: 'is not after from' })
  if (kind !== 'agent' && (agent ?? effect) !== undefined) {
    const name = agent === undefined ? 'effect' : 'agent_id'
    return flawed({ field: `${field}.${name}`, value: agent ?? effect, message: 'belongs to an outage of kind agent' })
  }
  return parsed({
    ...{ kind, from: formatInstant(from), to: formatInstant(to) },
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(effect === undefined ? {} : { effect }),
  })
}

const FIELDS = {
  schedules: listOf(scheduleText, { min: 1, max: MOST_SCHEDULES }),
  ids: idList,
  all: parseFlag,
  agent_id: textField({ min: 1, max: 200 }),
  from: parseMoment,
  to: parseMoment,
  window_seconds: seconds,
  assume: parseAssumption,
  assume_for: listOf(parseNamedAssumption, { min: 0, max: MOST_SCHEDULES }),
  observed: parseFlag,
  outages: listOf(parseOutage, { min: 0, max: MOST_OUTAGES }),
  changes: listOf(parseChange, { min: 0, max: MOST_CHANGES }),
  against: listOf(parseChange, { min: 0, max: MOST_CHANGES }),
  interventions: listOf(parseIntervention, { min: 0, max: MOST_OUTAGES }),
  budgets: parseFlag,
  replay: parseFlag,
  seed: integerField({ min: 0, max: MOST_SEED }),
  max_rows: integerField({ min: 0, max: MOST_ROWS }),
} satisfies Record<keyof SimulateInput, unknown>

/** Reads what is to be simulated. Whether schedules are good, and there, is looked at later. */
export function parseSimulate(value: unknown, now: Instant): Parsed<ReadSimulation> {
  const read = parseFields('', value, FIELDS)
  if (!read.ok) return read
  const given = read.value
  const flaws = [...choiceFlaws(given), ...replayFlaws(given)]
  const window = readWindow(given, now)
  if (!window.ok) return flawed([...flaws, ...window.flaws])
  if (flaws.length > 0) return flawed(flaws)
  return parsed({
    schedules: given.schedules ?? [],
    ids: [...new Set(given.ids ?? [])],
    ...{ all: given.all ?? false, agentId: given.agent_id ?? null, ...window.value },
    assume: given.assume ?? {},
    assumeFor: given.assume_for ?? [],
    observed: given.observed ?? true,
    outages: given.outages ?? [],
    changes: given.changes ?? [],
    against: given.against ?? null,
    interventions: given.interventions ?? [],
    budgets: given.budgets ?? true,
    replay: given.replay ?? false,
    seed: given.seed ?? USUAL_SEED,
    maxRows: given.max_rows ?? USUAL_ROWS,
  })
}

type Given = { readonly [Name in keyof typeof FIELDS]?: unknown }

function choiceFlaws(given: Given): readonly Flaw[] {
  const { schedules, ids, all, agent_id: agent } = given
  if (schedules === undefined && ids === undefined && all !== true)
    return [
      {
        ...{ field: 'schedules', value: undefined, message: 'is missing' },
        allowed: 'schedules as they would be created, ids of stored ones, or all: true',
      },
    ]
  if (agent === undefined || all === true) return []
  return [{ field: 'agent_id', value: agent, message: 'narrows down all: true, which is not given' }]
}

function replayFlaws({ replay, schedules, outages }: Given): readonly Flaw[] {
  if (replay !== true) return []
  const flaws: Flaw[] = []
  if (schedules !== undefined)
    flaws.push({ field: 'schedules', value: undefined, message: 'have no history to replay; name stored ones by id' })
  if (outages !== undefined)
    flaws.push({ field: 'outages', value: undefined, message: 'are those on record when history is replayed' })
  return flaws
}

interface Window {
  readonly from: Instant
  readonly to: Instant
}

/** From now on unless said otherwise; history ends now. */
function readWindow(
  given: {
    readonly from?: Instant | undefined
    readonly to?: Instant | undefined
    readonly window_seconds?: number | undefined
    readonly replay?: boolean | undefined
  },
  now: Instant,
): Parsed<Window> {
  const { from, to, window_seconds: length } = given
  if (to !== undefined && length !== undefined)
    return flawed({ field: 'window_seconds', value: length, message: 'cannot be given together with to' })
  const lengthMs = length === undefined ? DAY_MS : length * SECOND_MS
  const window =
    given.replay === true && from === undefined
      ? { from: later(to ?? now, -lengthMs), to: to ?? now }
      : { from: from ?? now, to: to ?? later(from ?? now, lengthMs) }
  if (window.to <= window.from)
    return flawed({ field: 'to', value: formatInstant(window.to), message: 'is not after from' })
  if (window.to - window.from > MOST_WINDOW_SECONDS * SECOND_MS)
    return flawed({
      ...{ field: to === undefined ? 'window_seconds' : 'to', value: formatInstant(window.to) },
      ...{ message: 'makes the window too long', allowed: `at most ${MOST_WINDOW_SECONDS / 86_400} days` },
    })
  if (given.replay === true && window.to > now)
    return flawed({
      ...{ field: to === undefined ? 'window_seconds' : 'to', value: formatInstant(window.to) },
      message: 'is still to come; only what was is replayed',
    })
  return parsed(window)
}
