import { readShape } from '../../api/read-input.ts'
import {
  type NamedResource,
  unambiguousNames,
  KIND_INFO,
  type ItemMatch,
  matchItems,
  resolveReference,
  type DocumentItem,
} from '../../domain/as-code/compare.ts'
import { unknownFields } from '../../domain/input-fields.ts'
import type { Flaw } from '../../domain/input.ts'
import { instant } from '../../domain/instant.ts'
import { type JsonFields, isJsonFields, pickFields } from '../../domain/json.ts'
import { addAll } from '../../domain/long-lists.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { parseTiming } from '../../domain/time/parse-timing.ts'
import { sentenceFor } from '../../domain/time/sentence.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'
import { ID_PREFIXES, type IdKind, idTimeOf } from '../../engine/ids.ts'
import type { AgentRow } from '../agents/store.ts'
import { mapInBatches, type Item, type Items, pointerOf } from './document.ts'
import { budgetKey, budgetName, DOCUMENT_FIELDS } from './fields.ts'
import { calledOf, type StoredObjects } from './stored.ts'
import { planAgent, planBudget, type PlannedScheduleChange, planSchedule, planTarget } from './want.ts'
import type { PlanContext, PlannedObject } from './wanted.ts'
import { readBudget } from '../budgets/stored-budget.ts'
import { everyField } from '../schedules/input.ts'
import { scheduleInput } from '../schedules/schema.ts'

/** An item with the id of its stored or new object. */
interface MatchedItem {
  readonly item: Item
  readonly name: string
  readonly id: string
  readonly isStored: boolean
  readonly flaws: readonly Flaw[]
}

/** An item and the name that identifies it; null: it has none. */
interface NamedItem {
  readonly item: Item
  readonly name: string | null
}

/** Matches the items of a kind with stored objects, and assigns ids to new ones. */
function matchStored(
  { ports, now }: Pick<PlanContext, 'ports' | 'now'>,
  named: readonly NamedItem[],
  stored: readonly NamedResource[],
): readonly MatchedItem[] {
  const items = named.map(({ item, name }): DocumentItem => ({ id: item.id, name: name ?? `\u0000${item.index}` }))
  return matchItems(items, stored).map((meaning, at): MatchedItem => {
    const { item, name } = named[at] as NamedItem
    const kind = KIND_INFO[item.kind].thing
    const id = meaning.kind === 'stored' ? meaning.id : (item.id ?? ports.newId(kind, now))
    const flaws = [...meaningFlaws(item, meaning), ...(meaning.kind === 'new' ? idFlaws(item, kind) : [])]
    return { item, name: name ?? id, id, isStored: meaning.kind === 'stored', flaws }
  })
}

function meaningFlaws(item: Item, meaning: ItemMatch): readonly Flaw[] {
  const { thing } = KIND_INFO[item.kind]
  const field = item.id !== null ? 'id' : item.kind === 'budgets' || item.fields['name'] === undefined ? '' : 'name'
  const value = field === '' ? undefined : (item.id ?? item.fields['name'])
  if (meaning.kind === 'ambiguous') {
    const ids = meaning.ids.join(', ')
    return [{ field, value, message: `matches ${meaning.ids.length} stored ${item.kind}: ${ids}`, allowed: 'an id' }]
  }
  if (meaning.kind !== 'twice') return []
  const other = pointerOf({ kind: item.kind, index: meaning.index })
  const message =
    meaning.by === 'id'
      ? `is also the id of ${other}`
      : `matches the same ${thing} as ${other}; give each its own name, or its id`
  return [{ field, value, message }]
}

/** Only agents may have ids chosen by users. Other ids are generated, and a document can only repeat them. */
function idFlaws({ id }: Item, kind: IdKind): readonly Flaw[] {
  if (id === null || kind === 'agent' || (id.startsWith(ID_PREFIXES[kind]) && idTimeOf(id) !== null)) return []
  const allowed = `${ID_PREFIXES[kind]} and 26 characters, as in an export, or no id`
  return [{ field: 'id', value: id, message: `is not the id of a ${kind}`, allowed }]
}

/** All names after the document is applied: those in the document, and those of stored objects. */
interface Names {
  readonly agents: readonly NamedResource[]
  readonly targets: readonly NamedResource[]
  readonly schedules: readonly NamedResource[]
}

/** An item with references by id, and the flaws of its references. */
interface Resolved {
  readonly item: Item
  readonly flaws: readonly Flaw[]
}

