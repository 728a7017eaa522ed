import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BudgetView } from '../../../src/contract/budget.ts'
import type { BudgetForecast } from '../../../src/contract/forecast.ts'
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

function Outlook({ budget }: { readonly budget: BudgetView }): ReactNode {
  const say = useSay()
  const forecast = useQuery(budgetForecast).data?.budgets.find(({ budget_id: id }) => id === budget.id)
  const stopped = budget.paused_at !== null || budget.alerts.includes('budget_no_room')
  return (
    <>
      {budget.paused_at !== null ? (
        <div className="bad small">
          {say('budgets.paused')} <Time at={budget.paused_at} zone={budget.timezone} />
        </div>
      ) : (
        stopped && (
          <div className="bad small">
            {say('budgets.noRoom')} <Time at={budget.period_end} zone={budget.timezone} />
          </div>
        )
      )}
      {forecast !== undefined && !stopped && <Coming {...{ forecast }} />}
      {forecast !== undefined && forecast.held_back_runs > 0 && (
        <div className="bad small">
          {say('forecast.budgetHoldsBack', { runs: forecast.held_back_runs, days: FORECAST_DAYS })}
        </div>
      )}
    </>
  )
}

function Coming({ forecast }: { readonly forecast: BudgetForecast }): ReactNode {
  const say = useSay()
  const { used_up_at: expected, used_up_at_high: high, timezone, incomplete } = forecast
  const at = expected ?? high
  if (at === null)
    return <div className="quiet small">{incomplete ? say('forecast.incomplete') : say('forecast.lasts')}</div>
  return (
    <div className={expected === null ? 'quiet small' : 'bad small'}>
      {say(expected === null ? 'forecast.usedUpHigh' : 'forecast.usedUp')} <Time at={at} zone={timezone} />
    </div>
  )
}
