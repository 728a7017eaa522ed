import type {
  BudgetForecast,
  ForecastAmount,
  ForecastFigures,
  ForecastView,
  ScheduleForecast,
} from '../../features/forecast/schema.ts'
import { renderFacts, renderTable, type Column } from '../output/table.ts'
import { printJson, type Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'

const amountText = (amount: ForecastAmount | null): string =>
  amount === null ? 'unknown' : `${amount.expected} (at most ${amount.high})`

const short = (amount: ForecastAmount | null): string => (amount === null ? '-' : String(amount.expected))

/** What is expected, in one line. */
export const figuresText = ({ runs, tokens, cost }: ForecastFigures): string =>
  `${runs} runs, tokens ${amountText(tokens)}, cost ${amountText(cost)}`

/** What budgets hold back; null where that is nothing. */
const heldBackText = (heldBack: ForecastFigures): string | null => (heldBack.runs > 0 ? figuresText(heldBack) : null)

const BUDGETS: readonly Column<BudgetForecast>[] = [
  { title: 'BUDGET', of: ({ budget_id: id }) => id },
  { title: 'OF', of: ({ agent_id: agent, schedule_id: schedule, scope }) => agent ?? schedule ?? `the whole ${scope}` },
  { title: 'AMOUNT', of: ({ amount, unit, period }) => `${amount} ${unit}/${period}`, right: true },
  { title: 'USED UP', of: ({ used_up_at: at }) => at?.slice(0, 10) ?? 'not expected' },
  { title: 'THEN', of: ({ on_exceed }) => on_exceed },
  { title: 'HELD BACK', of: ({ held_back_runs: runs }) => String(runs), right: true },
  { title: 'WHAT THAT MEANS', of: ({ sentence }) => sentence, flexible: true },
]

const SOURCES: readonly Column<ForecastView['sources'][number]>[] = [
  { title: 'WHAT', of: ({ kind }) => kind },
  { title: 'NAME', of: ({ name }) => name, flexible: true },
  { title: 'AGENT', of: ({ agent_id: agent }) => agent },
  { title: 'RUNS', of: ({ runs }) => String(runs), right: true },
  { title: 'HELD BACK', of: ({ held_back_runs: runs }) => String(runs), right: true },
  { title: 'TOKENS', of: ({ tokens }) => short(tokens), right: true },
  { title: 'COST', of: ({ cost }) => short(cost), right: true },
  { title: 'BASED ON', of: ({ based_on: basis }) => basisText(basis.tokens, basis.runs) },
]

const basisText = (source: string, runs: number): string =>
  source === 'schedule' || source === 'agent' ? `${runs} runs of the ${source}` : source.replace('_', ' ')

const spanOf = ({ from, to, timezone }: Pick<ForecastView, 'from' | 'to' | 'timezone'>): Facts => [
  ['from', from],
  ['to', `${to} (${timezone})`],
]

/** So many sources are shown; all of them are in the JSON. */
const MOST_SHOWN = 20

/** Shows what the next days of an org will use. */
export async function showForecast(talk: Talk, view: ForecastView): Promise<void> {
  if (talk.json) return printJson(talk, view)
  const facts: Facts = [
    ...spanOf(view),
    ['expected', figuresText(view.total)],
    ['held back by budgets', heldBackText(view.held_back)],
  ]
  await talk.print(renderFacts(facts, talk))
  if (view.sources.length > 0) await talk.print(`\n${renderTable(SOURCES, view.sources.slice(0, MOST_SHOWN), talk)}`)
  if (view.sources.length > MOST_SHOWN) await talk.note(`And ${view.sources.length - MOST_SHOWN} more: --json\n`)
  if (view.budgets.length > 0) await talk.print(`\n${renderTable(BUDGETS, view.budgets, talk)}`)
  for (const note of view.notes) await talk.note(`${note}\n`)
}

/** Shows what a schedule would use, before it is saved. */
export async function showDraftForecast(talk: Talk, view: ScheduleForecast): Promise<void> {
  if (talk.json) return printJson(talk, view)
  await talk.print(
    renderFacts(
      [
        ...spanOf(view),
        ['expected', figuresText(view.figures)],
        ['held back by budgets', heldBackText(view.held_back)],
        ['as it is', view.before === null ? null : figuresText(view.before)],
        ['based on', basisText(view.based_on.tokens, view.based_on.runs)],
      ],
      talk,
    ),
  )
  if (view.budgets.length > 0)
    await talk.print(
      `\n${renderTable(
        BUDGETS,
        view.budgets.map(({ after }) => after),
        talk,
      )}`,
    )
  for (const note of [...view.warnings, ...view.notes]) await talk.note(`${note}\n`)
}