interface Reference {
  /** The field that holds a name, and the field that holds an id. */
  readonly by: string
  readonly byId: string
  readonly thing: string
  readonly things: readonly NamedResource[]
}

/** Replaces a name by its id. */
function resolveField(fields: JsonFields, { by, byId, thing, things }: Reference, flaws: Flaw[]): JsonFields {
  const { [by]: name, ...others } = fields
  if (name === undefined || name === null) return others
  const refuse = (message: string, allowed?: string): JsonFields => {
    flaws.push({ field: by, value: name, message, ...(allowed === undefined ? {} : { allowed }) })
    return others
  }
  if (typeof name !== 'string') return refuse('must be a text', `the name of the ${thing}, or its id`)
  if (others[byId] !== undefined && others[byId] !== null) return refuse(`cannot be combined with ${byId}`)
  const [id, ...more] = resolveReference(name, things)
  if (id === undefined) {
    const near = nearestWord(
      name,
      things.map((one) => one.name),
    )
    return refuse(
      `matches no ${thing} of the document or of the org${near === null ? '' : `; did you mean ${near}?`}`,
      `the name of the ${thing}, or its id`,
    )
  }
  if (more.length > 0) return refuse(`is the name of ${more.length + 1} ${thing}s: ${[id, ...more].join(', ')}`, byId)
  return { ...others, [byId]: id }
}

/** A schedule with references by id, and without synonyms of fields. */
function resolveSchedule(item: Item, names: Names, defaultAgent: string | null): Resolved {
  const flaws: Flaw[] = [...unknownFields('', item.fields, DOCUMENT_FIELDS)]
  const known = inSeconds(pickFields(item.fields, DOCUMENT_FIELDS))
  const fields = resolveField(known, { by: 'agent', byId: 'agent_id', thing: 'agent', things: names.agents }, flaws)
  const brings = [fields['agent_id'], fields['executor'], known['agent']].some(
    (one) => one !== undefined && one !== null,
  )
  const { delivery: given, ...others } = fields
  const delivery = resolvedDelivery(given, names, flaws)
  return {
    item: {
      ...item,
      fields: {
        ...others,
        ...(delivery === undefined ? {} : { delivery }),
        ...(brings || defaultAgent === null ? {} : { agent_id: defaultAgent }),
      },
    },
    flaws,
  }
}

/** Writes an interval as `every_seconds`, or as `everyMs` if it is not a whole number of seconds. */
function inSeconds(fields: JsonFields): JsonFields {
  const { everyMs, ...others } = fields
  return typeof everyMs === 'number' && others['every_seconds'] === undefined
    ? { ...others, ...everyField(everyMs) }
    : fields
}

function resolvedDelivery(delivery: unknown, { targets }: Names, flaws: Flaw[]): unknown {
  if (!isJsonFields(delivery)) return delivery
  const inner: Flaw[] = []
  const found = resolveField(delivery, { by: 'target', byId: 'target_id', thing: 'target', things: targets }, inner)
  addAll(
    flaws,
    inner.map((flaw) => ({ ...flaw, field: `delivery.${flaw.field}` })),
  )
  return inner.length > 0 ? undefined : found
}

/** A budget with references by id. */
function resolveBudget(item: Item, { agents, schedules }: Names): Resolved {
  const flaws: Flaw[] = []
  const first = resolveField(item.fields, { by: 'agent', byId: 'agent_id', thing: 'agent', things: agents }, flaws)
  const things = { by: 'schedule', byId: 'schedule_id', thing: 'schedule', things: schedules }
  return { item: { ...item, fields: resolveField(first, things, flaws) }, flaws }
}

/** Renames the fields of flaws to those that the item uses. */
const flawsInItemNames = ({ fields }: Item, flaws: readonly Flaw[]): readonly Flaw[] =>
  flaws.map((flaw) => {
    const delivery = fields['delivery']
    if (flaw.field === 'agent_id' && fields['agent'] !== undefined) return { ...flaw, field: 'agent' }
    if (flaw.field === 'schedule_id' && fields['schedule'] !== undefined) return { ...flaw, field: 'schedule' }
    if (flaw.field === 'delivery.target_id' && isJsonFields(delivery) && delivery['target'] !== undefined)
      return { ...flaw, field: 'delivery.target' }
    return flaw
  })

