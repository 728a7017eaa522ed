import { Button, Select } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { DeliveryView } from '../../../src/features/deliveries/schema.ts'
import { deliveryList, targetList } from '../../api/admin-queries.ts'
import { useMay } from '../../api/session.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import type { Column } from '../../table/column.ts'
import { Listing } from '../../table/Listing.tsx'
import { usePages } from '../../table/use-pages.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { DeliveryDrawer } from './DeliveryDrawer.tsx'
import { DeliveryMark } from './DeliveryMark.tsx'
import { DELIVERY_STATES, readDeliverySearch, type DeliverySearch } from './delivery-search.ts'
import '../../parts/records.css'

/** Results on their way, with every try. */
export function DeliveriesPage(): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/operations/deliveries' })
  const search = useSearch({
    ...{ from: '/shell/operations/deliveries', select: readDeliverySearch, structuralSharing: true },
  })
  const { delivery: open, ...filter } = search
  const list = useInfiniteQuery(deliveryList(filter))
  const { rows, more } = usePages(list)
  const change = (part: { readonly [Name in keyof DeliverySearch]?: string | null }): void => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value != null)
    void navigate({ search: Object.fromEntries(next) as DeliverySearch })
  }
  const show = (id: string): void => change({ delivery: id })
  const columns = useColumns(show)
  return (
    <>
      <PageHead title={say('deliveries.title')} lead={say('deliveries.lead')} />
      <Panel className="deliveries">
        <Filters search={search} change={change} />
        <Listing<DeliveryView>
          {...{ list, rows, columns, onEnd: more, label: say('deliveries.title'), idOf: ({ id }) => id }}
          keys={{ e: ({ id }) => show(id) }}
          empty={<Nothing isFiltered={Object.keys(filter).length > 0} />}
        />
      </Panel>
      {open !== undefined && <DeliveryDrawer id={open} close={() => change({ delivery: null })} />}
    </>
  )
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  const say = useSay()
  const icon = <IconSend size={22} aria-hidden />
  if (isFiltered)
    return <EmptyState icon={icon} title={say('deliveries.none.title')} text={say('deliveries.none.text')} />
  return (
    <EmptyState
      {...{ icon, title: say('deliveries.empty.title'), text: say('deliveries.empty.text') }}
      action={
        <Button
          variant="default"
          renderRoot={(props) => <Link {...props} to="/settings/$section" params={{ section: 'targets' }} />}
        >
          {say('deliveries.empty.action')}
        </Button>
      }
    />
  )
}

interface FiltersProps {
  readonly search: DeliverySearch
  readonly change: (part: { readonly [Name in keyof DeliverySearch]?: string | null }) => void
}

function Filters({ search, change }: FiltersProps): ReactNode {
  const say = useSay()
  const targets = useQuery({ ...targetList, enabled: useMay('targets:read') }).data?.items ?? []
  return (
    <div className="tools" role="search">
      <Select
        {...{ value: search.status ?? null, clearable: true, 'aria-label': say('deliveries.state') }}
        placeholder={say('deliveries.allStates')}
        data={DELIVERY_STATES.map((value) => ({ value, label: say(`deliveries.state.${value}`) }))}
        onChange={(status) => change({ status })}
      />
      <Select
        {...{ value: search.target_id ?? null, clearable: true, searchable: true }}
        aria-label={say('deliveries.target')}
        placeholder={say('deliveries.allTargets')}
        data={targets.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(target) => change({ target_id: target })}
      />
      {search.run_id !== undefined && (
        <Button variant="default" onClick={() => change({ run_id: null })}>
          {say('deliveries.ofRun')} ×
        </Button>
      )}
    </div>
  )
}

function useColumns(show: (id: string) => void): readonly Column<DeliveryView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'status', width: '150px', header: say('deliveries.col.status') },
      cell: ({ id, status }) => (
        <button type="button" className="plain" onClick={() => show(id)}>
          <DeliveryMark status={status} />
        </button>
      ),
    },
    {
      ...{ id: 'to', width: 'minmax(120px, 1fr)', header: say('deliveries.col.to') },
      cell: (delivery) => <Receiver delivery={delivery} />,
    },
    {
      ...{ id: 'why', width: 'minmax(180px, 2fr)', header: say('deliveries.col.why') },
      cell: ({ why }) => <Sentence why={why} />,
    },
    {
      ...{ id: 'tries', width: '90px', header: say('deliveries.col.tries') },
      cell: ({ tries }) => <span className="quiet">{say('deliveries.tries', { count: tries.length })}</span>,
    },
    {
      ...{ id: 'when', width: '110px', header: say('deliveries.col.when') },
      cell: ({ created_at: at }) => <Time at={at} />,
    },
  ]
}

/** Whom it goes to: the name of a target, or the host of a callback. */
export function Receiver({ delivery }: { readonly delivery: DeliveryView }): ReactNode {
  const say = useSay()
  const may = useMay('targets:read')
  const targets = useQuery({ ...targetList, enabled: may && delivery.target_id !== null }).data?.items
  const { target_id: id, url } = delivery
  if (id !== null) {
    const name = targets?.find((target) => target.id === id)?.name
    return name === undefined ? <ShortId id={id} /> : <span className="clipped">{name}</span>
  }
  return (
    <span className="clipped" title={url ?? undefined}>
      {url === null ? delivery.kind : `${say('deliveries.callback')} · ${url.replace(/^https?:\/\//, '')}`}
    </span>
  )
}
