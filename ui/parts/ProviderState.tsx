import type { ReactNode } from 'react'
import type { ProviderView } from '../../src/features/providers/schema.ts'
import { useTexts } from '../texts/TextProvider.tsx'
import { Time } from '../time/Time.tsx'
import './provider-state.css'

interface QuotaLevelProps {
  /** What is left, below 0 what is owed; null: there is no quota. */
  readonly left: number | null
  readonly of: number | null
  readonly unit: 'requests' | 'tokens'
}

/** How full a bucket is: a bar, and the words for it. */
export function QuotaLevel({ left, of, unit: counted }: QuotaLevelProps): ReactNode {
  const { say, locale } = useTexts()
  const unit = say(`providers.unit.${counted}`)
  if (of === null || left === null) return <span className="quiet">{say('providers.noQuota', { unit })}</span>
  const text = (value: number): string => value.toLocaleString(locale)
  const part = Math.max(0, Math.min(1, left / of))
  return (
    <div>
      <div className="quota-bar" aria-hidden>
        <span className="quota-left" data-empty={left <= 0} style={{ width: `${part * 100}%` }} />
      </div>
      <div className="quiet small">
        {left < 0
          ? say('providers.owed', { owed: text(-left), of: text(of), unit })
          : say('providers.left', { left: text(left), of: text(of), unit })}
      </div>
    </div>
  )
}

type Standing = Pick<ProviderView, 'in_flight' | 'waiting' | 'max_concurrent' | 'closed'>

/** What a provider has to do, and until when its work waits. */
export function ProviderState({ provider }: { readonly provider: Standing }): ReactNode {
  const { say } = useTexts()
  const { in_flight: count, waiting, max_concurrent: limit, closed } = provider
  return (
    <div>
      <div>
        {limit === null ? say('providers.flight', { count }) : say('providers.flightOf', { count, limit })}
        {waiting > 0 && closed === null && ` · ${say('providers.waiting', { count: waiting })}`}
      </div>
      {closed !== null && (
        <div className="small quota-closed">
          {say('providers.waits')} <Time at={closed.until} /> ({say(`providers.quota.${closed.quota}`)})
          {waiting > 0 && `, ${say('providers.behind', { count: waiting })}`}
        </div>
      )}
    </div>
  )
}