/** The objects that a document asks for, by kind; absent kinds are not changed. */
export interface RequestedObjects {
  readonly agents?: readonly PlannedObject[]
  readonly targets?: readonly PlannedObject[]
  readonly schedules?: readonly PlannedScheduleChange[]
  readonly budgets?: readonly PlannedObject[]
}

/** Compares a document with the stored objects. It changes nothing and calls no other service. */
export async function compareDocument(context: PlanContext, items: Items): Promise<RequestedObjects> {
  const { stored } = context
  const agents = items.agents && matchStored(context, items.agents.map(namedByName), calledOf(stored.agents))
  const targets = items.targets && matchStored(context, items.targets.map(namedByName), calledOf(stored.targets))
  const schedules =
    items.schedules &&
    withoutOwned(stored, matchStored(context, namedBySentence(context, items.schedules), calledOf(stored.schedules)))
  const names: Names = {
    agents: namesAfterApply(agents, calledOf(stored.agents)),
    targets: namesAfterApply(targets, calledOf(stored.targets)),
    schedules: namesAfterApply(schedules, calledOf([...stored.schedules, ...stored.owned])),
  }
  const agentOf = rowsOf(stored.agents)
  const wantedAgents =
    agents &&
    (await mapInBatches(agents, (matched) =>
      withFlaws(matched, planAgent(context, { ...matched, known: agentOf(matched) })),
    ))
  return {
    ...(wantedAgents === undefined ? {} : { agents: wantedAgents }),
    ...(targets === undefined ? {} : { targets: await planTargets(context, targets) }),
    ...(schedules === undefined
      ? {}
      : { schedules: await planSchedules(context, schedules, { names, agents: wantedAgents ?? [] }) }),
    ...(items.budgets === undefined
      ? {}
      : { budgets: await planBudgets(context, items.budgets, { names, schedules }) }),
  }
}

/** A lookup of the stored objects that items match. */
function rowsOf<Row extends { readonly id: string }>(rows: readonly Row[]): (matched: MatchedItem) => Row | null {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ({ id, isStored }) => (isStored ? (byId.get(id) ?? null) : null)
}

const withFlaws = <W extends PlannedObject>({ item, flaws }: Pick<MatchedItem, 'item' | 'flaws'>, wanted: W): W => {
  const all = [...flaws, ...flawsInItemNames(item, wanted.flaws)]
  return all.length === 0 ? wanted : { ...wanted, item, flaws: all, doing: null }
}

/** Schedules that an agent created for itself cannot be changed by a document, even by id. */
function withoutOwned({ owned }: StoredObjects, matched: readonly MatchedItem[]): readonly MatchedItem[] {
  const owners = new Map<string, string | null>(owned.map(({ id, owner }) => [id, owner]))
  return matched.map((one) => {
    const owner = owners.get(one.id)
    if (owner === undefined) return one
    const message = `is the id of a schedule that ${String(owner)} created for itself; a document cannot contain those`
    return { ...one, flaws: [...one.flaws, { field: 'id', value: one.id, message }] }
  })
}

/**
 * All names of a kind after the document is applied: those in the document, and those of stored objects that no item
 * matches.
 */
function namesAfterApply(
  matched: readonly MatchedItem[] | undefined,
  stored: readonly NamedResource[],
): readonly NamedResource[] {
  if (matched === undefined) return stored
  const meant = new Set(matched.map(({ id }) => id))
  return [...matched.map(({ id, name }) => ({ id, name })), ...stored.filter(({ id }) => !meant.has(id))]
}

function namedByName(item: Item): NamedItem {
  const { name } = item.fields
  return { item, name: typeof name === 'string' && name !== '' ? name : null }
}

/** The earliest instant: relative to it, no time is in the past. */
const EARLIEST_INSTANT = instant(-8.64e15)

/** A schedule without a name is named after its timing. */
const namedBySentence = ({ stored: { zone } }: PlanContext, items: readonly Item[]): readonly NamedItem[] =>
  items.map((item) => {
    const named = namedByName(item)
    if (named.name !== null) return named
    const context = { now: EARLIEST_INSTANT, defaultZone: zone }
    const read = readShape(scheduleInput, pickFields(item.fields, TIMING_FIELDS))
    const timing = read.ok ? parseTiming(read.value, context) : read
    return { item, name: timing.ok ? sentenceFor(timing.value) : null }
  })

