import { readShape } from '../../contract/read-shape.ts'
import { scheduleInput } from '../../contract/schedule.ts'
import { clearNames, type Called } from '../../core/as-code/match.ts'
import { pick, type Fields } from '../../core/as-code/same.ts'
import type { Flaw } from '../../domain/input.ts'
import { instant } from '../../domain/instant.ts'
import { parseTiming } from '../../core/time/parse-timing.ts'
import { sentenceFor } from '../../core/time/sentence.ts'
import type { AgentRow } from '../../features/agents/store.ts'
import { readBudget } from '../budget-row.ts'
import { inPieces } from '../in-pieces.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'
import { budgetKey, budgetName } from './budget-fields.ts'
import type { Item, Items } from './document.ts'
import { place, type NamedItem, type Placed } from './meanings.ts'
import { inNamesOf, resolveBudget, resolveSchedule, type Names } from './references.ts'
import { calledOf, type Stored } from '../../features/as-code/stored.ts'
import { wantAgent } from './want-agent.ts'
import { wantBudget } from './want-budget.ts'
import { wantSchedule, type WantedSchedule } from './want-schedule.ts'
import { wantTarget } from './want-target.ts'
import type { Context, Wanted } from './wanted.ts'

/** What a document asks for, kind by kind. A kind that it does not name is not there. */
export interface Asked {
  readonly agents?: readonly Wanted[]
  readonly targets?: readonly Wanted[]
  readonly schedules?: readonly WantedSchedule[]
  readonly budgets?: readonly Wanted[]
}

/** Compares a document with what is stored. Nothing is changed, and nothing is called. */
export async function compare(context: Context, items: Items): Promise<Asked> {
  const { stored } = context
  const agents = items.agents && place(context, items.agents.map(byName), calledOf(stored.agents))
  const targets = items.targets && place(context, items.targets.map(byName), calledOf(stored.targets))
  const schedules =
    items.schedules &&
    withoutOwned(stored, place(context, bySentence(context, items.schedules), calledOf(stored.schedules)))
  const names: Names = {
    agents: after(agents, calledOf(stored.agents)),
    targets: after(targets, calledOf(stored.targets)),
    schedules: after(schedules, calledOf([...stored.schedules, ...stored.owned])),
  }
  const agentOf = rowsOf(stored.agents)
  const wantedAgents =
    agents &&
    (await inPieces(agents, (placed) => withFlaws(placed, wantAgent(context, { ...placed, known: agentOf(placed) }))))
  return {
    ...(wantedAgents === undefined ? {} : { agents: wantedAgents }),
    ...(targets === undefined ? {} : { targets: await wantTargets(context, targets) }),
    ...(schedules === undefined
      ? {}
      : { schedules: await wantSchedules(context, schedules, { names, agents: wantedAgents ?? [] }) }),
    ...(items.budgets === undefined
      ? {}
      : { budgets: await wantBudgets(context, items.budgets, { names, schedules }) }),
  }
}

/** Looks up the stored things that items mean. */
function rowsOf<Row extends { readonly id: string }>(rows: readonly Row[]): (placed: Placed) => Row | null {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ({ id, isStored }) => (isStored ? (byId.get(id) ?? null) : null)
}

const withFlaws = <W extends Wanted>({ item, flaws }: Pick<Placed, 'item' | 'flaws'>, wanted: W): W => {
  const all = [...flaws, ...inNamesOf(item, wanted.flaws)]
  return all.length === 0 ? wanted : { ...wanted, item, flaws: all, doing: null }
}

/** What agents have made for themselves is theirs, also for whoever knows its id. */
function withoutOwned({ owned }: Stored, placed: readonly Placed[]): readonly Placed[] {
  const owners = new Map<string, string | null>(owned.map(({ id, owner }) => [id, owner]))
  return placed.map((one) => {
    const owner = owners.get(one.id)
    if (owner === undefined) return one
    const message = `is the id of a schedule that ${String(owner)} has made for itself; no document speaks of those`
    return { ...one, flaws: [...one.flaws, { field: 'id', value: one.id, message }] }
  })
}

/** What will be called how: what the document names, and what is stored that it does not mean. */
function after(placed: readonly Placed[] | undefined, stored: readonly Called[]): readonly Called[] {
  if (placed === undefined) return stored
  const meant = new Set(placed.map(({ id }) => id))
  return [...placed.map(({ id, name }) => ({ id, name })), ...stored.filter(({ id }) => !meant.has(id))]
}

function byName(item: Item): NamedItem {
  const { name } = item.fields
  return { item, name: typeof name === 'string' && name !== '' ? name : null }
}

/** Earlier than everything: no moment that is read against it is in the past. */
const BEFORE_EVERYTHING = instant(-8.64e15)

