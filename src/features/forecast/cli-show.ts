import type { BudgetForecast, ForecastAmount, ForecastFigures, ForecastView, ScheduleForecast } from './schema.ts'
import { renderFacts, renderTable, type Column } from '../../cli/output/table.ts'
import { printJson, type Facts } from '../../cli/remote/show.ts'
import type { CliCall } from '../../cli/remote/call.ts'

const amountText = (amount: ForecastAmount | null): string =>
  amount === null ? 'unknown' : `${amount.expected} (max ${amount.high})`

const shortAmount = (amount: ForecastAmount | null): string => (amount === null ? '-' : String(amount.expected))

/** The expected usage in one line. */
export const figuresText = ({ runs, tokens, cost }: ForecastFigures): string =>
  `${runs} runs, tokens ${amountText(tokens)}, cost ${amountText(cost)}`

/** The usage that budgets hold back; null: none. */
const heldBackText = (heldBack: ForecastFigures): string | null => (heldBack.runs > 0 ? figuresText(heldBack) : null)

const BUDGET_COLUMNS: readonly Column<BudgetForecast>[] = [
  { title: 'BUDGET', value: ({ budget_id: id }) => id },
  {
    title: 'SCOPE',
    value: ({ agent_id: agent, schedule_id: schedule, scope }) => agent ?? schedule ?? `the whole ${scope}`,
  },
  { title: 'AMOUNT', value: ({ amount, unit, period }) => `${amount} ${unit}/${period}`, right: true },
  { title: 'RUNS OUT', value: ({ used_up_at: at }) => at?.slice(0, 10) ?? 'not expected' },
  { title: 'ON EXCEED', value: ({ on_exceed }) => on_exceed },
  { title: 'HELD BACK', value: ({ held_back_runs: runs }) => String(runs), right: true },
  { title: 'DETAIL', value: ({ sentence }) => sentence, flexible: true },
]

const SOURCE_COLUMNS: readonly Column<ForecastView['sources'][number]>[] = [
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'AGENT', value: ({ agent_id: agent }) => agent },
  { title: 'RUNS', value: ({ runs }) => String(runs), right: true },
  { title: 'HELD BACK', value: ({ held_back_runs: runs }) => String(runs), right: true },
  { title: 'TOKENS', value: ({ tokens }) => shortAmount(tokens), right: true },
  { title: 'COST', value: ({ cost }) => shortAmount(cost), right: true },
  { title: 'BASED ON', value: ({ based_on: basis }) => basisText(basis.tokens, basis.runs) },
]

const basisText = (source: string, runs: number): string =>
  source === 'schedule' || source === 'agent' ? `${runs} runs of the ${source}` : source.replace('_', ' ')

const windowFacts = ({ from, to, timezone }: Pick<ForecastView, 'from' | 'to' | 'timezone'>): Facts => [
  ['from', from],
  ['to', `${to} (${timezone})`],
]

/** How many sources the table shows; JSON has all. */
const MAX_SHOWN = 20

/** Prints the usage forecast of an org. */
export async function showForecast(call: CliCall, view: ForecastView): Promise<void> {
  if (call.json) return printJson(call, view)
  const facts: Facts = [
    ...windowFacts(view),
    ['expected', figuresText(view.total)],
    ['held back by budgets', heldBackText(view.held_back)],
  ]
  await call.print(renderFacts(facts, call))
  if (view.sources.length > 0)
    await call.print(`\n${renderTable(SOURCE_COLUMNS, view.sources.slice(0, MAX_SHOWN), call)}`)
  if (view.sources.length > MAX_SHOWN)
    await call.note(`${view.sources.length - MAX_SHOWN} more; show all with --json.\n`)
  if (view.budgets.length > 0) await call.print(`\n${renderTable(BUDGET_COLUMNS, view.budgets, call)}`)
  for (const note of view.notes) await call.note(`${note}\n`)
}

/** Prints the usage forecast of an unsaved schedule. */
export async function showDraftForecast(call: CliCall, view: ScheduleForecast): Promise<void> {
  if (call.json) return printJson(call, view)
  await call.print(
    renderFacts(
      [
        ...windowFacts(view),
        ['expected', figuresText(view.figures)],
        ['held back by budgets', heldBackText(view.held_back)],
        ['currently', view.before === null ? null : figuresText(view.before)],
        ['based on', basisText(view.based_on.tokens, view.based_on.runs)],
      ],
      call,
    ),
  )
  if (view.budgets.length > 0)
    await call.print(
      `\n${renderTable(
        BUDGET_COLUMNS,
        view.budgets.map(({ after }) => after),
        call,
      )}`,
    )
  for (const note of [...view.warnings, ...view.notes]) await call.note(`${note}\n`)
}
