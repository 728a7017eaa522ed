import { Button, Drawer } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { DeliveryTryView, DeliveryView } from '../../../src/features/deliveries/schema.ts'
import { deliveryOf } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { useAct } from '../../api/use-act.ts'
import { Copyable } from '../../parts/Copyable.tsx'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { Time } from '../../time/Time.tsx'
import { DeliveryMark } from './DeliveryMark.tsx'

interface DeliveryDrawerProps {
  readonly id: string
  readonly close: () => void
}

/** One delivery: how it stands and why, and everything that was tried. */
export function DeliveryDrawer({ id, close }: DeliveryDrawerProps): ReactNode {
  const say = useSay()
  const { data, error, refetch } = useQuery(deliveryOf(id))
  return (
    <Drawer
      {...{ opened: true, onClose: close, position: 'right', size: 520 }}
      title={say('deliveries.open', { id: id.slice(-6) })}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      {data !== undefined ? (
        <Details delivery={data} />
      ) : error === null ? (
        <Lines count={5} />
      ) : (
        <ErrorState error={error} retry={() => void refetch()} />
      )}
    </Drawer>
  )
}

function Details({ delivery }: { readonly delivery: DeliveryView }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { id, status, why, run_id: run, message_id: message, next_try_at: next, tries } = delivery
  const retry = useAct({
    act: () => api.deliveries.retry(id),
    touches: [['deliveries'], ['runs', 'get']],
    told: () => ({ tone: 'done', message: say('deliveries.retried') }),
  })
  return (
    <div className="details">
      <div className="details-head">
        <DeliveryMark status={status} />
        <span className="tag">{why.reason}</span>
      </div>
      <p>
        <Sentence why={why} />
      </p>
      {next !== null && (
        <p>
          {say('deliveries.next')} <Time at={next} show="both" />
        </p>
      )}
      <dl className="operation-facts">
        {run !== null && (
          <>
            <dt>{say('deliveries.run')}</dt>
            <dd>
              <Door to={doors.run(run)} className="door door-seen">
                <ShortId id={run} />
              </Door>
            </dd>
          </>
        )}
        <dt>{say('deliveries.message')}</dt>
        <dd>
          <ShortId id={message} /> <Copyable text={message} name={say('deliveries.message')} />
        </dd>
      </dl>
      <Permitted permission="runs:write">
        <Button
          {...{ leftSection: <IconSend size={14} aria-hidden />, loading: retry.isPending, variant: 'default' }}
          disabled={status === 'delivered' || status === 'held'}
          onClick={() => retry.run(undefined)}
        >
          {say('deliveries.retry')}
        </Button>
      </Permitted>
      <Tries tries={tries} />
    </div>
  )
}

function Tries({ tries }: { readonly tries: readonly DeliveryTryView[] }): ReactNode {
  const say = useSay()
  if (tries.length === 0) return <p className="quiet">{say('deliveries.noTries')}</p>
  return (
    <ol className="operation-tries">
      {[...tries].reverse().map((one) => (
        <li key={one.number}>
          {one.delivered ? (
            <IconCheck size={15} color="var(--success)" aria-hidden />
          ) : (
            <IconAlertTriangle size={15} color="var(--failure)" aria-hidden />
          )}
          <div className="try">
            <div>
              <strong>{say('deliveries.try', { number: one.number })}</strong>{' '}
              {one.status_code !== null && say('deliveries.answer', { code: String(one.status_code) })}{' '}
              {one.error_code !== null && <span className="tag">{one.error_code}</span>}
            </div>
            {one.message !== null && <div className="try-message">{one.message}</div>}
            <div className="quiet small">
              <Time at={one.started_at} /> · {say('deliveries.took', { span: spanText(one.duration_ms, say) })}
            </div>
          </div>
        </li>
      ))}
    </ol>
  )
}
