import type { Command } from 'commander'
import { budgetInput, budgetPatch, type BudgetView } from './schema.ts'
import { forecastFilter } from '../forecast/schema.ts'
import type { Instant } from '../../domain/instant.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import { namesOf, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { filtersOf } from '../../cli/remote/schema-options.ts'
import type { Facts } from '../../cli/remote/show.ts'
import { commandOf, remote, type CliContext, type CliCall } from '../../cli/remote/call.ts'
import { addGet, addResource } from '../../cli/resource.ts'
import { showForecast } from '../forecast/cli-show.ts'

const FORECAST_FIELDS = filtersOf(forecastFilter)

/** `escapement budgets …`: limits on tokens and cost. */
export function addBudgets(group: Command, cli: CliContext): void {
  addResource<BudgetView>(group, cli, {
    singular: 'a budget',
    input: budgetInput,
    patch: budgetPatch,
    operations: ({ budgets }) => budgets,
    flags: { default_reserve: '--reserve <n>' },
    none: 'No budgets, so usage is not limited. Create one: escapement budgets create --unit tokens --amount …',
    descriptions: { delete: 'delete a budget and its usage records' },
    columns: ({ now }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'SCOPE', value: ownerOf, flexible: true },
      { title: 'UNIT', value: ({ unit }) => unit },
      { title: 'PERIOD', value: ({ period }) => period },
      { title: 'AMOUNT', value: ({ amount }) => String(amount), right: true },
      { title: 'SPENT', value: ({ spent }) => String(spent), right: true },
      { title: 'LEFT', value: ({ remaining }) => String(remaining), right: true },
      { title: 'RESETS', value: ({ period_end }) => relativeTimeText(period_end, now) },
      { title: 'ON EXCEED', value: ({ on_exceed }) => on_exceed },
    ],
    facts: budgetFacts,
  })
  remote(cli, withFields(commandOf(group, 'forecast', 'forecast usage, and when budgets run out'), FORECAST_FIELDS), {
    names: namesOf(FORECAST_FIELDS),
    work: async (call, _, options) =>
      showForecast(call, await call.client.budgets.forecast(valuesOf(FORECAST_FIELDS, options, call.now))),
  })
  addGet(cli, commandOf(group, 'resume <id>', 'resume a paused budget'), {
    facts: budgetFacts,
    read: (call, [id = '']) => call.client.budgets.resume(id),
  })
}

const ownerOf = ({ scope, agent_id: agent, schedule_id: schedule }: BudgetView): string =>
  agent ?? schedule ?? `the whole ${scope}`

const budgetFacts = ({ now }: CliCall, budget: BudgetView): Facts => [
  ['id', budget.id],
  ['scope', ownerOf(budget)],
  ['amount', `${budget.amount} ${budget.unit} per ${budget.period} (${budget.timezone})`],
  ['spent', String(budget.spent)],
  ['reserved', String(budget.reserved)],
  ['left', String(budget.remaining)],
  ['resets', cliTimeText(budget.period_end, now)],
  ['on exceed', budget.on_exceed],
  ['paused', budget.paused_at === null ? null : pausedText(budget.paused_at, now)],
  ['alerts', budget.alerts.length === 0 ? null : budget.alerts.join(', ')],
  ['default reserve', String(budget.default_reserve)],
]

const pausedText = (since: string, now: Instant): string =>
  `since ${cliTimeText(since, now) ?? ''}; resume with escapement budgets resume`
