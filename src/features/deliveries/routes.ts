import { z } from 'zod'
import { id } from '../../api/common.ts'
import { acknowledgeAlert, findAlerts, getAlert, retryAlert, snoozeAlert } from '../alerts/incidents.ts'
import { acknowledgeInput, alert, alertFilter, alertPage, alertRetry, snoozeInput } from '../alerts/schema.ts'
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

const changingAlerts = ['runs:write', 'schedules:run'] as const

/** The API of alerts. */
export const alertOperations = {
  'alerts.list': operation({
    ...{ method: 'GET', path: '/api/v1/alerts', tag: 'alerts', permission: 'runs:read' },
    summary: 'List alerts, newest first',
    description:
      'An alert is raised once and clears when the problem is gone. `streak` and `last_error` are the current values of' +
      " the alert's subject. With `attention`, only open alerts that are neither acknowledged nor snoozed.",
    query: alertFilter,
    answers: { 200: alertPage },
  }).by(({ ports, caller, query }) => findAlerts(ports, caller, query)),
  'alerts.get': operation({
    ...{ method: 'GET', path: '/api/v1/alerts/:id', tag: 'alerts', permission: 'runs:read' },
    summary: 'Get an alert',
    params: one,
    answers: { 200: alert },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getAlert(ports, caller, params.id)),
  'alerts.acknowledge': operation({
    ...{ method: 'POST', path: '/api/v1/alerts/:id/acknowledge', tag: 'alerts', permission: changingAlerts },
    summary: 'Acknowledge an alert',
    description:
      'Tells others that someone is working on the problem. The alert stays open but no longer needs attention. ' +
      'It still clears itself, and the next alert about the same subject is not acknowledged.',
    params: one,
    bodyOptional: true,
    body: acknowledgeInput,
    answers: { 200: alert },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { body: { acknowledged: true } },
  }).by(({ ports, caller, params, body }) => acknowledgeAlert(ports, caller, { id: params.id, input: body })),
  'alerts.snooze': operation({
    ...{ method: 'POST', path: '/api/v1/alerts/:id/snooze', tag: 'alerts', permission: changingAlerts },
    summary: 'Snooze an alert until a time',
    description:
      'Until then, the alert does not need attention. It still clears itself, and its messages to targets do not change.',
    params: one,
    body: snoozeInput,
    answers: { 200: alert },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { body: { until: '2027-01-15T09:00:00Z' } },
  }).by(({ ports, caller, params, body }) => snoozeAlert(ports, caller, { id: params.id, input: body })),
  'alerts.retry': operation({
    ...{ method: 'POST', path: '/api/v1/alerts/:id/retry', tag: 'alerts', permission: 'schedules:run' },
    summary: 'Retry the failed runs behind an alert',
    description:
      'For an open `failures_in_a_row` alert: retries every failed run since the last success that has not been ' +
      'retried yet, oldest first, at most 100 per request. Stops at the first run that is refused.',
    newWork: true,
    params: one,
    answers: { 202: alertRetry },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => retryAlert(ports, caller, params.id)),
}