/** A schedule that has no name is called what its plan says. */
const bySentence = ({ stored: { zone } }: Context, items: readonly Item[]): readonly NamedItem[] =>
  items.map((item) => {
    const named = byName(item)
    if (named.name !== null) return named
    const context = { now: BEFORE_EVERYTHING, defaultZone: zone }
    const read = readShape(scheduleInput, pick(item.fields, TIMING_FIELDS))
    const timing = read.ok ? parseTiming(read.value, context) : read
    return { item, name: timing.ok ? sentenceFor(timing.value) : null }
  })

function wantTargets(context: Context, placed: readonly Placed[]): Promise<readonly Wanted[]> {
  const targetOf = rowsOf(context.stored.targets)
  return Promise.all(
    placed.map(async (one) => withFlaws(one, await wantTarget(context, { ...one, known: targetOf(one) }))),
  )
}

interface AroundSchedules {
  readonly names: Names
  readonly agents: readonly (Wanted & { readonly row: AgentRow | null })[]
}

async function wantSchedules(
  context: Context,
  placed: readonly Placed[],
  { names, agents }: AroundSchedules,
): Promise<readonly WantedSchedule[]> {
  const { stored } = context
  const rows = new Map<string, AgentRow>(stored.agents.map((row) => [row.id, row]))
  for (const { id, row } of agents) if (row !== null) rows.set(id, row)
  // What is to wake an agent that cannot be made is not judged: the agent's own flaws say it all.
  const unmade = new Set(agents.filter(({ row }) => row === null).map(({ id }) => id))
  const around = {
    agent: (id: string) => Promise.resolve(rows.get(id)),
    ...{ agents: clearNames(names.agents), targets: clearNames(names.targets) },
  }
  const scheduleOf = rowsOf(stored.schedules)
  return inPieces(placed, async (one) => {
    const { item, flaws } = resolveSchedule(one.item, names, stored.org.defaultAgentId)
    const base = { item: one.item, name: one.name, id: one.id, isNew: !one.isStored, permissions: [] }
    const idle: WantedSchedule = { ...base, changes: [], flaws: [], doing: null, row: null }
    const known = scheduleOf(one)
    const found = unmade.has(String(item.fields['agent_id']))
      ? idle
      : await wantSchedule(context, { ...one, item, known }, around)
    return withFlaws({ item: one.item, flaws: [...one.flaws, ...flaws] }, withoutSame(found, flaws))
  })
}

/** Whoever wakes nobody that is known would be told so twice. */
const withoutSame = <W extends Wanted>(wanted: W, told: readonly Flaw[]): W =>
  told.some(({ field }) => field === 'agent')
    ? { ...wanted, flaws: wanted.flaws.filter(({ field }) => field !== 'agent_id') }
    : wanted

interface AroundBudgets {
  readonly names: Names
  readonly schedules: readonly Placed[] | undefined
}

function wantBudgets(
  context: Context,
  items: readonly Item[],
  { names, schedules }: AroundBudgets,
): Promise<readonly Wanted[]> {
  const { stored } = context
  const resolved = items.map((item) => resolveBudget(item, names))
  const nameOf = (kind: 'agents' | 'schedules', id: string): string =>
    names[kind].find((one) => one.id === id)?.name ?? id
  const named = resolved.map(({ item }) => ({ item, name: keyOf(item.fields, stored) }))
  const placed = place(
    context,
    named,
    stored.budgets.map((row) => ({ id: row.id, name: zoned(budgetKey(row), row.timezone.name) })),
  )
  const budgetOf = rowsOf(stored.budgets)
  const coming = new Set((schedules ?? []).filter(({ isStored }) => !isStored).map(({ id }) => id))
  return inPieces(placed, (one, at) => {
    const { flaws = [] } = resolved[at] ?? {}
    const original = items[at] ?? one.item
    const read = readBudget(one.item.fields, stored.zone)
    const name = read.ok ? budgetName(read.value, nameOf) : `budget ${one.item.index + 1}`
    const known = budgetOf(one)
    const wanted = wantBudget(context, { ...one, known }, { name, coming })
    return withFlaws({ item: original, flaws: [...one.flaws, ...flaws] }, wanted)
  })
}

const zoned = (key: string, zone: string): string => `${key}\u0000${zone}`

/** What a budget is known by; where the item names no zone, the one that is stored with the same key has it. */
function keyOf(fields: Fields, { zone, budgets }: Stored): string | null {
  const read = readBudget(fields, zone)
  if (!read.ok) return null
  const key = budgetKey(read.value)
  if (fields['timezone'] !== undefined) return zoned(key, read.value.timezone.name)
  const [only, ...more] = budgets.filter((row) => budgetKey(row) === key)
  return zoned(key, only !== undefined && more.length === 0 ? only.timezone.name : read.value.timezone.name)
}
