import type { Command } from 'commander'
import { deliveryFilter, type DeliveryTryView, type DeliveryView } from './schema.ts'
import { paintState } from '../../cli/output/style.ts'
import { oneLine } from '../../cli/output/text.ts'
import { relativeTimeText, durationText, cliTimeText } from '../../cli/output/times.ts'
import { filtersOf } from '../../cli/remote/schema-options.ts'
import { commandOf, type CliContext } from '../../cli/remote/call.ts'
import { addAction, addGet, addList } from '../../cli/resource.ts'

/** `escapement deliveries …`: deliveries of results to targets. */
export function addDeliveries(group: Command, cli: CliContext): void {
  addList<DeliveryView>(cli, commandOf(group, 'list', 'list deliveries, newest first'), {
    filter: filtersOf(deliveryFilter),
    none: 'No deliveries. A schedule with --deliver-to creates them.',
    read: (call, query) => call.client.deliveries.list(query),
    columns: ({ now, style }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'STATUS', value: ({ status }) => status, paint: (text) => paintState(style, text) },
      { title: 'SOURCE', value: subjectOf },
      { title: 'TO', value: receiverOf, flexible: true },
      { title: 'ATTEMPTS', value: ({ tries }) => String(tries.length), right: true },
      { title: 'NEXT ATTEMPT', value: ({ next_try_at }) => relativeTimeText(next_try_at, now) },
      { title: 'CREATED', value: ({ created_at }) => relativeTimeText(created_at, now) },
      { title: 'WHY', value: ({ sentence }) => oneLine(sentence), flexible: true },
    ],
  })
  addGet<DeliveryView>(cli, commandOf(group, 'get <id>', 'show a delivery and its attempts'), {
    read: (call, [id = '']) => call.client.deliveries.get(id),
    facts: ({ now, style }, delivery) => [
      ['id', delivery.id],
      ['status', paintState(style, delivery.status)],
      ['why', delivery.sentence],
      ['source', subjectOf(delivery)],
      ['digest', delivery.digest_id],
      ['to', receiverOf(delivery)],
      ['message id', delivery.message_id],
      ['next attempt', cliTimeText(delivery.next_try_at, now)],
      ['created', cliTimeText(delivery.created_at, now)],
      ['ended', cliTimeText(delivery.finished_at, now)],
      ['attempts', delivery.tries.length === 0 ? null : delivery.tries.map(tryText).join('\n')],
    ],
  })
  addAction(cli, commandOf(group, 'retry <id>', 'retry a delivery now'), {
    call: (call, [id = '']) => call.client.deliveries.retry(id),
    resultText: (_, id) => `Retrying ${id}.`,
  })
}

const subjectOf = ({ run_id, alert_id, digest }: DeliveryView): string =>
  run_id ?? alert_id ?? (digest ? 'digest' : '-')

const receiverOf = ({ target_id, url }: DeliveryView): string => target_id ?? url ?? '-'

const tryText = ({ number, started_at, duration_ms, status_code, message }: DeliveryTryView): string =>
  `${number}  ${started_at}  ${durationText(duration_ms)}  ${message === null ? `status ${status_code ?? '-'}` : oneLine(message)}`
