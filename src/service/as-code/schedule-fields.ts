import type { BudgetTerms } from '../../features/budgets/schema.ts'
import { scheduleFields as FIELDS } from '../../contract/schedule-fields.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { unusual } from '../../core/as-code/compare.ts'
import { SCHEDULE_SYNONYMS } from '../../core/as-code/kinds.ts'
import { isFields, pick, type Fields } from '../../core/as-code/same.ts'
import { BUDGET_DEFAULTS } from '../../domain/budget/budget.ts'
import { inlineKindOf } from '../../core/executor/inline-agent.ts'
import { instant } from '../../domain/instant.ts'
import { defaultMaxRetries } from '../../domain/run/retry.ts'
import type { Zone } from '../../core/time/zone.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { termsIn } from '../schedule-budget.ts'
import { parseSchedule, type WokenAgent } from '../schedule-input.ts'
import { newSchedule } from '../../features/schedules/new-schedule.ts'
import { viewSchedule } from '../schedule-view.ts'
import { keptPolicy, writtenPolicy } from './agent-fields.ts'

/** Every name of a schedule in a document but its id, references by name included, in the order in which they are written. */
export const DOCUMENT_FIELDS: readonly string[] = [
  ...['name', 'description', 'agent'],
  ...Object.keys(FIELDS).filter(
    (name) => !['name', 'description', ...(SCHEDULE_SYNONYMS as readonly string[])].includes(name),
  ),
]

/** Fields whose values may be hidden; what is kept of them is in the input. */
const HIDING = ['executor', 'probe']

/**
 * Whether somebody wants it to fire. A reminder that failed for good was never switched off; how it fared is no matter of
 * a document.
 */
const isOn = ({ state, approval }: Pick<ScheduleRow, 'state' | 'approval'>): boolean =>
  state === 'pending_approval' ? approval?.rests !== true : state !== 'paused'

/** A schedule in the names of the API as it may be shown, with every default written out. */
export function shownSchedule(row: ScheduleRow): Fields {
  const view: Fields = { ...viewSchedule(row), retry_policy: keptPolicy(row.retryPolicy) }
  return { ...pick(view, DOCUMENT_FIELDS), enabled: isOn(row), budget: termsIn(row) }
}

/** The same with nothing hidden. */
export const scheduleFields = (row: ScheduleRow): Fields => ({
  ...shownSchedule(row),
  ...Object.fromEntries(HIDING.map((name) => [name, row.input[name] ?? null])),
})

/** What names are clear, and what is usual, where a schedule is written. */
export interface Writing {
  readonly agents: ReadonlyMap<string, string>
  readonly targets: ReadonlyMap<string, string>
  readonly zone: Zone
  /** The agent it wakes. */
  readonly agent: WokenAgent
}

/** Earlier than everything: no moment that is read against it is in the past. */
const BEFORE_EVERYTHING = instant(-8.64e15)

/** A schedule as a document says it: without what is usual, with names for what it names, and without what is hidden. */
export function writtenSchedule(row: ScheduleRow, writing: Writing): Fields {
  const full = shownSchedule(row)
  const found = unusual(full, usualFields(row, full, writing))
  return pick(
    {
      ...found,
      ...planOf(full),
      name: row.name,
      ...whoOf(row, full, writing),
      ...zoneOf(row, full, writing),
      anchor: row.input['anchor'] === undefined ? undefined : full['anchor'],
      payload: writtenPayload(row.payload),
      retry_policy: row.retryPolicy === null ? undefined : writtenPolicy(row.retryPolicy, usualRetries(writing.agent)),
      budget: writtenTerms(termsIn(row)),
      delivery: writtenDelivery(full['delivery'], writing),
      enabled: full['enabled'] === false ? false : undefined,
    },
    DOCUMENT_FIELDS,
  )
}

const planOf = (full: Fields): Fields => pick(full, ['at', 'every_seconds', 'everyMs', 'cron', 'rrule'])

/** What a schedule with the same plan looks like that says nothing else. */
function usualFields(row: ScheduleRow, full: Fields, { zone, agent }: Writing): Fields {
  const plan = { ...planOf(full), ...pick(full, ['timezone', 'anchor']) }
  const executor = inlineKindOf(row.agentId) === null ? {} : { executor: row.input['executor'] }
  const context = { now: BEFORE_EVERYTHING, defaultZone: zone, agent, existing: null }
  const read = parseSchedule({ ...plan, ...executor } as ScheduleInput, context)
  if (!read.ok) return {}
  const { orgId, id } = row
  return shownSchedule(newSchedule(read.value, { caller: { orgId, principal: null }, now: row.createdAt, id }))
}

const usualRetries = ({ id, executor }: WokenAgent): number =>
  defaultMaxRetries({ trigger: 'schedule', executorKind: executor.kind, inlineExecutor: inlineKindOf(id) !== null })

function whoOf({ agentId }: ScheduleRow, full: Fields, { agents }: Writing): Fields {
  if (inlineKindOf(agentId) !== null) return { agent_id: undefined, executor: full['executor'] }
  const name = agents.get(agentId)
  return name === undefined ? { agent_id: agentId } : { agent_id: undefined, agent: name }
}

/** Where a clock decides, whose clock it is is always said; elsewhere only when it is another than the org's. */
function zoneOf({ timing }: ScheduleRow, full: Fields, { zone }: Writing): Fields {
  const decides = timing.kind === 'cron' || timing.kind === 'rrule' || timing.exclude !== null
  return { timezone: decides || timing.zone.name !== zone.name ? full['timezone'] : undefined }
}

/** A prompt and nothing else is written as the text it is. */
function writtenPayload(payload: unknown): unknown {
  if (payload === null) return undefined
  if (!isFields(payload)) return payload
  const { prompt } = payload
  return typeof prompt === 'string' && Object.keys(payload).length === 1 ? prompt : payload
}

function writtenTerms(terms: BudgetTerms | null): Fields | undefined {
  if (terms === null) return undefined
  const { period, onExceed, defaultReserve } = BUDGET_DEFAULTS
  return unusual({ ...terms }, { period, on_exceed: onExceed, default_reserve: defaultReserve })
}

function writtenDelivery(delivery: unknown, { targets }: Writing): Fields | undefined {
  if (!isFields(delivery)) return undefined
  const id = String(delivery['target_id'])
  const name = targets.get(id)
  return name === undefined ? { target_id: id } : { target: name }
}
