import { IconCloudComputing } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ProviderInput, ProviderView } from '../../../src/features/providers/schema.ts'
import { providerList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { changedOf, type FieldSpec } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { ProviderState, QuotaLevel } from '../../parts/ProviderState.tsx'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { ThingList } from '../../forms/ThingList.tsx'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly ProviderView[] = []
const TOUCHES = [['providers'], ['agents']]

const QUOTAS: readonly FieldSpec[] = [
  {
    ...{ path: 'requests_per_minute', label: 'providers.requestsPerMinute', kind: 'number' },
    ...{ hint: 'providers.requestsHint', whenEmpty: 'null' },
  },
  {
    ...{ path: 'tokens_per_minute', label: 'providers.tokensPerMinute', kind: 'number' },
    ...{ hint: 'providers.tokensHint', whenEmpty: 'null' },
  },
  {
    ...{ path: 'max_concurrent', label: 'providers.maxConcurrent', kind: 'number' },
    ...{ hint: 'providers.maxConcurrentHint', whenEmpty: 'null' },
  },
]

const FIELDS: readonly FieldSpec[] = [
  {
    ...{ path: 'name', label: 'providers.name', kind: 'code', isRequired: true },
    ...{ hint: 'providers.nameHint', example: 'openai' },
  },
  ...QUOTAS,
]

/** What several agents call, and how much of it they may still use this minute. */
export function ProvidersSection(): ReactNode {
  const say = useSay()
  const list = useQuery(providerList)
  const { open, show } = useOpen()
  const rows = list.data?.items ?? NONE
  const edited = rows.find(({ name }) => name === open)
  const form = { touches: TOUCHES, saved: say('providers.saved'), close: () => show(null) }
  return (
    <>
      <ThingList<ProviderView>
        {...{ title: say('providers.title'), hint: say('providers.hint'), list, rows, show, touches: TOUCHES }}
        {...{ columns: useColumns(), idOf: ({ name }) => name, nameOf: ({ name }) => name }}
        {...{ permission: 'budgets:write', create: say('providers.new') }}
        empty={{
          icon: <IconCloudComputing size={22} aria-hidden />,
          title: say('providers.empty.title'),
          text: say('providers.hint'),
        }}
        removal={{
          word: say('action.delete'),
          title: ({ name }) => say('providers.delete.title', { name }),
          text: say('providers.delete.text'),
          act: ({ name }) => api.providers.delete(name),
          done: ({ name }) => say('providers.deleted', { name }),
        }}
      />
      {open === 'new' && (
        <FormDrawer
          {...{ ...form, title: say('providers.new'), fields: () => FIELDS, thing: {} }}
          save={(body) => api.providers.create(body as unknown as ProviderInput)}
        />
      )}
      {edited !== undefined && (
        <FormDrawer
          {...{ ...form, key: edited.name, title: say('providers.edit', { name: edited.name }) }}
          {...{ fields: () => QUOTAS, thing: edited }}
          save={(body) => api.providers.update(edited.name, changedOf(body, { ...edited }))}
        />
      )}
    </>
  )
}

function useColumns(): readonly Column<ProviderView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(130px, 1fr)', header: say('providers.name') },
      cell: ({ name, agents }) => (
        <div>
          <div className="thing-name">{name}</div>
          <div className="quiet small" title={agents.join(', ')}>
            {say('providers.agents', { count: agents.length })}
          </div>
        </div>
      ),
    },
    {
      ...{ id: 'requests', width: 'minmax(150px, 1fr)', header: say('providers.requests') },
      cell: (one) => <QuotaLevel left={one.requests_left} of={one.requests_per_minute} unit="requests" />,
    },
    {
      ...{ id: 'tokens', width: 'minmax(150px, 1fr)', header: say('providers.tokens') },
      cell: (one) => <QuotaLevel left={one.tokens_left} of={one.tokens_per_minute} unit="tokens" />,
    },
    {
      ...{ id: 'now', width: 'minmax(190px, 1.4fr)', header: say('providers.now') },
      cell: (one) => <ProviderState provider={one} />,
    },
  ]
}
