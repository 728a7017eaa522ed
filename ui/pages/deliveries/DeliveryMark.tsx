import { IconAlertTriangle, IconCheck, IconClock, IconInbox, IconPlayerPause } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { DeliveryView } from '../../../src/features/deliveries/schema.ts'
import { useSay } from '../../texts/TextProvider.tsx'

const MARKS: Readonly<Record<DeliveryView['status'], readonly [icon: typeof IconCheck, color: string]>> = {
  pending: [IconClock, 'var(--accent)'],
  held: [IconPlayerPause, 'var(--late)'],
  delivered: [IconCheck, 'var(--success)'],
  failed: [IconAlertTriangle, 'var(--failure)'],
  kept: [IconInbox, 'var(--quiet)'],
}

/** How a delivery stands: a shape, a colour and a word. */
export function DeliveryMark({ status }: Pick<DeliveryView, 'status'>): ReactNode {
  const say = useSay()
  const [Icon, color] = MARKS[status]
  return (
    <span className="outcome">
      <Icon size={15} color={color} aria-hidden />
      {say(`deliveries.state.${status}`)}
    </span>
  )
}
