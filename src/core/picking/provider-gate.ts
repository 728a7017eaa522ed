import type { ProviderName } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { QuotaWord } from '../quota/quota.ts'
import { because, type Why } from '../../domain/reasons.ts'

/**
 * What a provider lets through. Whoever counts its requests keeps this object right while runs start; picking only looks
 * at it, so that a turn that starts many never starts one too many.
 */
export interface ProviderLoad {
  readonly name: ProviderName
  /** Nothing of it starts before; null or past: no quota holds it up. */
  readonly until: Instant | null
  /** What holds it up until then. */
  readonly quota: QuotaWord
  /** How many of its runs may be in flight; null: any number. */
  readonly limit: number | null
}

/** A provider with its work, as the gate looks at it. */
export interface ProviderStanding {
  readonly load: ProviderLoad
  readonly inFlight: number
  /** Queued runs that call it, whatever holds them up. */
  readonly waiting: number
}

/** Whether as many runs of the provider are in flight as may be. */
export const isProviderFull = ({ load, inFlight }: Pick<ProviderStanding, 'load' | 'inFlight'>): boolean =>
  load.limit !== null && inFlight >= load.limit

/** Whether nothing that calls the provider may start now. */
export const isProviderClosed = (provider: Pick<ProviderStanding, 'load' | 'inFlight'>, now: Instant): boolean =>
  (provider.load.until !== null && provider.load.until > now) || isProviderFull(provider)

/** Why a run that calls a closed provider waits; itself it does not count among those that wait as well. */
export function providerWhy(standing: ProviderStanding | null, now: Instant): Why {
  const { name: provider = '', quota = '', until = null, limit = null } = standing?.load ?? {}
  const inFlight = standing?.inFlight ?? 0
  const behind = Math.max(0, (standing?.waiting ?? 0) - 1)
  return until !== null && until > now
    ? because('provider_quota', 'gate:provider', { provider, quota, until: formatInstant(until), behind })
    : because('provider_limit', 'provider.max_concurrent', { provider, in_flight: inFlight, limit: limit ?? 0, behind })
}
