import type { Command } from 'commander'
import type { BudgetInput, BudgetView } from '../../contract/budget.ts'
import type { Instant } from '../../core/instant.ts'
import type { Column } from '../output/table.ts'
import { agoText, momentText } from '../output/times.ts'
import { bodyOf, namesOf, number, valuesOf, withBody, withFields, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { showForecast } from './forecast-look.ts'
import { commandOf, groupOf } from './group.ts'

const CHANGEABLE: readonly FieldOption[] = [
  { flags: '--amount <n>', field: 'amount', read: number, about: 'tokens, or money' },
  { flags: '--on-exceed <action>', field: 'on_exceed', about: 'what happens to work beyond it: skip, queue or pause' },
  { flags: '--reserve <n>', field: 'default_reserve', read: number, about: 'what a run is expected to use at first' },
]

const FIELDS: readonly FieldOption[] = [
  { flags: '--agent <id>', field: 'agent_id', about: 'of an agent; without agent and schedule, of the org' },
  { flags: '--schedule <id>', field: 'schedule_id', about: 'of a schedule' },
  { flags: '--unit <unit>', field: 'unit', about: 'tokens or money' },
  { flags: '--period <period>', field: 'period', about: 'day or month' },
  { flags: '--tz <zone>', field: 'timezone', about: "whose days and months; the org's own zone unless given" },
  ...CHANGEABLE,
]

/** How far a forecast goes. */
export const DAYS: FieldOption = {
  ...{ flags: '--days <n>', field: 'days', read: number, about: 'how many days, 1 to 92 (default 30)' },
}

/** `escapement budgets …`: what runs may use. */
export function addBudgets(program: Command, desk: Desk): void {
  const group = groupOf(program, 'budgets', 'make, see and change what runs may use')
  remote<PageOptions>(desk, withPages(commandOf(group, 'list', 'list budgets and where they stand')), {
    work: async (talk, _, options) => {
      const page = await readPages(talk, options, (asked) => talk.client.budgets.list(asked))
      await showList(talk, page, {
        columns: columnsOf(talk),
        none: 'No budgets: runs use what they want. escapement budgets create --help says how to limit it',
      })
    },
  })
  remote(desk, withFields(commandOf(group, 'forecast', 'say what the next days will use'), [DAYS]), {
    names: namesOf([DAYS]),
    work: async (talk, _, options) =>
      showForecast(talk, await talk.client.budgets.forecast(valuesOf([DAYS], options, talk.terminal.now()))),
  })
  remote(desk, commandOf(group, 'get <id>', 'show a budget'), {
    work: async (talk, [id = '']) => show(talk, await talk.client.budgets.get(id)),
  })
  remote(desk, withBody(commandOf(group, 'create', 'make a budget'), FIELDS, 'new'), {
    names: namesOf(FIELDS),
    work: async (talk, _, options) => {
      const body = await bodyOf(talk.terminal, FIELDS, options)
      await show(talk, await talk.client.budgets.create(body as unknown as BudgetInput))
    },
  })
  remote(desk, withBody(commandOf(group, 'update <id>', 'change a budget'), CHANGEABLE, 'change'), {
    names: namesOf(CHANGEABLE),
    work: async (talk, [id = ''], options) =>
      show(talk, await talk.client.budgets.update(id, await bodyOf(talk.terminal, CHANGEABLE, options))),
  })
  remote(desk, commandOf(group, 'resume <id>', 'let a budget that stands still go on'), {
    work: async (talk, [id = '']) => show(talk, await talk.client.budgets.resume(id)),
  })
  remote(desk, commandOf(group, 'delete <id>', 'delete a budget and what it has counted'), {
    work: async (talk, [id = '']) => {
      await talk.client.budgets.delete(id)
      await showDone(talk, { id, deleted: true }, `${id} is deleted.`)
    },
  })
}

const show = (talk: Talk, budget: BudgetView): Promise<void> => showOne(talk, budget, () => factsOf(talk, budget))

const ownerOf = ({ scope, agent_id: agent, schedule_id: schedule }: BudgetView): string =>
  agent ?? schedule ?? `the whole ${scope}`

function columnsOf({ terminal }: Talk): readonly Column<BudgetView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'OF', of: ownerOf, flexible: true },
    { title: 'UNIT', of: ({ unit }) => unit },
    { title: 'PER', of: ({ period }) => period },
    { title: 'AMOUNT', of: ({ amount }) => String(amount), right: true },
    { title: 'SPENT', of: ({ spent }) => String(spent), right: true },
    { title: 'LEFT', of: ({ remaining }) => String(remaining), right: true },
    { title: 'ENDS', of: ({ period_end }) => agoText(period_end, now) },
    { title: 'BEYOND', of: ({ on_exceed }) => on_exceed },
  ]
}

const factsOf = ({ terminal }: Talk, budget: BudgetView): Facts => [
  ['id', budget.id],
  ['of', ownerOf(budget)],
  ['amount', `${budget.amount} ${budget.unit} per ${budget.period} (${budget.timezone})`],
  ['spent', String(budget.spent)],
  ['set aside', String(budget.reserved)],
  ['left', String(budget.remaining)],
  ['period ends', momentText(budget.period_end, terminal.now())],
  ['beyond it', budget.on_exceed],
  ...(budget.paused_at === null ? [] : [standingStill(budget.paused_at, terminal.now())]),
  ...(budget.alerts.length === 0 ? [] : [['alerts', budget.alerts.join(', ')] as const]),
  ['reserve', String(budget.default_reserve)],
]

const standingStill = (since: string, now: Instant): Facts[number] => [
  'stands still',
  `since ${momentText(since, now)}; escapement budgets resume`,
]
