/** How a delivery can stand: on its way, held for a target that is off, there, given up, or not to be sent. */
export const DELIVERY_STATES = ['pending', 'held', 'delivered', 'failed', 'kept'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]
