import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { providerList } from '../../api/admin-queries.ts'
import { useMay } from '../../api/session.ts'
import { Panel } from '../../parts/Panel.tsx'
import { ProviderState, QuotaLevel } from '../../parts/ProviderState.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

/** Providers: how much of each quota is left, and what waits until when. Empty if there are none. */
export function ProviderPanel(): ReactNode {
  const say = useSay()
  const providers = useQuery({ ...providerList, enabled: useMay('budgets:read') }).data?.items ?? []
  if (providers.length === 0) return null
  return (
    <Panel title={say('providers.panel')}>
      <ul className="rows">
        {providers.map((provider) => (
          <li key={provider.name} className="provider-row">
            <span className="share-name">{provider.name}</span>
            <div className="provider-levels">
              <ProviderState provider={provider} />
              {provider.requests_per_minute !== null && (
                <QuotaLevel left={provider.requests_left} of={provider.requests_per_minute} unit="requests" />
              )}
              {provider.tokens_per_minute !== null && (
                <QuotaLevel left={provider.tokens_left} of={provider.tokens_per_minute} unit="tokens" />
              )}
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
