import type { Command } from 'commander'
import { budgetInput, budgetPatch, type BudgetView } from '../../features/budgets/schema.ts'
import { forecastFilter } from '../../features/forecast/schema.ts'
import type { Instant } from '../../domain/instant.ts'
import { agoText, momentText } from '../output/times.ts'
import { namesOf, valuesOf, withFields } from '../remote/fields.ts'
import { filtersOf } from '../remote/schema-options.ts'
import type { Facts } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { addGet, addResource } from '../resource.ts'
import { showForecast } from './forecast-look.ts'

const DAYS = filtersOf(forecastFilter)

/** `escapement budgets …`: what runs may use. */
export function addBudgets(group: Command, desk: Desk): void {
  addResource<BudgetView>(group, desk, {
    one: 'a budget',
    input: budgetInput,
    patch: budgetPatch,
    operations: ({ budgets }) => budgets,
    flags: { default_reserve: '--reserve <n>' },
    none: 'No budgets: runs are not limited. Create one: escapement budgets create --unit tokens --amount …',
    about: { delete: 'delete a budget and its usage' },
    columns: ({ now }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'OF', of: ownerOf, flexible: true },
      { title: 'UNIT', of: ({ unit }) => unit },
      { title: 'PER', of: ({ period }) => period },
      { title: 'AMOUNT', of: ({ amount }) => String(amount), right: true },
      { title: 'SPENT', of: ({ spent }) => String(spent), right: true },
      { title: 'LEFT', of: ({ remaining }) => String(remaining), right: true },
      { title: 'ENDS', of: ({ period_end }) => agoText(period_end, now) },
      { title: 'BEYOND', of: ({ on_exceed }) => on_exceed },
    ],
    facts,
  })
  remote(desk, withFields(commandOf(group, 'forecast', 'forecast usage and when budgets run out'), DAYS), {
    names: namesOf(DAYS),
    work: async (talk, _, options) =>
      showForecast(talk, await talk.client.budgets.forecast(valuesOf(DAYS, options, talk.now))),
  })
  addGet(desk, commandOf(group, 'resume <id>', 'resume a paused budget'), {
    facts,
    read: (talk, [id = '']) => talk.client.budgets.resume(id),
  })
}

const ownerOf = ({ scope, agent_id: agent, schedule_id: schedule }: BudgetView): string =>
  agent ?? schedule ?? `the whole ${scope}`

const facts = ({ now }: Talk, budget: BudgetView): Facts => [
  ['id', budget.id],
  ['of', ownerOf(budget)],
  ['amount', `${budget.amount} ${budget.unit} per ${budget.period} (${budget.timezone})`],
  ['spent', String(budget.spent)],
  ['set aside', String(budget.reserved)],
  ['left', String(budget.remaining)],
  ['period ends', momentText(budget.period_end, now)],
  ['beyond it', budget.on_exceed],
  ['stands still', budget.paused_at === null ? null : pausedText(budget.paused_at, now)],
  ['alerts', budget.alerts.length === 0 ? null : budget.alerts.join(', ')],
  ['reserve', String(budget.default_reserve)],
]

const pausedText = (since: string, now: Instant): string =>
  `since ${momentText(since, now) ?? ''}; escapement budgets resume`
