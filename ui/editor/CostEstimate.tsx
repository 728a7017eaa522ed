import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { BudgetEffect, ForecastAmount, ScheduleForecast } from '../../src/features/forecast/schema.ts'
import { useSay, useTexts } from '../texts/TextProvider.tsx'
import { Time } from '../time/Time.tsx'
import { COST_DAYS, useForecast } from './hooks/use-forecast.ts'

/** What the schedule would use, on what that is based, and which budget it would use up. Nothing until it is known. */
export function CostEstimate({ scheduleId }: { readonly scheduleId: string | null }): ReactNode {
  const say = useSay()
  const forecast = useForecast(scheduleId)
  if (forecast === undefined || isSilent(forecast)) return null
  return (
    <section className="cost" aria-label={say('cost.title')}>
      <h3>{say('cost.title')}</h3>
      <Amounts forecast={forecast} />
      {forecast.held_back.runs > 0 && (
        <p className="bad small">{say('cost.heldBack', { runs: forecast.held_back.runs })}</p>
      )}
      {forecast.budgets.filter(isWorse).map((effect) => (
        <Warning key={effect.after.budget_id} effect={effect} />
      ))}
    </section>
  )
}

/** Of an org that counts nothing nothing is said. */
const isSilent = ({ figures, budgets }: ScheduleForecast): boolean =>
  figures.tokens === null && figures.cost === null && budgets.length === 0

function Amounts({ forecast }: { readonly forecast: ScheduleForecast }): ReactNode {
  const say = useSay()
  const { figures, before, based_on: basis } = forecast
  const unit = figures.cost === null ? 'tokens' : 'cost'
  const source = unit === 'cost' ? basis.cost : basis.tokens
  return (
    <>
      {figures.cost !== null && <Amount name="cost.money" amount={figures.cost} before={before?.cost ?? null} />}
      {figures.tokens !== null && <Amount name="cost.tokens" amount={figures.tokens} before={before?.tokens ?? null} />}
      <p className="quiet small">
        {say('cost.span', { days: COST_DAYS })} {say(`cost.basis.${source}`, { runs: basis.runs })}
      </p>
    </>
  )
}

interface AmountProps {
  readonly name: 'cost.money' | 'cost.tokens'
  readonly amount: ForecastAmount
  readonly before: ForecastAmount | null
}

function Amount({ name, amount, before }: AmountProps): ReactNode {
  const { say, locale } = useTexts()
  const text = (value: number): string =>
    value.toLocaleString(locale, { maximumFractionDigits: value < 10 && name === 'cost.money' ? 2 : 0 })
  const changes = before !== null && before.expected !== amount.expected
  return (
    <p className="cost-amount">
      <strong>{say(name, { expected: text(amount.expected) })}</strong>{' '}
      <span className="quiet small">
        {say('cost.atMost', { high: text(amount.high) })}
        {changes && `, ${say('cost.before', { expected: text(before.expected) })}`}
      </span>
    </p>
  )
}

/** A budget that is used up anyway, and no earlier, is no news here. */
const isWorse = ({ before, after }: BudgetEffect): boolean =>
  after.used_up_at !== null && (before?.used_up_at == null || after.used_up_at < before.used_up_at)

function Warning({ effect: { after } }: { readonly effect: BudgetEffect }): ReactNode {
  const { say, locale } = useTexts()
  const { unit, period, amount, on_exceed: action, timezone } = after
  const words = { amount: amount.toLocaleString(locale), unit: say(`budgets.unit.${unit}`) }
  return (
    <p className="cost-warning" role="note">
      <IconAlertTriangle size={14} aria-hidden />
      <span>
        {say('cost.warning', { ...words, period: say(`budgets.period.${period}`) })}{' '}
        {after.used_up_at !== null && <Time at={after.used_up_at} zone={timezone} />}: {say(`cost.then.${action}`)}
      </span>
    </p>
  )
}
