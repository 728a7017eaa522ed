import type { deliveryOperations } from '../../contract/operations/deliveries.ts'
import { findAlerts } from '../../service/alerts.ts'
import { findDeliveries, getDelivery, retryDelivery } from '../../service/deliveries.ts'
import type { HandlersOf } from '../call.ts'

/** Results on their way, and what somebody should look at. */
export const deliveryHandlers: HandlersOf<typeof deliveryOperations> = {
  'deliveries.list': ({ ports, caller, query }) => findDeliveries(ports, caller, query),
  'deliveries.get': ({ ports, caller, params }) => getDelivery(ports, caller, params.id),
  'deliveries.retry': ({ ports, caller, params }) => retryDelivery(ports, caller, params.id),
  'alerts.list': ({ ports, caller, query }) => findAlerts(ports, caller, query),
}
