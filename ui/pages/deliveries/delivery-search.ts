import type { DeliveryView } from '../../../src/features/deliveries/schema.ts'
import { textsOf } from '../../parts/search-texts.ts'

/** How deliveries can stand, in the order in which people look for them. */
export const DELIVERY_STATES = [
  'pending',
  'held',
  'failed',
  'kept',
  'delivered',
] as const satisfies readonly DeliveryView['status'][]

/** Which deliveries are shown, and which one is open. */
export interface DeliverySearch {
  readonly status?: DeliveryView['status']
  readonly target_id?: string
  readonly run_id?: string
  readonly delivery?: string
}

/** Reads the address; what makes no sense is left out. */
export function readDeliverySearch(given: Readonly<Record<string, unknown>>): DeliverySearch {
  const status = DELIVERY_STATES.find((word) => word === given['status'])
  return {
    ...textsOf(given, ['target_id', 'run_id', 'delivery']),
    ...(status === undefined ? {} : { status }),
  }
}
