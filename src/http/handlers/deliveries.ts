import type { DeliveryView } from '../../contract/delivery.ts'
import type { deliveryOperations } from '../../operations/deliveries.ts'
import { findAlerts } from '../../service/alerts.ts'
import { findDeliveries, getDelivery, retryDelivery } from '../../service/deliveries.ts'
import { getRun } from '../../service/runs-read.ts'
import type { Call, HandlersOf } from '../call.ts'
import { requirePermission } from '../gate.ts'
import { readsAllRuns } from './runs.ts'

type Reading = Pick<Call<(typeof deliveryOperations)['deliveries.get']>, 'ctx' | 'ports' | 'caller' | 'principal'>

/** Readers of schedules read what the runs of schedules deliver; any other delivery is for readers of runs. */
async function get(call: Reading, id: string): Promise<DeliveryView> {
  const { ports, caller } = call
  const found = await getDelivery(ports, caller, id)
  if (readsAllRuns(call)) return found
  const run = found.run_id === null ? null : await getRun(ports, caller.orgId, found.run_id)
  if (run === null || run.schedule_id === null) requirePermission(call, 'runs:read')
  return found
}

/** Results on their way, and what somebody should look at. */
export const deliveryHandlers: HandlersOf<typeof deliveryOperations> = {
  'deliveries.list': (call) =>
    findDeliveries(call.ports, { ...call.caller, onlyOfSchedules: !readsAllRuns(call) }, call.query),
  'deliveries.get': (call) => get(call, call.params.id),
  'deliveries.retry': ({ ports, caller, params }) => retryDelivery(ports, caller, params.id),
  'alerts.list': ({ ports, caller, query }) => findAlerts(ports, caller, query),
}
