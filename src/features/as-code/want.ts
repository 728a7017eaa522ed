import { readShape, schemaReader } from '../../api/read-input.ts'
import type { Permission } from '../../domain/access/access.ts'
import { changedNames, differences } from '../../domain/as-code/compare.ts'
import { visibleSettings, visibleUrl } from '../../domain/delivery/target-kinds.ts'
import { type AgentId, scheduleId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { type JsonFields, isJsonFields, isSameJson, pickFields } from '../../domain/json.ts'
import { MASK, restoreMaskedExecutor } from '../../domain/secret/mask.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'
import { parseExecutor } from '../../executors/parse-executor.ts'
import { changedAgent, newAgent } from '../agents/input.ts'
import { agentInput, agentPatch, type AgentPatch, agentFields as contractFields } from '../agents/schema.ts'
import { updateAgentCommand, createAgentCommand } from '../agents/service.ts'
import type { AgentRow } from '../agents/store.ts'
import {
  agentFields,
  budgetFields,
  DOCUMENT_FIELDS,
  scheduleFields,
  shownAgent,
  shownSchedule,
  shownTarget,
  targetFields,
  type ExportContext,
  exportedAgent,
  exportedSchedule,
} from './fields.ts'
import {
  type PlanContext,
  flawsOf,
  hiddenFlaws,
  creationChanges,
  type ItemMatch,
  shownChanges,
  type PlannedObject,
} from './wanted.ts'
import { timeoutFlaws } from '../budgets/limits.ts'
import { budgetInput } from '../budgets/schema.ts'
import { updateBudgetCommand, createBudgetCommand } from '../budgets/service.ts'
import type { BudgetWithPeriods } from '../budgets/store.ts'
import { budgetRow, type DecidedBudget } from '../budgets/stored-budget.ts'
import { valueOrRefuse, agentForSchedule } from '../schedules/agent-and-target.ts'
import { parseSchedule, type ParsedSchedule } from '../schedules/input.ts'
import { newScheduleRow } from '../schedules/new-schedule.ts'
import { scheduleInput, type ScheduleInput } from '../schedules/schema.ts'
import { updateScheduleCommand, createScheduleCommand } from '../schedules/service.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { openTargetUrl, type TargetConfig, resolveTargetConfig } from '../targets/address.ts'
import { targetInput, targetPatch } from '../targets/schema.ts'
import { updateTargetCommand, createTargetCommand } from '../targets/service.ts'
import type { TargetRow } from '../targets/store.ts'

/** An agent in a document and its row after the change; null: the item is invalid. */
interface PlannedAgent extends PlannedObject {
  readonly row: AgentRow | null
}

const readInput = schemaReader(agentInput)
const readPatch = schemaReader(agentPatch)

/** The required fields of an agent. */
const REQUIRED_FIELDS = ['name', 'executor']

/** The other fields at their defaults. */
const AGENT_FIELDS_LEFT_OUT: JsonFields = {
  ...Object.fromEntries(
    Object.keys(contractFields).flatMap((name) => (REQUIRED_FIELDS.includes(name) ? [] : [[name, null]])),
  ),
  description: '',
}

/** Compares an item with the stored agent. */
export function planAgent(context: PlanContext, match: ItemMatch<AgentRow>): PlannedAgent {
  const { item } = match
  const name = typeof item.fields['name'] === 'string' ? item.fields['name'] : match.id
  const base = { item, name, id: match.id, isNew: match.known === null, permissions: [] }
  const refused = (flaws: readonly Flaw[]): PlannedAgent => ({ ...base, changes: [], flaws, doing: null, row: null })
  try {
    return match.known === null ? newAgentEntry(context, base) : agentAfterChange(context, base, match.known)
  } catch (error) {
    return refused(flawsOf(error))
  }
}

type PlannedBase = Pick<PlannedObject, 'item' | 'name' | 'id' | 'isNew' | 'permissions'>

function newAgentEntry({ ports, caller, now, stored }: PlanContext, base: PlannedBase): PlannedAgent {
  const input = readInput({ ...base.item.fields, id: base.id })
  const row = newAgent(input, { orgId: caller.orgId, now, newId: () => base.id })
  const flaws = [...hiddenFlaws('executor', row.executor), ...timeoutFlaws(input, stored.org)]
  return {
    ...{ ...base, row, flaws, changes: creationChanges(exportedAgent(row)) },
    doing: flaws.length > 0 ? null : () => createAgentCommand(ports, caller, input),
  }
}

function agentAfterChange({ ports, caller, stored }: PlanContext, base: PlannedBase, known: AgentRow): PlannedAgent {
  const { fields } = base.item
  const missing = REQUIRED_FIELDS.filter((name) => fields[name] === undefined)
  if (missing.length > 0) {
    const flaws = missing.map((field) => ({ field, value: undefined, message: 'is missing' }))
    return { ...base, changes: [], flaws, doing: null, row: null }
  }
  const change = readPatch({
    ...AGENT_FIELDS_LEFT_OUT,
    ...fields,
    executor: restoreExecutor(fields['executor'], known.executor),
  })
  const row = { ...known, ...changedAgent(known, change) }
  const real = { before: agentFields(known), after: agentFields(row) }
  const names = changedNames(real.before, real.after)
  const flaws = [
    ...(names.includes('executor') ? hiddenFlaws('executor', row.executor) : []),
    ...(names.includes('timeout_seconds') ? timeoutFlaws(fields, stored.org) : []),
  ]
  const request = { id: known.id, change: pickFields(change, names) as AgentPatch }
  return {
    ...{ ...base, row, flaws, changes: shownChanges(real, { before: shownAgent(known), after: shownAgent(row) }) },
    doing: flaws.length > 0 || names.length === 0 ? null : () => updateAgentCommand(ports, caller, request),
  }
}

/**
 * The executor of a document with masked values restored: headers while it calls the same origin, environment variables
 * while it starts the same program with the same options.
 */
function restoreExecutor(given: unknown, before: AgentRow['executor']): unknown {
  const open = restoreMaskedExecutor(given, before, 'origin')
  const read = parseExecutor('executor', open)
  const { env: known, ...others } = before as JsonFields
  if (!read.ok || !isJsonFields(known)) return open
  const { env, ...rest } = read.value as JsonFields
  if (!isJsonFields(env) || !isSameJson(rest, others)) return open
  const full = Object.entries(env).map(([name, value]) => [name, value === MASK ? (known[name] ?? value) : value])
  return { ...(open as JsonFields), env: Object.fromEntries(full) as unknown }
}

/**
 * Compares an item with references by id with the stored budget. `coming` are the schedules created in the same
 * transaction.
 */
export function planBudget(
  { ports, caller }: PlanContext,
  { item, id, known }: ItemMatch<BudgetWithPeriods>,
  { name, coming: newScheduleIds }: { readonly name: string; readonly coming: ReadonlySet<string> },
): PlannedObject {
  const base = { item, name, id, isNew: known === null, permissions: [] }
  const read = readShape(budgetInput, item.fields)
  if (!read.ok) return { ...base, changes: [], flaws: read.flaws, doing: null }
  if (known === null) {
    const input = read.value
    return {
      ...{ ...base, flaws: [], changes: creationChanges(item.fields) },
      doing: () => createBudgetCommand(ports, caller, { input, id, newScheduleIds }),
    }
  }
  return planBudgetChange(base, known, { read: budgetRow(read.value, known.timezone), caller })
}

function planBudgetChange(
  base: Omit<PlannedObject, 'changes' | 'flaws' | 'doing'>,
  known: BudgetWithPeriods,
  { read, caller }: { readonly read: DecidedBudget; readonly caller: PlanContext['caller'] },
): PlannedObject {
  const [before, after] = [budgetFields(known), budgetFields(read)]
  const names = changedNames(before, after)
  const fixed = names.filter((name) => !CHANGEABLE.includes(name))
  return {
    ...{ ...base, changes: differences(before, after) },
    flaws: fixed.map((field) => ({
      ...{ field, value: after[field], message: `cannot be changed; it is ${String(before[field])}` },
      allowed: 'a new budget without this id',
    })),
    doing:
      names.length === 0 || fixed.length > 0
        ? null
        : () => updateBudgetCommand(caller, { id: known.id, change: pickFields(after, names) }),
  }
}

const CHANGEABLE = ['amount', 'on_exceed', 'default_reserve']

/** The agents after the change, and the names that are unique. */
interface ScheduleReferences extends Pick<ExportContext, 'agents' | 'targets'> {
  readonly agent: (id: AgentId) => Promise<AgentRow | undefined>
}

/** A schedule in a document and its row after the change; null: the item is invalid. */
export interface PlannedScheduleChange extends PlannedObject {
  readonly row: ScheduleRow | null
}

/** All fields at their defaults, except `enabled`, where null means not given. */
const SCHEDULE_FIELDS_LEFT_OUT: JsonFields = Object.fromEntries(
  DOCUMENT_FIELDS.filter((name) => !['agent', 'enabled'].includes(name)).map((name) => [name, null]),
)

const BUDGETS: readonly Permission[] = ['budgets:write']

/** Compares an item with references by id with the stored schedule. */
export async function planSchedule(
  context: PlanContext,
  match: ItemMatch<ScheduleRow> & { readonly name: string },
  around: ScheduleReferences,
): Promise<PlannedScheduleChange> {
  const { item, name, id, known } = match
  const base = { item, name, id, isNew: known === null, permissions: [] }
  try {
    return known === null
      ? await newScheduleEntry(context, base, around)
      : await changedSchedule(context, { base, known }, around)
  } catch (error) {
    return { ...base, changes: [], flaws: flawsOf(error), doing: null, row: null }
  }
}

const refusedSchedule = (base: PlannedBase, flaws: readonly Flaw[]): PlannedScheduleChange => ({
  ...{ ...base, changes: [], flaws, doing: null, row: null },
})

async function newScheduleEntry(
  { ports, caller, now, stored }: PlanContext,
  base: PlannedBase,
  around: ScheduleReferences,
): Promise<PlannedScheduleChange> {
  const id = scheduleId(base.id)
  const input = valueOrRefuse(readShape(scheduleInput, base.item.fields))
  const agent = await agentForSchedule(around.agent, { org: stored.org, input, existing: null, id })
  const read = parseSchedule(input, { now, defaultZone: stored.zone, agent, existing: null })
  if (!read.ok) return refusedSchedule(base, read.flaws)
  const tooLong = timeoutFlaws(input, stored.org)
  if (tooLong.length > 0) return refusedSchedule(base, tooLong)
  const row = newScheduleRow(read.value, { caller, now, id })
  const flaws = hiddenIn(row.input, ['executor', 'probe'])
  const permissions = isJsonFields(input.budget) ? BUDGETS : []
  return {
    ...{ ...base, row, flaws, permissions },
    changes: creationChanges(exportedSchedule(row, { ...around, agent, zone: stored.zone })),
    doing:
      flaws.length > 0
        ? null
        : () => createScheduleCommand(ports, caller, { input, run: null, id, isLimitChecked: true }),
  }
}

async function changedSchedule(
  { ports, caller, now, stored }: PlanContext,
  { base, known }: { readonly base: PlannedBase; readonly known: ScheduleRow },
  around: ScheduleReferences,
): Promise<PlannedScheduleChange> {
  const { fields } = base.item
  const { enabled, ...change } = valueOrRefuse(readShape(scheduleInput, { ...SCHEDULE_FIELDS_LEFT_OUT, ...fields }))
  const agent = await agentForSchedule(around.agent, { org: stored.org, input: change, existing: known, id: known.id })
  const read = parseSchedule(change, { now, defaultZone: stored.zone, agent, existing: known })
  if (!read.ok) return refusedSchedule(base, read.flaws)
  const row = rowAfter(known, read.value)
  const tooLong = row.timeoutSeconds === known.timeoutSeconds ? [] : timeoutFlaws(change, stored.org)
  if (tooLong.length > 0) return refusedSchedule(base, tooLong)
  const on = enabled ?? true
  const sides = (of: (row: ScheduleRow) => JsonFields) => ({
    before: comparedFields(of(known), fields),
    after: comparedFields({ ...of(row), enabled: on }, fields),
  })
  const real = sides(scheduleFields)
  const names = changedNames(real.before, real.after)
  const flaws = [...hiddenIn(row.input, names), ...pendingFlaws(known, names)]
  const request = { id: known.id, change: changeOf({ ...change, enabled: on }, names) }
  return {
    ...{ ...base, row, flaws, changes: shownChanges(real, sides(shownSchedule)) },
    permissions: names.includes('budget') ? BUDGETS : [],
    doing: flaws.length > 0 || names.length === 0 ? null : () => updateScheduleCommand(ports, caller, request),
  }
}

function rowAfter(
  known: ScheduleRow,
  { timingChanged: _timing, enabled: _enabled, ...fields }: ParsedSchedule,
): ScheduleRow {
  return { ...known, ...fields }
}

/** An anchor that is not in the document is not compared, because by default it is the start of the schedule. */
const comparedFields = (fields: JsonFields, { anchor }: JsonFields): JsonFields => {
  if (anchor !== undefined && anchor !== null) return fields
  const { anchor: _anchor, ...others } = fields
  return others
}

/** Only the changed fields, because unchanged ones must not be validated again. The timing is sent as a whole. */
function changeOf(change: ScheduleInput, names: readonly string[]): ScheduleInput {
  const isTimed = names.some((name) => TIMING_FIELDS.includes(name))
  const timing = isTimed ? TIMING_FIELDS.filter((name) => DOCUMENT_FIELDS.includes(name)) : []
  const who = names.includes('agent_id') || names.includes('executor') ? ['agent_id', 'executor'] : []
  return pickFields(change, [...new Set([...names, ...timing, ...who])])
}

const hiddenIn = (input: JsonFields, names: readonly string[]): readonly Flaw[] =>
  ['executor', 'probe'].flatMap((name) => (names.includes(name) ? hiddenFlaws(name, input[name]) : []))

function pendingFlaws({ state }: ScheduleRow, names: readonly string[]): readonly Flaw[] {
  if (state !== 'pending_approval' || names.length === 0) return []
  return [{ field: '', value: undefined, message: 'is waiting for approval; approve or reject the proposal first' }]
}

/** Compares an item with the stored target. */
export async function planTarget(
  context: PlanContext,
  { item, id, known }: ItemMatch<TargetRow>,
): Promise<PlannedObject> {
  const name = typeof item.fields['name'] === 'string' ? item.fields['name'] : id
  const base = { item, name, id, isNew: known === null, permissions: [] }
  return known === null ? newTargetEntry(context, base) : changedTarget(context, base, known)
}

const refusedTarget = (base: PlannedBase, flaws: readonly Flaw[]): PlannedObject => ({
  ...base,
  changes: [],
  flaws,
  doing: null,
})

const shownRead = ({ quietHours, url, settings, kind, ...rest }: TargetConfig): JsonFields => ({
  ...{ ...rest, kind, quiet_hours: quietHours },
  ...{ url: url === '' ? null : visibleUrl(kind, url), settings: visibleSettings(kind, settings) },
})

function newTargetEntry({ ports, caller }: PlanContext, base: PlannedBase): PlannedObject {
  const { fields } = base.item
  const input = readShape(targetInput, fields)
  const read = input.ok ? resolveTargetConfig(input.value, null) : input
  if (!input.ok || !read.ok) return refusedTarget(base, read.ok ? [] : read.flaws)
  return {
    ...{ ...base, flaws: [], changes: creationChanges(pickFields(shownRead(read.value), Object.keys(fields))) },
    doing: () => createTargetCommand(ports, caller, { input: input.value, id: base.id }),
  }
}

async function changedTarget(
  { ports, caller }: PlanContext,
  base: PlannedBase,
  known: TargetRow,
): Promise<PlannedObject> {
  const { fields } = base.item
  const url = await keptUrl(ports, fields['url'], known)
  const input = readShape(targetInput, url === undefined ? fields : { ...fields, url })
  const read = input.ok ? resolveTargetConfig(input.value, null) : input
  if (!read.ok) return refusedTarget(base, read.flaws)
  if (read.value.kind !== known.kind)
    return refusedTarget(base, [
      {
        field: 'kind',
        value: read.value.kind,
        message: `cannot be changed; it is ${known.kind}`,
        allowed: 'another name',
      },
    ])
  const { quietHours, ...rest } = read.value
  // A target that was disabled because deliveries failed stays disabled until a user enables it.
  const enabled = known.disabledWhy === null ? rest.enabled : true
  const after: JsonFields = { ...rest, enabled, quiet_hours: quietHours, url: rest.url === '' ? null : rest.url }
  const real = { before: targetFields(known), after }
  const names = changedNames(real.before, real.after)
  const shown = { before: shownTarget(known), after: { ...shownRead(read.value), enabled } }
  return {
    ...{ ...base, flaws: [], changes: shownChanges(real, shown) },
    doing:
      names.length === 0
        ? null
        : async () =>
            updateTargetCommand(ports, caller, {
              id: known.id,
              change: schemaReader(targetPatch)(pickFields(after, names)),
            }),
  }
}

/** The stored URL, if the item repeats it or omits a hidden one. */
async function keptUrl(ports: PlanContext['ports'], given: unknown, known: TargetRow): Promise<string | undefined> {
  if (known.sealedUrl === null) return undefined
  if (given === undefined || given === known.url) return known.url
  return given === (await openTargetUrl(ports, known)) ? known.url : undefined
}
