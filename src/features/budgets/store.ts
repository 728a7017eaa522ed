import type { BudgetAlertKind } from '../../domain/alerts.ts'
import type { Budget, BudgetScope } from '../../domain/budget/budget.ts'
import { agentId, scheduleId, type AgentId, type BudgetId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { parseZone, type Zone } from '../../core/time/zone.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { column, columns, table, type RowOf } from '../../platform/db/table.ts'

/** The open alerts of a budget by kind, with their ids. */
export type BudgetAlerts = { readonly [Kind in BudgetAlertKind]?: string }

/** A row of `budget`. */
export interface BudgetRow extends Budget {
  readonly orgId: OrgId
  readonly createdAt: Instant
  /** Null: none. */
  readonly alerts: BudgetAlerts | null
}

const uses = table('usage', { start: column.instant('period_start'), used: column.bigint() })

/** What a budget has used in a period. */
export type PeriodUse = RowOf<typeof uses>

const stored = table('budget', {
  orgId: column.text<OrgId>(),
  id: column.text<BudgetId>(),
  scope: column.text<Exclude<BudgetScope['kind'], 'owner'>>(),
  scopeId: column.text<string | null>(),
  unit: column.text<Budget['unit']>(),
  period: column.text<Budget['period']>(),
  timezone: column.text(),
  amount: column.bigint(),
  onExceed: column.text<Budget['onExceed']>(),
  defaultReserve: column.bigint(),
  createdAt: column.instant(),
  pausedAt: column.instant<Instant | null>(),
  alerts: column.json<BudgetAlerts | null>(),
})

const onRecord = columns({
  ...stored.definitions,
  starts: column.json<readonly Instant[]>('u.starts'),
  used: column.json<readonly number[]>('u.used'),
})

/** A budget with what it used in the newest periods on record, the newest first. */
export interface BudgetOnRecord extends BudgetRow {
  readonly uses: readonly PeriodUse[]
}

/**
 * All budgets of the org, the oldest first. Two periods each: time only goes on, so the present one is the newest or not
 * on record yet, and the second is there in case somebody has set the server's clock back.
 */
export async function loadBudgets(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<readonly BudgetOnRecord[]> {
  const rows = await connection.query(
    `select ${onRecord.of('b')}
     from budget b, lateral (
       select coalesce(array_agg(n.period_start order by n.period_start desc), '{}') as starts,
              coalesce(array_agg(n.used order by n.period_start desc), '{}') as used
       from (select period_start, used from usage where org_id = b.org_id and budget_id = b.id
             order by period_start desc limit 2) n) u
     where b.org_id = $1 order by b.created_at, b.id`,
    [wanted.orgId],
  )
  return onRecord.read(rows).map(budgetOf)
}

/** What was counted under a name in the newest periods on record, the newest first. */
export async function loadPeriodUses(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: BudgetId },
): Promise<readonly PeriodUse[]> {
  const rows = await connection.query(
    `select ${uses.list} from usage where org_id = $1 and budget_id = $2 order by period_start desc limit 2`,
    [wanted.orgId, wanted.id],
  )
  return uses.read(rows)
}

const CREATED = stored.omit('pausedAt', 'alerts')

/** Makes a budget. False when there is one of this id. */
export async function insertBudget(tx: Transaction, row: BudgetRow): Promise<boolean> {
  const rows = await tx.query(
    `${CREATED.insert} on conflict (org_id, id) do nothing returning id`,
    CREATED.values({ ...row, ...storedScope(row.scope), timezone: row.timezone.name }),
  )
  return rows.length > 0
}

const EDITED = stored.pick('amount', 'onExceed', 'defaultReserve', 'pausedAt')

/** Writes back what a person may change about a budget. */
export async function saveBudget(tx: Transaction, row: BudgetRow): Promise<void> {
  await tx.query(`update budget set ${EDITED.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...EDITED.values(row),
  ])
}

const STANDING = stored.pick('id', 'pausedAt', 'alerts')

/** Writes back what has become of budgets by themselves: since when they stand still, and their open alerts. */
export function saveBudgetStandings(tx: Transaction, orgId: OrgId, standings: readonly RowOf<typeof STANDING>[]): void {
  tx.send(
    `update budget b set ${STANDING.assignedFrom('i')} from unnest(${STANDING.arrays(2)}) as i (${STANDING.names})
      where b.org_id = $1 and b.id = i.id`,
    [orgId, ...STANDING.lists(standings)],
  )
}

/** Removes budgets and what they counted. */
export function deleteBudgets(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly ids: readonly BudgetId[] },
): void {
  tx.send(
    `with counted as (delete from usage where org_id = $1 and budget_id = any($2::text[]))
     delete from budget where org_id = $1 and id = any($2::text[])`,
    [gone.orgId, gone.ids],
  )
}

const spent = table('usage', { budgetId: column.text<BudgetId>(), ...uses.definitions })

/** Something used, in the period in which it counts. */
export type Spending = RowOf<typeof spent>

/** Adds to what budgets have used. Each budget and period is named once. */
export function addUsage(tx: Transaction, orgId: OrgId, spendings: readonly Spending[]): void {
  tx.send(
    `insert into usage (org_id, ${spent.names}) select $1, * from unnest(${spent.arrays(2)})
     on conflict (org_id, budget_id, period_start) do update set used = usage.used + excluded.used`,
    [orgId, ...spent.lists(spendings)],
  )
}

const reserved = columns({
  budgetId: column.text<BudgetId>("r.value ->> 'budgetId'"),
  amount: column.bigint("sum((r.value ->> 'amount')::bigint)::bigint"),
})

/** What runs in flight have set aside, by budget. */
export async function loadReserved(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<ReadonlyMap<BudgetId, number>> {
  const rows = await connection.query(
    `select ${reserved.list}
     from pending p, jsonb_array_elements(p.reserves) r
     where p.org_id = $1 and p.state in ('assigned', 'running', 'awaiting_callback', 'stopping') group by 1`,
    [wanted.orgId],
  )
  return new Map(reserved.read(rows).map(({ budgetId, amount }) => [budgetId, amount]))
}

const known = columns({ known: column.boolean() })

/** Whether the agent is registered, or work has named it: tasks may name agents that nobody has registered. */
export async function isAgentKnown(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: AgentId },
): Promise<boolean> {
  const rows = await connection.query(
    `select exists (select 1 from agent where org_id = $1 and id = $2)
         or exists (select 1 from run where org_id = $1 and agent_id = $2) as known`,
    [asked.orgId, asked.id],
  )
  return known.only(rows).known
}

const scopeIdOf = (scope: BudgetScope): string | null => {
  switch (scope.kind) {
    case 'org':
      return null
    case 'agent':
      return scope.agentId
    case 'schedule':
      return scope.scheduleId
    case 'owner':
      return `${OWNER}${scope.owner}`
  }
}

/**
 * Nodes of the release before know no budgets of owners, and would fail over the word: on record such a budget is one of
 * an agent that nobody can have, so that it concerns nobody there.
 */
const OWNER = 'owner:'

const storedScope = (scope: BudgetScope): Pick<RowOf<typeof stored>, 'scope' | 'scopeId'> => ({
  scope: scope.kind === 'owner' ? 'agent' : scope.kind,
  scopeId: scopeIdOf(scope),
})

function scopeOf({ scope, scopeId }: Pick<RowOf<typeof stored>, 'scope' | 'scopeId'>): BudgetScope {
  const id = scopeId ?? ''
  switch (scope) {
    case 'org':
      return { kind: 'org' }
    case 'agent':
      return id.startsWith(OWNER)
        ? { kind: 'owner', owner: id.slice(OWNER.length) }
        : { kind: 'agent', agentId: agentId(id) }
    case 'schedule':
      return { kind: 'schedule', scheduleId: scheduleId(id) }
  }
}

function zoneOf(name: string): Zone {
  const zone = parseZone('timezone', name)
  if (!zone.ok) throw new Error(`a budget is stored with the unknown time zone ${name}`)
  return zone.value
}

const budgetOf = ({ starts, used, scope, scopeId, ...row }: RowOf<typeof onRecord>): BudgetOnRecord => ({
  ...row,
  scope: scopeOf({ scope, scopeId }),
  timezone: zoneOf(row.timezone),
  uses: starts.map((start, index) => ({ start, used: used[index] ?? 0 })),
})
