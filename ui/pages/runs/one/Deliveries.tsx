import { IconCircleCheck, IconCircleMinus, IconClock, IconPlayerPause, IconSquareX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { DeliveryTryView, DeliveryView } from '../../../../src/features/deliveries/schema.ts'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { Panel } from '../../../parts/Panel.tsx'
import { Sentence } from '../../../parts/Sentence.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { spanText } from '../../../time/span.ts'
import { Time } from '../../../time/Time.tsx'

const ICONS: Readonly<Record<DeliveryView['status'], typeof IconClock>> = {
  ...{ pending: IconClock, held: IconPlayerPause, delivered: IconCircleCheck, failed: IconSquareX },
  kept: IconCircleMinus,
}

/** Where the result was carried, try by try. */
export function Deliveries({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  // A run that goes on has nothing to carry yet.
  if (run.deliveries.length === 0 && isPending(run)) return null
  return (
    <Panel title={say('run.deliveries')}>
      {run.deliveries.length === 0 ? (
        <p className="panel-none">{say('run.noDeliveries')}</p>
      ) : (
        <ul className="rows">
          {run.deliveries.map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Delivery({ delivery }: { readonly delivery: DeliveryView }): ReactNode {
  const say = useSay()
  const { status, tries, next_try_at: next } = delivery
  const Icon = ICONS[status]
  return (
    <li className="delivery">
      <div className="delivery-head" data-status={status}>
        <Icon size={16} aria-hidden />
        <strong>{say(`run.delivery.${status}`)}</strong>
        <span className="delivery-to">{delivery.target_id ?? delivery.url ?? say('run.delivery.callback')}</span>
        <span className="quiet">
          <Time at={next ?? delivery.finished_at ?? delivery.created_at} />
        </span>
      </div>
      <p className="delivery-why">
        <Sentence why={delivery.why} />
      </p>
      {tries.length > 0 && (
        <details>
          <summary>{say('run.delivery.tries', { count: tries.length })}</summary>
          <ol className="tries">
            {tries.map((one) => (
              <Try key={one.number} one={one} />
            ))}
          </ol>
        </details>
      )}
    </li>
  )
}

function Try({ one }: { readonly one: DeliveryTryView }): ReactNode {
  const say = useSay()
  const { number, status_code: code, error_code: error, message, duration_ms: duration } = one
  return (
    <li>
      <span>{say('run.delivery.try', { count: number })}</span>
      <Time at={one.started_at} show="short" />
      <span className="quiet">{say('run.delivery.took', { span: spanText(duration, say) })}</span>
      {code !== null && <span className="tag">{code}</span>}
      {error !== null && <span className="tag">{error}</span>}
      {message !== null && <span className="tries-message">{message}</span>}
    </li>
  )
}
