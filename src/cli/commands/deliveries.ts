import type { Command } from 'commander'
import { alertFilter, type AlertView } from '../../features/alerts/schema.ts'
import { deliveryFilter, type DeliveryTryView, type DeliveryView } from '../../features/deliveries/schema.ts'
import { paintState } from '../output/style.ts'
import { oneLine } from '../output/text.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import { filtersOf } from '../remote/schema-options.ts'
import { commandOf, type Desk } from '../remote/talk.ts'
import { addAction, addGet, addList } from '../resource.ts'

/** `escapement deliveries …`: results on their way. */
export function addDeliveries(group: Command, desk: Desk): void {
  addList<DeliveryView>(desk, commandOf(group, 'list', 'list deliveries, newest first'), {
    filter: filtersOf(deliveryFilter),
    none: 'No deliveries. A schedule with --deliver-to makes them',
    read: (talk, query) => talk.client.deliveries.list(query),
    columns: ({ now, style }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'STATUS', of: ({ status }) => status, paint: (text) => paintState(style, text) },
      { title: 'OF', of: subjectOf },
      { title: 'TO', of: receiverOf, flexible: true },
      { title: 'TRIES', of: ({ tries }) => String(tries.length), right: true },
      { title: 'NEXT', of: ({ next_try_at }) => agoText(next_try_at, now) },
      { title: 'MADE', of: ({ created_at }) => agoText(created_at, now) },
      { title: 'WHY', of: ({ sentence }) => oneLine(sentence), flexible: true },
    ],
  })
  addGet<DeliveryView>(desk, commandOf(group, 'get <id>', 'show a delivery and its attempts'), {
    read: (talk, [id = '']) => talk.client.deliveries.get(id),
    facts: ({ now, style }, delivery) => [
      ['id', delivery.id],
      ['status', paintState(style, delivery.status)],
      ['why', delivery.sentence],
      ['of', subjectOf(delivery)],
      ['part of', delivery.digest_id],
      ['to', receiverOf(delivery)],
      ['message id', delivery.message_id],
      ['next try', momentText(delivery.next_try_at, now)],
      ['made', momentText(delivery.created_at, now)],
      ['ended', momentText(delivery.finished_at, now)],
      ['tries', delivery.tries.length === 0 ? null : delivery.tries.map(tryText).join('\n')],
    ],
  })
  addAction(desk, commandOf(group, 'retry <id>', 'send a delivery again, now'), {
    call: (talk, [id = '']) => talk.client.deliveries.retry(id),
    say: (_, id) => `${id} is on its way.`,
  })
}

const subjectOf = ({ run_id, alert_id, digest }: DeliveryView): string =>
  run_id ?? alert_id ?? (digest ? 'digest' : '-')

const receiverOf = ({ target_id, url }: DeliveryView): string => target_id ?? url ?? '-'

const tryText = ({ number, started_at, duration_ms, status_code, message }: DeliveryTryView): string =>
  `${number}  ${started_at}  ${lengthText(duration_ms)}  ${message === null ? `answered ${status_code ?? '-'}` : oneLine(message)}`

/** `escapement alerts …`: what needs attention. */
export function addAlerts(group: Command, desk: Desk): void {
  addList<AlertView>(desk, commandOf(group, 'list', 'list alerts, newest first'), {
    filter: filtersOf(alertFilter, { subject_id: '--about <id>' }),
    none: 'No alerts.',
    read: (talk, query) => talk.client.alerts.list(query),
    columns: ({ now }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'STATUS', of: ({ status }) => status },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'ABOUT', of: ({ subject_id }) => subject_id },
      { title: 'RAISED', of: ({ raised_at }) => agoText(raised_at, now) },
      { title: 'CLEARED', of: ({ cleared_at }) => agoText(cleared_at, now) },
      { title: 'WHY', of: ({ sentence }) => oneLine(sentence), flexible: true },
    ],
  })
}
