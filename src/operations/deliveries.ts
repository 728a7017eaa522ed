import { z } from 'zod'
import { id } from '../contract/common.ts'
import { alertFilter, alertPage } from '../contract/alert.ts'
import { delivery, deliveryFilter, deliveryPage } from '../contract/delivery.ts'
import { operation } from '../contract/operation.ts'

const one = z.strictObject({ id })
const reading = { method: 'GET', tag: 'deliveries', permission: ['runs:read', 'schedules:read'] } as const

/** Results on their way, and what somebody should look at. */
export const deliveryOperations = {
  'deliveries.list': operation({
    ...{ ...reading, path: '/api/v1/deliveries' },
    summary: 'Lists deliveries with their tries, newest first',
    description: 'A caller with schedules:read and without runs:read gets what runs of schedules have delivered.',
    query: deliveryFilter,
    answers: { 200: deliveryPage },
  }),
  'deliveries.get': operation({
    ...{ ...reading, path: '/api/v1/deliveries/:id' },
    summary: 'Shows a delivery with its tries',
    description: 'The delivery of a run of a schedule needs schedules:read or runs:read, any other needs runs:read.',
    params: one,
    answers: { 200: delivery },
    refusals: ['NOT_FOUND'],
  }),
  'deliveries.retry': operation({
    ...{ method: 'POST', path: '/api/v1/deliveries/:id/retry', tag: 'deliveries', permission: 'runs:write' },
    summary: 'Sends a delivery now',
    description:
      'One that was given up or kept begins anew, one that waits is tried at once; the id of the message stays. ' +
      'What has arrived, or is held for a target that is off, is refused.',
    params: one,
    answers: { 202: delivery },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }),
  'alerts.list': operation({
    ...{ method: 'GET', path: '/api/v1/alerts', tag: 'alerts', permission: 'runs:read' },
    summary: 'Lists alerts, newest first',
    description: 'An alert is raised once and clears itself when what it says is over.',
    query: alertFilter,
    answers: { 200: alertPage },
  }),
}