function planTargets(context: PlanContext, matched: readonly MatchedItem[]): Promise<readonly PlannedObject[]> {
  const targetOf = rowsOf(context.stored.targets)
  return Promise.all(
    matched.map(async (one) => withFlaws(one, await planTarget(context, { ...one, known: targetOf(one) }))),
  )
}

interface ScheduleSurroundings {
  readonly names: Names
  readonly agents: readonly (PlannedObject & { readonly row: AgentRow | null })[]
}

async function planSchedules(
  context: PlanContext,
  matched: readonly MatchedItem[],
  { names, agents }: ScheduleSurroundings,
): Promise<readonly PlannedScheduleChange[]> {
  const { stored } = context
  const rows = new Map<string, AgentRow>(stored.agents.map((row) => [row.id, row]))
  for (const { id, row } of agents) if (row !== null) rows.set(id, row)
  // A schedule of an agent that cannot be created is not checked, because the agent's own flaws are reported.
  const uncreatable = new Set(agents.filter(({ row }) => row === null).map(({ id }) => id))
  const around = {
    agent: (id: string) => Promise.resolve(rows.get(id)),
    ...{ agents: unambiguousNames(names.agents), targets: unambiguousNames(names.targets) },
  }
  const scheduleOf = rowsOf(stored.schedules)
  return mapInBatches(matched, async (one) => {
    const { item, flaws } = resolveSchedule(one.item, names, stored.org.defaultAgentId)
    const base = { item: one.item, name: one.name, id: one.id, isNew: !one.isStored, permissions: [] }
    const idle: PlannedScheduleChange = { ...base, changes: [], flaws: [], doing: null, row: null }
    const known = scheduleOf(one)
    const found = uncreatable.has(String(item.fields['agent_id']))
      ? idle
      : await planSchedule(context, { ...one, item, known }, around)
    return withFlaws({ item: one.item, flaws: [...one.flaws, ...flaws] }, withoutDuplicateFlaw(found, flaws))
  })
}

/** Drops a second flaw about the same unknown agent. */
const withoutDuplicateFlaw = <W extends PlannedObject>(wanted: W, reported: readonly Flaw[]): W =>
  reported.some(({ field }) => field === 'agent')
    ? { ...wanted, flaws: wanted.flaws.filter(({ field }) => field !== 'agent_id') }
    : wanted

interface BudgetSurroundings {
  readonly names: Names
  readonly schedules: readonly MatchedItem[] | undefined
}

function planBudgets(
  context: PlanContext,
  items: readonly Item[],
  { names, schedules }: BudgetSurroundings,
): Promise<readonly PlannedObject[]> {
  const { stored } = context
  const resolved = items.map((item) => resolveBudget(item, names))
  const nameOf = (kind: 'agents' | 'schedules', id: string): string =>
    names[kind].find((one) => one.id === id)?.name ?? id
  const named = resolved.map(({ item }) => ({ item, name: budgetItemKey(item.fields, stored) }))
  const matched = matchStored(
    context,
    named,
    stored.budgets.map((row) => ({ id: row.id, name: keyWithZone(budgetKey(row), row.timezone.name) })),
  )
  const budgetOf = rowsOf(stored.budgets)
  const newScheduleIds = new Set((schedules ?? []).filter(({ isStored }) => !isStored).map(({ id }) => id))
  return mapInBatches(matched, (one, at) => {
    const { flaws = [] } = resolved[at] ?? {}
    const original = items[at] ?? one.item
    const read = readBudget(one.item.fields, stored.zone)
    const name = read.ok ? budgetName(read.value, nameOf) : `budget ${one.item.index + 1}`
    const known = budgetOf(one)
    const wanted = planBudget(context, { ...one, known }, { name, coming: newScheduleIds })
    return withFlaws({ item: original, flaws: [...one.flaws, ...flaws] }, wanted)
  })
}

const keyWithZone = (key: string, zone: string): string => `${key}\u0000${zone}`

/** The identity of a budget. If the item has no time zone, that of the stored budget with the same key is used. */
function budgetItemKey(fields: JsonFields, { zone, budgets }: StoredObjects): string | null {
  const read = readBudget(fields, zone)
  if (!read.ok) return null
  const key = budgetKey(read.value)
  if (fields['timezone'] !== undefined) return keyWithZone(key, read.value.timezone.name)
  const [only, ...more] = budgets.filter((row) => budgetKey(row) === key)
  return keyWithZone(key, only !== undefined && more.length === 0 ? only.timezone.name : read.value.timezone.name)
}
