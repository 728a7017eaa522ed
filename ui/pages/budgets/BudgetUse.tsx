import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BudgetView } from '../../../src/features/budgets/schema.ts'
import type { BudgetForecast } from '../../../src/features/forecast/schema.ts'
import { budgetForecast, FORECAST_DAYS } from '../../api/admin-queries.ts'
import { useSay, useTexts } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

/** What a budget has used in its present period, what is set aside, and where it is going. */
export function BudgetUse({ budget }: { readonly budget: BudgetView }): ReactNode {
  const { say, locale } = useTexts()
  const { unit, amount, period, spent, reserved } = budget
  const text = (value: number): string => value.toLocaleString(locale, { maximumFractionDigits: 6 })
  const part = (value: number): string => `${Math.min(1, value / amount) * 100}%`
  const words = say('budgets.spent', {
    ...{ spent: text(spent), reserved: text(reserved), amount: text(amount) },
    ...{ unit: say(`budgets.unit.${unit}`), period: say(`budgets.period.${period}`) },
  })
  return (
    <div>
      <div className="budget-bar" aria-hidden>
        <span className="budget-spent" data-over={spent >= amount} style={{ width: part(spent) }} />
        <span className="budget-reserved" style={{ width: part(reserved) }} />
      </div>
      <div className="quiet small">{words}</div>
      <Outlook budget={budget} />
    </div>
  )
}

/** Where it is going, on one line: whether it has stopped or will, and what it holds back. */
function Outlook({ budget }: { readonly budget: BudgetView }): ReactNode {
  const say = useSay()
  const forecast = useQuery(budgetForecast).data?.budgets.find(({ budget_id: id }) => id === budget.id)
  const runs = forecast?.held_back_runs ?? 0
  const isBad = stoppedAt(budget) !== null || runs > 0 || (forecast?.used_up_at ?? null) !== null
  return (
    <div className={`budget-outlook small ${isBad ? 'bad' : 'quiet'}`}>
      <Standing {...{ budget, forecast }} />
      {runs > 0 && ` · ${say('forecast.budgetHoldsBack', { runs, days: FORECAST_DAYS })}`}
    </div>
  )
}

/** Since when nothing starts under it, or until when. Null: it has room. */
const stoppedAt = ({ paused_at: paused, alerts, period_end: end }: BudgetView): string | null =>
  paused ?? (alerts.includes('budget_no_room') ? end : null)

interface StandingProps {
  readonly budget: BudgetView
  readonly forecast: BudgetForecast | undefined
}

function Standing({ budget, forecast }: StandingProps): ReactNode {
  const say = useSay()
  const stopped = stoppedAt(budget)
  const at = stopped ?? forecast?.used_up_at ?? forecast?.used_up_at_high ?? null
  if (at === null)
    return forecast === undefined ? null : say(forecast.incomplete ? 'forecast.incomplete' : 'forecast.lasts')
  const coming = forecast?.used_up_at == null ? 'forecast.usedUpHigh' : 'forecast.usedUp'
  const words = stopped === null ? coming : budget.paused_at === null ? 'budgets.noRoom' : 'budgets.paused'
  return (
    <>
      {say(words)} <Time at={at} zone={budget.timezone} />
    </>
  )
}
