import type { BudgetInput, BudgetPatch, BudgetView } from '../contract/budget.ts'
import { invalid, Refusal } from '../contract/refusals.ts'
import {
  BUDGET_ACTIONS,
  BUDGET_DEFAULTS,
  BUDGET_UNITS,
  remaining,
  toMicros,
  type BudgetScope,
  type BudgetUnit,
} from '../core/budget/budget.ts'
import { BUDGET_PERIODS, periodBounds } from '../core/budget/budget-period.ts'
import { agentId, budgetId, scheduleId, type OrgId } from '../core/ids.ts'
import { flawed, parsed, parseInteger, parseWord, type Flaw, type Parsed } from '../core/input.ts'
import { formatInstant, type Instant } from '../core/instant.ts'
import { parseZone, UTC, type Zone } from '../core/time/zone.ts'
import {
  deleteBudget,
  insertBudget,
  isAgentKnown,
  loadBudgets,
  loadReserved,
  saveBudget,
  type BudgetOnRecord,
  type BudgetRow,
} from '../store/budgets.ts'
import type { Connection, Transaction } from '../store/database.ts'
import { loadOrg } from '../store/orgs.ts'
import { loadSchedules } from '../store/schedules.ts'
import { actorOf, changed, created, deleted, type AuditEntry } from './audit-entry.ts'
import type { Caller } from './caller.ts'
import { takeBudgets } from './desk/budgets.ts'
import { collectFlaws, parseObject, textField, unknownFields, type Given } from './input-fields.ts'
import { bound } from './idempotent.ts'
import type { Ports } from './ports.ts'
import type { Work } from './turn-port.ts'

const CHANGEABLE = ['amount', 'on_exceed', 'default_reserve']
const FIXED = ['agent_id', 'schedule_id', 'unit', 'period', 'timezone']

/** Sums of these stay exact. */
const MOST = 1_000_000_000_000_000

const parseId = textField({ min: 1, max: 512 })

type ReadBudget = Pick<BudgetRow, 'scope' | 'unit' | 'amount' | 'period' | 'timezone' | 'onExceed' | 'defaultReserve'>

