import type { BudgetAlertKind } from '../../domain/alerts.ts'
import type { Budget, BudgetScope } from '../../domain/budget/budget.ts'
import { agentId, scheduleId, type AgentId, type BudgetId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { parseZone, type Zone } from '../../domain/time/zone.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, table, type RowOf } from '../../platform/db/table.ts'

/** The ids of a budget's open alerts, by kind. */
export type BudgetAlerts = { readonly [Kind in BudgetAlertKind]?: string }

/** A row of `budget`. */
export interface BudgetRow extends Budget {
  readonly orgId: OrgId
  readonly createdAt: Instant
  /** Null: no open alerts. */
  readonly alerts: BudgetAlerts | null
}

const usageColumns = table('usage', { start: column.instant('period_start'), used: column.bigint() })

/** The usage of a budget in one period. */
export type PeriodUsage = RowOf<typeof usageColumns>

const budgetColumns = table('budget', {
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

const budgetUsageColumns = columns({
  ...budgetColumns.definitions,
  starts: column.json<readonly Instant[]>('u.starts'),
  used: column.json<readonly number[]>('u.used'),
})

/** A budget with its usage in the newest stored periods, newest first. */
export interface BudgetWithPeriods extends BudgetRow {
  readonly uses: readonly PeriodUsage[]
}

/**
 * All budgets of the org, oldest first, with the usage of two periods: the current one, which is the newest if it is
 * stored, and the one before in case the server's clock was set back.
 */
export async function loadBudgets(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<readonly BudgetWithPeriods[]> {
  const rows = await connection.query(
    `select ${budgetUsageColumns.of('b')}
     from budget b, lateral (
       select coalesce(array_agg(n.period_start order by n.period_start desc), '{}') as starts,
              coalesce(array_agg(n.used order by n.period_start desc), '{}') as used
       from (select period_start, used from usage where org_id = b.org_id and budget_id = b.id
             order by period_start desc limit 2) n) u
     where b.org_id = $1 order by b.created_at, b.id`,
    [wanted.orgId],
  )
  return budgetUsageColumns.read(rows).map(budgetOf)
}

/** The usage under an id in the newest stored periods, newest first. */
export async function loadPeriodUsages(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: BudgetId },
): Promise<readonly PeriodUsage[]> {
  const rows = await connection.query(
    `select ${usageColumns.list} from usage where org_id = $1 and budget_id = $2 order by period_start desc limit 2`,
    [wanted.orgId, wanted.id],
  )
  return usageColumns.read(rows)
}

const CREATED = budgetColumns.omit('pausedAt', 'alerts')

/** Inserts a budget. False if the id exists. */
export async function insertBudget(tx: Transaction, row: BudgetRow): Promise<boolean> {
  const rows = await tx.query(
    `${CREATED.insert} on conflict (org_id, id) do nothing returning id`,
    CREATED.values({ ...row, ...storedScope(row.scope), timezone: row.timezone.name }),
  )
  return rows.length > 0
}

const EDITED = budgetColumns.pick('amount', 'onExceed', 'defaultReserve', 'pausedAt')

/** Updates the editable columns of a budget. */
export async function saveBudget(tx: Transaction, row: BudgetRow): Promise<void> {
  await tx.query(`update budget set ${EDITED.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...EDITED.values(row),
  ])
}

const ENGINE_STATE = budgetColumns.pick('id', 'pausedAt', 'alerts')

/** Saves the state that the engine changes: when budgets were paused, and their open alerts. */
export function saveBudgetStates(tx: Transaction, orgId: OrgId, states: readonly RowOf<typeof ENGINE_STATE>[]): void {
  tx.send(
    `update budget b set ${ENGINE_STATE.assignedFrom('i')} from unnest(${ENGINE_STATE.arrays(2)}) as i (${ENGINE_STATE.names})
      where b.org_id = $1 and b.id = i.id`,
    [orgId, ...ENGINE_STATE.lists(states)],
  )
}

/** Deletes budgets and their usage. */
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

const usageEntryColumns = table('usage', { budgetId: column.text<BudgetId>(), ...usageColumns.definitions })

/** Usage in the period in which it counts. */
export type UsageEntry = RowOf<typeof usageEntryColumns>

/** Adds usage to budgets. Each budget and period occurs once. */
export function addUsage(tx: Transaction, orgId: OrgId, entries: readonly UsageEntry[]): void {
  tx.send(
    `insert into usage (org_id, ${usageEntryColumns.names}) select $1, * from unnest(${usageEntryColumns.arrays(2)})
     on conflict (org_id, budget_id, period_start) do update set used = usage.used + excluded.used`,
    [orgId, ...usageEntryColumns.lists(entries)],
  )
}

const reserved = columns({
  budgetId: column.text<BudgetId>("r.value ->> 'budgetId'"),
  amount: column.bigint("sum((r.value ->> 'amount')::bigint)::bigint"),
})

/** The amounts reserved by runs in flight, by budget. */
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

const agentExists = columns({ known: column.boolean() })

/** Whether the agent exists or has runs: tasks may name agents that are not registered. */
export async function isAgentKnown(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: AgentId },
): Promise<boolean> {
  const rows = await connection.query(
    `select exists (select 1 from agent where org_id = $1 and id = $2)
         or exists (select 1 from run where org_id = $1 and agent_id = $2) as known`,
    [query.orgId, query.id],
  )
  return agentExists.only(rows).known
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
      return `${OWNER_PREFIX}${scope.owner}`
  }
}

/**
 * Nodes of the previous release do not know the scope `owner` and would fail on it, so such a budget is stored as that
 * of an agent whose id cannot exist.
 */
const OWNER_PREFIX = 'owner:'

const storedScope = (scope: BudgetScope): Pick<RowOf<typeof budgetColumns>, 'scope' | 'scopeId'> => ({
  scope: scope.kind === 'owner' ? 'agent' : scope.kind,
  scopeId: scopeIdOf(scope),
})

function scopeOf({ scope, scopeId }: Pick<RowOf<typeof budgetColumns>, 'scope' | 'scopeId'>): BudgetScope {
  const id = scopeId ?? ''
  switch (scope) {
    case 'org':
      return { kind: 'org' }
    case 'agent':
      return id.startsWith(OWNER_PREFIX)
        ? { kind: 'owner', owner: id.slice(OWNER_PREFIX.length) }
        : { kind: 'agent', agentId: agentId(id) }
    case 'schedule':
      return { kind: 'schedule', scheduleId: scheduleId(id) }
  }
}

function storedZone(name: string): Zone {
  const zone = parseZone('timezone', name)
  if (!zone.ok) throw new Error(`a stored budget has the unknown time zone ${name}`)
  return zone.value
}

const budgetOf = ({ starts, used, scope, scopeId, ...row }: RowOf<typeof budgetUsageColumns>): BudgetWithPeriods => ({
  ...row,
  scope: scopeOf({ scope, scopeId }),
  timezone: storedZone(row.timezone),
  uses: starts.map((start, index) => ({ start, used: used[index] ?? 0 })),
})
