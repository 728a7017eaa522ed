import type { BudgetAlertKind } from '../core/alerts.ts'
import type { Budget, BudgetScope } from '../core/budget/budget.ts'
import { agentId, budgetId, scheduleId, type AgentId, type BudgetId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import { parseZone, type Zone } from '../core/time/zone.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { columnsOf, timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** The open alerts of a budget by kind, with their ids. */
export type BudgetAlerts = { readonly [Kind in BudgetAlertKind]?: string }

/** A row of `budget`. */
export interface BudgetRow extends Budget {
  readonly orgId: OrgId
  readonly createdAt: Instant
  /** Null: none. */
  readonly alerts: BudgetAlerts | null
}

/** What a budget has used in a period. */
export interface PeriodUse {
  readonly start: Instant
  readonly used: number
}

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
    `select b.org_id, b.id, b.scope, b.scope_id, b.unit, b.period, b.timezone, b.amount, b.on_exceed, b.default_reserve,
       b.created_at, b.paused_at, b.alerts, u.starts, u.used
     from budget b, lateral (
       select coalesce(array_agg(n.period_start order by n.period_start desc), '{}') as starts,
              coalesce(array_agg(n.used order by n.period_start desc), '{}') as used
       from (select period_start, used from usage where org_id = b.org_id and budget_id = b.id
             order by period_start desc limit 2) n) u
     where b.org_id = $1 order by b.created_at, b.id`,
    [wanted.orgId],
  )
  return rows.map(budgetOf)
}

/** What was counted under a name in the newest periods on record, the newest first. */
export async function loadPeriodUses(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: BudgetId },
): Promise<readonly PeriodUse[]> {
  const rows = await connection.query(
    `select period_start, used from usage where org_id = $1 and budget_id = $2 order by period_start desc limit 2`,
    [wanted.orgId, wanted.id],
  )
  return rows.map((row) => ({ start: row['period_start'] as Instant, used: row['used'] as number }))
}

/** Makes a budget. False when there is one of this id. */
export async function insertBudget(tx: Transaction, row: BudgetRow): Promise<boolean> {
  const rows = await tx.query(
    `insert into budget (org_id, id, scope, scope_id, unit, period, timezone, amount, on_exceed, default_reserve, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::timestamptz) on conflict (org_id, id) do nothing returning id`,
    [
      ...[row.orgId, row.id, scopeWordOf(row.scope), scopeIdOf(row.scope), row.unit, row.period, row.timezone.name],
      ...[row.amount, row.onExceed, row.defaultReserve, toTimestamp(row.createdAt)],
    ],
  )
  return rows.length > 0
}

/** Writes back what a person may change about a budget. */
export async function saveBudget(tx: Transaction, row: BudgetRow): Promise<void> {
  await tx.query(
    `update budget set amount = $3, on_exceed = $4, default_reserve = $5, paused_at = $6::timestamptz
      where org_id = $1 and id = $2`,
    [row.orgId, row.id, row.amount, row.onExceed, row.defaultReserve, timestampOrNull(row.pausedAt)],
  )
}

/** Writes back what has become of budgets by themselves: since when they stand still, and their open alerts. */
export function saveBudgetStandings(
  tx: Transaction,
  orgId: OrgId,
  standings: readonly Pick<BudgetRow, 'id' | 'pausedAt' | 'alerts'>[],
): void {
  tx.send(
    `update budget b set paused_at = i.paused_at, alerts = i.alerts
       from unnest($2::text[], $3::timestamptz[], $4::jsonb[]) as i (id, paused_at, alerts)
      where b.org_id = $1 and b.id = i.id`,
    [
      orgId,
      ...columnsOf(
        standings,
        ({ id }) => id,
        ({ pausedAt }) => timestampOrNull(pausedAt),
        ({ alerts }) => (alerts === null ? null : JSON.stringify(alerts)),
      ),
    ],
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

/** Something used, in the period in which it counts. */
export interface Spending extends PeriodUse {
  readonly budgetId: BudgetId
}

/** Adds to what budgets have used. Each budget and period is named once. */
export function addUsage(tx: Transaction, orgId: OrgId, spendings: readonly Spending[]): void {
  tx.send(
    `insert into usage (org_id, budget_id, period_start, used)
     select $1, * from unnest($2::text[], $3::timestamptz[], $4::bigint[])
     on conflict (org_id, budget_id, period_start) do update set used = usage.used + excluded.used`,
    [
      orgId,
      ...columnsOf(
        spendings,
        (spending) => spending.budgetId,
        (spending) => toTimestamp(spending.start),
        (spending) => spending.used,
      ),
    ],
  )
}

/** What runs in flight have set aside, by budget. */
export async function loadReserved(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<ReadonlyMap<BudgetId, number>> {
  const rows = await connection.query(
    `select r.value ->> 'budgetId' as budget_id, sum((r.value ->> 'amount')::bigint)::bigint as amount
     from pending p, jsonb_array_elements(p.reserves) r
     where p.org_id = $1 and p.state in ('assigned', 'running', 'awaiting_callback', 'stopping') group by 1`,
    [wanted.orgId],
  )
  return new Map(rows.map((row) => [budgetId(row['budget_id'] as string), row['amount'] as number]))
}

/** Whether the agent is registered, or work has named it: tasks may name agents that nobody has registered. */
export async function isAgentKnown(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: AgentId },
): Promise<boolean> {
  const [row] = await connection.query(
    `select exists (select 1 from agent where org_id = $1 and id = $2)
         or exists (select 1 from run where org_id = $1 and agent_id = $2) as known`,
    [asked.orgId, asked.id],
  )
  return row?.['known'] === true
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

const scopeWordOf = ({ kind }: BudgetScope): string => (kind === 'owner' ? 'agent' : kind)

function scopeOf(row: Row): BudgetScope {
  const id = row['scope_id'] as string
  switch (row['scope'] as Exclude<BudgetScope['kind'], 'owner'>) {
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

function budgetOf(row: Row): BudgetOnRecord {
  const used = row['used'] as readonly number[]
  const starts = row['starts'] as readonly Instant[]
  return {
    orgId: row['org_id'] as OrgId,
    id: budgetId(row['id'] as string),
    scope: scopeOf(row),
    unit: row['unit'] as Budget['unit'],
    amount: row['amount'] as number,
    period: row['period'] as Budget['period'],
    timezone: zoneOf(row['timezone'] as string),
    onExceed: row['on_exceed'] as Budget['onExceed'],
    defaultReserve: row['default_reserve'] as number,
    pausedAt: row['paused_at'] as Instant | null,
    alerts: row['alerts'] as BudgetAlerts | null,
    createdAt: row['created_at'] as Instant,
    uses: starts.map((start, index) => ({ start, used: used[index] ?? 0 })),
  }
}