/** Reads a new budget. Whether what it is for exists is not looked at. */
export function parseBudget(value: unknown, defaultZone: Zone): Parsed<ReadBudget> {
  const object = parseObject('budget', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  flaws.push(...unknownFields('', given, [...FIXED, ...CHANGEABLE]), ...missing(given))
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  const unit = field('unit', (name, word) => parseWord(name, word, BUDGET_UNITS), 'tokens')
  const read: ReadBudget = {
    scope: keep(parseScope(given)) ?? { kind: 'org' },
    unit,
    amount: field('amount', amountOf(unit, 1), 0),
    period: field('period', (name, word) => parseWord(name, word, BUDGET_PERIODS), BUDGET_DEFAULTS.period),
    timezone: field('timezone', parseZone, defaultZone),
    onExceed: field('on_exceed', (name, word) => parseWord(name, word, BUDGET_ACTIONS), BUDGET_DEFAULTS.onExceed),
    defaultReserve: field('default_reserve', amountOf(unit, 0), BUDGET_DEFAULTS.defaultReserve),
  }
  flaws.push(...tooMuchReserve(given, read))
  return flaws.length > 0 ? flawed(...flaws) : parsed(read)
}

/** Reads a change of a budget: what it leaves out stays. */
export function parseBudgetChange(value: unknown, existing: BudgetRow): Parsed<BudgetRow> {
  const object = parseObject('budget', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  const fixed = Object.keys(given).filter((name) => FIXED.includes(name))
  for (const name of fixed)
    flaws.push({ field: name, value: given[name], message: 'never changes', allowed: 'a budget of its own' })
  flaws.push(...unknownFields('', given, [...FIXED, ...CHANGEABLE]))
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  const read: BudgetRow = {
    ...existing,
    amount: field('amount', amountOf(existing.unit, 1), existing.amount),
    onExceed: field('on_exceed', (name, word) => parseWord(name, word, BUDGET_ACTIONS), existing.onExceed),
    defaultReserve: field('default_reserve', amountOf(existing.unit, 0), existing.defaultReserve),
  }
  flaws.push(...tooMuchReserve(given, read))
  return flaws.length > 0 ? flawed(...flaws) : parsed(read)
}

const missing = (given: Given): readonly Flaw[] =>
  ['unit', 'amount']
    .filter((name) => given[name] === undefined)
    .map((name) => ({ field: name, value: undefined, message: 'is missing' }))

/** A run that sets aside more than there ever is would wait for ever. */
function tooMuchReserve(given: Given, read: Pick<BudgetRow, 'amount' | 'defaultReserve'>): readonly Flaw[] {
  if (read.amount === 0 || read.defaultReserve <= read.amount) return []
  const field = given['default_reserve'] === undefined ? 'amount' : 'default_reserve'
  const message = field === 'amount' ? 'is less than the default reserve' : 'is more than the amount'
  return [{ field, value: given[field], message }]
}

function parseScope(given: Given): Parsed<BudgetScope> {
  const { agent_id: agent, schedule_id: schedule } = given
  if (agent !== undefined && schedule !== undefined)
    return flawed({ field: 'schedule_id', value: schedule, message: 'excludes agent_id', allowed: 'one of the two' })
  if (agent !== undefined) {
    const id = parseId('agent_id', agent)
    return id.ok ? parsed({ kind: 'agent', agentId: agentId(id.value) }) : id
  }
  if (schedule === undefined) return parsed({ kind: 'org' })
  const id = parseId('schedule_id', schedule)
  return id.ok ? parsed({ kind: 'schedule', scheduleId: scheduleId(id.value) }) : id
}

/** Reads an amount as budgets count it: tokens, or millionths of what was given in whole money. */
const amountOf =
  (unit: BudgetUnit, min: number) =>
  (field: string, value: unknown): Parsed<number> => {
    if (unit === 'tokens') return parseInteger(field, value, { min, max: MOST })
    const allowed = `an amount of money from ${showAmount(unit, min)} to ${showAmount(unit, MOST)}, six decimals at most`
    if (typeof value !== 'number' || !Number.isFinite(value))
      return flawed({ field, value, message: 'must be a number', allowed })
    const micros = toMicros(value)
    if (micros < min || micros > MOST) return flawed({ field, value, message: 'is out of range', allowed })
    return micros / 1_000_000 === value
      ? parsed(micros)
      : flawed({ field, value, message: 'has more than six decimals', allowed })
  }

const showAmount = (unit: BudgetUnit, amount: number): number => (unit === 'money' ? amount / 1_000_000 : amount)

const noBudget = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no budget ${id}`)

/** Makes a budget. What it counts begins with it; work that is in flight already has set nothing aside. */
export async function createBudget(ports: Ports, caller: Caller, input: BudgetInput): Promise<BudgetView> {
  const { orgId } = caller
  const id = await keepBudgets(ports, caller, async (tx, now) => {
    const read = parseBudget(input, await zoneOf(tx, orgId))
    if (!read.ok) throw invalid(read.flaws)
    await refuseUnknown(tx, orgId, read.value.scope)
    const made = { ...read.value, orgId, id: budgetId(ports.newId('budget', now)), createdAt: now }
    if (!(await insertBudget(tx, made))) throw new Refusal('CONFLICT', `There is a budget ${made.id} already`)
    return { id: made.id, change: 'created', before: null, after: settingsOf(made) }
  })
  return getBudget(ports, caller, id)
}

async function zoneOf(connection: Connection, orgId: OrgId): Promise<Zone> {
  const org = await loadOrg(connection, orgId)
  const zone = parseZone('default_timezone', org?.defaultTimezone)
  return zone.ok ? zone.value : UTC
}

/** A misspelt id would be a budget that holds nobody back. */
async function refuseUnknown(connection: Connection, orgId: OrgId, scope: BudgetScope): Promise<void> {
  if (scope.kind === 'agent' && !(await isAgentKnown(connection, { orgId, id: scope.agentId })))
    throw invalid([{ field: 'agent_id', value: scope.agentId, message: 'names no agent' }])
  if (scope.kind !== 'schedule') return
  const found = await loadSchedules(connection, { orgId, ids: [scope.scheduleId] })
  if (found.length === 0)
    throw invalid([{ field: 'schedule_id', value: scope.scheduleId, message: 'names no schedule' }])
}

/** Changes a budget. More room lets waiting work go on at once. */
export async function changeBudget(
  ports: Ports,
  caller: Caller,
  asked: { readonly id: string; readonly change: BudgetPatch },
): Promise<BudgetView> {
  const { orgId } = caller
  const id = await keepBudgets(ports, caller, async (tx) => {
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === asked.id)
    if (found === undefined) throw noBudget(asked.id)
    const read = parseBudgetChange(asked.change, found)
    if (!read.ok) throw invalid(read.flaws)
    await saveBudget(tx, read.value)
    return { id: found.id, change: 'updated', before: settingsOf(found), after: settingsOf(read.value) }
  })
  return getBudget(ports, caller, id)
}

/** Deletes a budget and what it has counted. Nothing waits for it any more. */
export async function removeBudget(ports: Ports, caller: Caller, asked: { readonly id: string }): Promise<void> {
  const { orgId } = caller
  await keepBudgets(ports, caller, async (tx) => {
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === asked.id)
    if (found === undefined) throw noBudget(asked.id)
    await deleteBudget(tx, { orgId, id: found.id })
    return { id: found.id, change: 'deleted', before: settingsOf(found), after: null }
  })
}

interface Kept {
  readonly id: string
  readonly change: string
  readonly before: object | null
  readonly after: object | null
}

function recordOf(actor: string, { id, before, after }: Kept): AuditEntry {
  const object = { kind: 'budget', id }
  if (after === null) return deleted(actor, object, before ?? {})
  return before === null ? created(actor, object, after) : changed(actor, object, { before, after })
}

/** Changes budgets on record and what every node remembers of them. */
function keepBudgets(
  ports: Ports,
  caller: Caller,
  write: (tx: Transaction, now: Instant) => Promise<Kept>,
): Promise<string> {
  const { orgId } = caller
  const work: Work<string> = {
    orgId,
    prepare: async (tx, now) => ({ kept: await write(tx, now), budgets: await loadBudgets(tx, { orgId }) }),
    apply: (desk, prepared) => {
      const { kept, budgets } = prepared as { readonly kept: Kept; readonly budgets: readonly BudgetOnRecord[] }
      takeBudgets(desk, budgets)
      desk.changes.events.push({ kind: 'budget.changed', subject: kept.id, data: { change: kept.change } })
      desk.changes.audits.push(recordOf(actorOf(caller), kept))
      return kept.id
    },
  }
  return ports.turns.take(bound(work, caller))
}

/** The budget, and where it stands. */
export async function getBudget(ports: Ports, caller: Caller, id: string): Promise<BudgetView> {
  const found = (await findBudgets(ports, caller)).find((budget) => budget.id === id)
  if (found === undefined) throw noBudget(id)
  return found
}

/** All budgets of the org, the oldest first. */
export async function findBudgets(ports: Ports, { orgId }: Caller): Promise<readonly BudgetView[]> {
  const rows = await loadBudgets(ports.database, { orgId })
  if (rows.length === 0) return []
  const reserved = await loadReserved(ports.database, { orgId })
  const now = ports.clock.now()
  return rows.map((row) => viewBudget(row, { now, reserved: reserved.get(row.id) ?? 0 }))
}

/** What a person has decided about a budget. */
const settingsOf = ({ scope, unit, ...row }: ReadBudget) => ({
  scope: scope.kind,
  agent_id: scope.kind === 'agent' ? scope.agentId : null,
  schedule_id: scope.kind === 'schedule' ? scope.scheduleId : null,
  unit,
  amount: showAmount(unit, row.amount),
  period: row.period,
  timezone: row.timezone.name,
  on_exceed: row.onExceed,
  default_reserve: showAmount(unit, row.defaultReserve),
})

function viewBudget(
  row: BudgetOnRecord,
  { now, reserved }: { readonly now: Instant; readonly reserved: number },
): BudgetView {
  const { start, end } = periodBounds(row.period, row.timezone, now)
  const spent = row.uses.find((use) => use.start === start)?.used ?? 0
  const show = (amount: number): number => showAmount(row.unit, amount)
  return {
    id: row.id,
    org_id: row.orgId,
    ...settingsOf(row),
    spent: show(spent),
    reserved: show(reserved),
    remaining: show(remaining(row, { spent, reserved })),
    period_start: formatInstant(start),
    period_end: formatInstant(end),
    created_at: formatInstant(row.createdAt),
  }
}
