import { Menu } from '@mantine/core'
import { IconCoins, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BudgetInput, BudgetView } from '../../../src/features/budgets/schema.ts'
import { budgetList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { agentList } from '../../api/queries.ts'
import { useAct } from '../../api/use-act.ts'
import { changedOf, type FieldSpec } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { BudgetUse } from './BudgetUse.tsx'
import { ForecastPanel } from './ForecastPanel.tsx'
import { ThingList } from '../../forms/ThingList.tsx'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly BudgetView[] = []
const TOUCHES = [['budgets']]

const words = <Word extends string>(all: Readonly<Record<Word, true>>): readonly Word[] => Object.keys(all) as Word[]
const UNITS = words<BudgetView['unit']>({ tokens: true, money: true })
const PERIODS = words<BudgetView['period']>({ day: true, month: true })
const ACTIONS = words<BudgetView['on_exceed']>({ skip: true, queue: true, pause: true })

const CHANGEABLE: readonly FieldSpec[] = [
  { path: 'amount', label: 'budgets.amount', kind: 'number', isRequired: true },
  {
    ...{ path: 'on_exceed', label: 'budgets.exceed', kind: 'choice', isRequired: true },
    choices: ACTIONS.map((value) => ({ value, label: `budgets.exceed.${value}` as const })),
  },
  { path: 'default_reserve', label: 'budgets.reserve', kind: 'number', hint: 'budgets.reserveHint' },
]

const COUNTED: readonly FieldSpec[] = [
  {
    ...{ path: 'unit', label: 'budgets.unit', kind: 'choice', isRequired: true },
    choices: UNITS.map((value) => ({ value, label: `budgets.unit.${value}` as const })),
  },
  {
    ...{ path: 'period', label: 'budgets.period', kind: 'choice', isRequired: true },
    choices: PERIODS.map((value) => ({ value, label: `budgets.period.${value}` as const })),
  },
]

/** What the org, an agent or a schedule may use. */
export function BudgetsSection(): ReactNode {
  const say = useSay()
  const list = useQuery(budgetList)
  const agents = useQuery(agentList).data?.items ?? []
  const { open, show } = useOpen()
  const rows = list.data?.items ?? NONE
  const edited = rows.find(({ id }) => id === open)
  const form = { touches: TOUCHES, saved: say('budgets.saved'), close: () => show(null) }
  const fields: readonly FieldSpec[] = [
    ...COUNTED,
    {
      ...{ path: 'agent_id', label: 'budgets.agent', kind: 'choice', hint: 'budgets.agentHint' },
      choices: agents.map(({ id, name }) => ({ value: id, name })),
    },
    { path: 'schedule_id', label: 'budgets.schedule', kind: 'code' },
    ...CHANGEABLE,
  ]
  return (
    <>
      <ThingList<BudgetView>
        {...{ title: say('budgets.title'), hint: say('budgets.hint'), list, rows, show, touches: TOUCHES }}
        {...{ columns: useColumns(), idOf: ({ id }) => id, nameOf: ({ id }) => id }}
        {...{ permission: 'budgets:write', create: say('budgets.new') }}
        more={(budget) => <Resume budget={budget} />}
        empty={{
          icon: <IconCoins size={22} aria-hidden />,
          title: say('budgets.empty.title'),
          text: say('budgets.hint'),
        }}
        removal={{
          word: say('action.delete'),
          title: ({ unit, period }) =>
            say('budgets.delete.title', { what: `${say(`budgets.unit.${unit}`)}, ${say(`budgets.period.${period}`)}` }),
          text: say('budgets.delete.text'),
          act: ({ id }) => api.budgets.delete(id),
          done: () => say('budgets.deleted'),
        }}
      />
      <ForecastPanel />
      {open === 'new' && (
        <FormDrawer
          {...{ ...form, title: say('budgets.new'), fields: () => fields }}
          thing={{ unit: 'tokens', period: 'day', on_exceed: 'skip' }}
          save={(body) => api.budgets.create(body as unknown as BudgetInput)}
        />
      )}
      {edited !== undefined && (
        <FormDrawer
          {...{ ...form, key: edited.id, title: say('budgets.edit'), fields: () => CHANGEABLE, thing: edited }}
          save={(body) => api.budgets.update(edited.id, changedOf(body, { ...edited }))}
        />
      )}
    </>
  )
}

function useColumns(): readonly Column<BudgetView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(140px, 1fr)', header: say('budgets.of') },
      cell: ({ scope, agent_id: agent, schedule_id: schedule, owner }) => (
        <div>
          <div className="thing-name">{say(`budgets.scope.${scope}`)}</div>
          <div className="quiet small">{agent ?? owner ?? (schedule === null ? null : <ShortId id={schedule} />)}</div>
        </div>
      ),
    },
    {
      ...{ id: 'use', width: 'minmax(200px, 2fr)', header: say('budgets.use') },
      cell: (budget) => <BudgetUse budget={budget} />,
    },
    {
      ...{ id: 'exceed', width: '150px', header: say('budgets.exceed') },
      cell: ({ on_exceed: action }) => say(`budgets.exceed.${action}`),
    },
    {
      ...{ id: 'end', width: '130px', header: say('budgets.renews'), cardLabel: say('budgets.renews') },
      cell: ({ period_end: at, timezone }) => <Time at={at} zone={timezone} />,
    },
  ]
}

/** Only a budget that stands still can be let go on. */
function Resume({ budget }: { readonly budget: BudgetView }): ReactNode {
  const say = useSay()
  const resume = useAct({
    act: () => api.budgets.resume(budget.id),
    touches: [...TOUCHES, ['alerts'], ['audit']],
    told: () => ({ tone: 'done', message: say('budgets.resumed') }),
  })
  if (budget.paused_at === null) return null
  return (
    <Permitted permission="budgets:write">
      <Menu.Item leftSection={<IconPlayerPlay size={15} aria-hidden />} onClick={() => resume.run(undefined)}>
        {say('budgets.resume')}
      </Menu.Item>
    </Permitted>
  )
}
