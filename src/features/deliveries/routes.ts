import { z } from 'zod'
import { id } from '../../api/common.ts'
import { delivery, deliveryFilter, deliveryPage, type DeliveryView } from './schema.ts'
import { findDeliveries, getDelivery, retryDelivery } from './service.ts'
import { getRun } from '../runs/service.ts'
import { requirePermission } from '../../operations/perform.ts'
import { type CallIdentity, operation } from '../../operations/handler.ts'
import { canReadAllRuns } from '../runs/routes.ts'

const one = z.strictObject({ id })
const reading = { method: 'GET', tag: 'deliveries', permission: ['runs:read', 'schedules:read'] } as const

/** Callers with schedules:read may read the deliveries of scheduled runs; other deliveries require runs:read. */
async function get(call: CallIdentity, id: string): Promise<DeliveryView> {
  const { ports, caller } = call
  const found = await getDelivery(ports, caller, id)
  if (canReadAllRuns(call)) return found
  const run = found.run_id === null ? null : await getRun(ports, caller.orgId, found.run_id)
  if (run === null || run.schedule_id === null) requirePermission(call, 'runs:read')
  return found
}

/** The API of deliveries. */
export const deliveryOperations = {
  'deliveries.list': operation({
    ...{ ...reading, path: '/api/v1/deliveries' },
    summary: 'List deliveries with their tries, newest first',
    description: 'A caller with schedules:read but not runs:read gets the deliveries of scheduled runs.',
    query: deliveryFilter,
    answers: { 200: deliveryPage },
  }).by((call) => findDeliveries(call.ports, { ...call.caller, onlyOfSchedules: !canReadAllRuns(call) }, call.query)),
  'deliveries.get': operation({
    ...{ ...reading, path: '/api/v1/deliveries/:id' },
    summary: 'Get a delivery with its tries',
    description: 'The delivery of a scheduled run requires schedules:read or runs:read, any other requires runs:read.',
    params: one,
    answers: { 200: delivery },
    refusals: ['NOT_FOUND'],
  }).by((call) => get(call, call.params.id)),
  'deliveries.retry': operation({
    ...{ method: 'POST', path: '/api/v1/deliveries/:id/retry', tag: 'deliveries', permission: 'runs:write' },
    summary: 'Send a delivery now',
    description:
      'A failed or unsent delivery starts over, a waiting one is sent at once; the message id stays the same. ' +
      'Delivered messages, and messages held for a disabled target, are refused.',
    params: one,
    answers: { 202: delivery },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => retryDelivery(ports, caller, params.id)),
}
