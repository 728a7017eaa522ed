import { readShape } from '../../contract/read-shape.ts'
import { scheduleInput, type ScheduleInput } from '../../contract/schedule.ts'
import { changedNames } from '../../core/as-code/compare.ts'
import { isFields, pick, type Fields } from '../../core/as-code/same.ts'
import type { Permission } from '../../domain/access/access.ts'
import { scheduleId, type AgentId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import type { AgentRow } from '../../features/agents/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { accepted, agentFor } from '../schedule-agent.ts'
import { parseSchedule, type ReadSchedule } from '../schedule-input.ts'
import { scheduleChange, scheduleCreation } from '../schedules.ts'
import { newSchedule } from '../../features/schedules/new-schedule.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'
import { DOCUMENT_FIELDS, scheduleFields, shownSchedule, writtenSchedule, type Writing } from './schedule-fields.ts'
import { timeoutFlaws } from '../timeout-limit.ts'
import { flawsOf, hiddenFlaws, madeOf, shownChanges, type Context, type Place, type Wanted } from './wanted.ts'

/** Agents as they will be, and the names that will be clear. */
export interface Surroundings extends Pick<Writing, 'agents' | 'targets'> {
  readonly agent: (id: AgentId) => Promise<AgentRow | undefined>
}

/** A schedule that is asked for, and what it will be; null: it cannot be read. */
export interface WantedSchedule extends Wanted {
  readonly row: ScheduleRow | null
}

/** Every field at its default. Whether it is on is told apart: there, null means that nobody said. */
const DEFAULTS: Fields = Object.fromEntries(
  DOCUMENT_FIELDS.filter((name) => !['agent', 'enabled'].includes(name)).map((name) => [name, null]),
)

const BUDGETS: readonly Permission[] = ['budgets:write']

/** What an item asks of a schedule; its references are ids by now. */
export async function wantSchedule(
  context: Context,
  place: Place<ScheduleRow> & { readonly name: string },
  around: Surroundings,
): Promise<WantedSchedule> {
  const { item, name, id, known } = place
  const base = { item, name, id, isNew: known === null, permissions: [] }
  try {
    return known === null ? await made(context, base, around) : await changed(context, { base, known }, around)
  } catch (error) {
    return { ...base, changes: [], flaws: flawsOf(error), doing: null, row: null }
  }
}

type Base = Pick<Wanted, 'item' | 'name' | 'id' | 'isNew' | 'permissions'>

const refused = (base: Base, flaws: readonly Flaw[]): WantedSchedule => ({
  ...{ ...base, changes: [], flaws, doing: null, row: null },
})

async function made(
  { ports, caller, now, stored }: Context,
  base: Base,
  around: Surroundings,
): Promise<WantedSchedule> {
  const id = scheduleId(base.id)
  const input = accepted(readShape(scheduleInput, base.item.fields))
  const agent = await agentFor(around.agent, { org: stored.org, input, existing: null, id })
  const read = parseSchedule(input, { now, defaultZone: stored.zone, agent, existing: null })
  if (!read.ok) return refused(base, read.flaws)
  const tooLong = timeoutFlaws(input, stored.org)
  if (tooLong.length > 0) return refused(base, tooLong)
  const row = newSchedule(read.value, { caller, now, id })
  const flaws = hiddenIn(row.input, ['executor', 'probe'])
  const permissions = isFields(input.budget) ? BUDGETS : []
  return {
    ...{ ...base, row, flaws, permissions },
    changes: madeOf(writtenSchedule(row, { ...around, agent, zone: stored.zone })),
    doing: flaws.length > 0 ? null : () => scheduleCreation(ports, caller, { input, run: null, id, hasRoom: true }),
  }
}

async function changed(
  { ports, caller, now, stored }: Context,
  { base, known }: { readonly base: Base; readonly known: ScheduleRow },
  around: Surroundings,
): Promise<WantedSchedule> {
  const { fields } = base.item
  const { enabled, ...change } = accepted(readShape(scheduleInput, { ...DEFAULTS, ...fields }))
  const agent = await agentFor(around.agent, { org: stored.org, input: change, existing: known, id: known.id })
  const read = parseSchedule(change, { now, defaultZone: stored.zone, agent, existing: known })
  if (!read.ok) return refused(base, read.flaws)
  const row = rowAfter(known, read.value)
  const tooLong = row.timeoutSeconds === known.timeoutSeconds ? [] : timeoutFlaws(change, stored.org)
  if (tooLong.length > 0) return refused(base, tooLong)
  const on = enabled ?? true
  const sides = (of: (row: ScheduleRow) => Fields) => ({
    before: said(of(known), fields),
    after: said({ ...of(row), enabled: on }, fields),
  })
  const real = sides(scheduleFields)
  const names = changedNames(real.before, real.after)
  const flaws = [...hiddenIn(row.input, names), ...pendingFlaws(known, names)]
  const asked = { id: known.id, change: changeOf({ ...change, enabled: on }, names) }
  return {
    ...{ ...base, row, flaws, changes: shownChanges(real, sides(shownSchedule)) },
    permissions: names.includes('budget') ? BUDGETS : [],
    doing: flaws.length > 0 || names.length === 0 ? null : () => scheduleChange(ports, caller, asked),
  }
}

function rowAfter(
  known: ScheduleRow,
  { timingChanged: _timing, enabled: _enabled, ...fields }: ReadSchedule,
): ScheduleRow {
  return { ...known, ...fields }
}

/** A beat that nobody has written down is none that could be compared: it begins when the plan does. */
const said = (fields: Fields, { anchor }: Fields): Fields => {
  if (anchor !== undefined && anchor !== null) return fields
  const { anchor: _anchor, ...others } = fields
  return others
}

/** Only what differs: what is not sent is not judged again. When it fires is one matter, and is sent whole. */
function changeOf(change: ScheduleInput, names: readonly string[]): ScheduleInput {
  const isTimed = names.some((name) => TIMING_FIELDS.includes(name))
  const timing = isTimed ? TIMING_FIELDS.filter((name) => DOCUMENT_FIELDS.includes(name)) : []
  const who = names.includes('agent_id') || names.includes('executor') ? ['agent_id', 'executor'] : []
  return pick(change, [...new Set([...names, ...timing, ...who])])
}

const hiddenIn = (input: Fields, names: readonly string[]): readonly Flaw[] =>
  ['executor', 'probe'].flatMap((name) => (names.includes(name) ? hiddenFlaws(name, input[name]) : []))

function pendingFlaws({ state }: ScheduleRow, names: readonly string[]): readonly Flaw[] {
  if (state !== 'pending_approval' || names.length === 0) return []
  return [
    { field: '', value: undefined, message: 'waits for approval: approve what was proposed, or reject it, first' },
  ]
}
