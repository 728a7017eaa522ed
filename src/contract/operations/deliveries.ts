import { z } from 'zod'
import { id } from '../schemas/common.ts'
import { alertFilter, alertPage, delivery, deliveryFilter, deliveryPage } from '../schemas/delivery.ts'
import { operation } from './operation.ts'

const one = z.strictObject({ id })

/** Results on their way, and what somebody should look at. */
export const deliveryOperations = {
  'deliveries.list': operation({
    ...{ method: 'GET', path: '/api/v1/deliveries', tag: 'deliveries', permission: 'runs:read' },
    summary: 'Lists deliveries with their tries, newest first',
    query: deliveryFilter,
    answers: { 200: deliveryPage },
  }),
  'deliveries.get': operation({
    ...{ method: 'GET', path: '/api/v1/deliveries/:id', tag: 'deliveries', permission: 'runs:read' },
    summary: 'Shows a delivery with its tries',
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
