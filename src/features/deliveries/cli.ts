import type { Command } from 'commander'
import { alertFilter, type AlertRetry, type AlertView } from '../alerts/schema.ts'
import { deliveryFilter, type DeliveryTryView, type DeliveryView } from './schema.ts'
import { paintState } from '../../cli/output/style.ts'
import { oneLine } from '../../cli/output/text.ts'
import { relativeTimeText, durationText, cliTimeText } from '../../cli/output/times.ts'
import { filtersOf } from '../../cli/remote/schema-options.ts'
import { commandOf, type CliCall, type CliContext } from '../../cli/remote/call.ts'
import { timeOrDuration } from '../../cli/remote/fields.ts'
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

/** `escapement alerts …`: open and past alerts, and what to do about them. */
export function addAlerts(group: Command, cli: CliContext): void {
  addList<AlertView>(cli, commandOf(group, 'list', 'list alerts, newest first'), {
    filter: filtersOf(alertFilter, { subject_id: '--about <id>' }),
    none: 'No alerts.',
    read: (call, query) => call.client.alerts.list(query),
    columns: ({ now }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'STATUS', value: statusOf },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'ABOUT', value: ({ subject_name }) => oneLine(subject_name), flexible: true },
      { title: 'STREAK', value: ({ streak }) => (streak === null ? '' : String(streak)), right: true },
      { title: 'RAISED', value: ({ raised_at }) => relativeTimeText(raised_at, now) },
      { title: 'CLEARED', value: ({ cleared_at }) => relativeTimeText(cleared_at, now) },
      { title: 'WHY', value: ({ sentence, last_error }) => oneLine(last_error ?? sentence), flexible: true },
    ],
  })
  addGet<AlertView>(cli, commandOf(group, 'get <id>', 'show an alert'), {
    read: (call, [id = '']) => call.client.alerts.get(id),
    facts: ({ now }, alert) => [
      ['id', alert.id],
      ['status', statusOf(alert)],
      ['kind', alert.kind],
      ['about', `${alert.subject_kind} ${alert.subject_name} (${alert.subject_id})`],
      ['why', alert.sentence],
      ['streak', alert.streak === null ? null : String(alert.streak)],
      ['last error', alert.last_error === null ? null : oneLine(alert.last_error)],
      ['agent', alert.agent_id],
      ['raised', cliTimeText(alert.raised_at, now)],
      ['cleared', cliTimeText(alert.cleared_at, now)],
      ['acknowledged', cliTimeText(alert.acknowledged_at, now)],
      ['acknowledged by', alert.acknowledged_by],
      ['snoozed until', cliTimeText(alert.snoozed_until, now)],
    ],
  })
  const acknowledge = commandOf(
    group,
    'ack <id>',
    'acknowledge an alert; the alert stays open but no longer needs attention',
  )
  addAction<AlertView, { readonly undo?: true }>(cli, acknowledge.option('--undo', 'undo the acknowledgment'), {
    call: (call, [id = ''], { undo }) => call.client.alerts.acknowledge(id, { acknowledged: undo !== true }),
    resultText: ({ acknowledged_at: at }, id) =>
      at === null ? `${id} is not acknowledged any more.` : `Acknowledged ${id}.`,
  })
  const snooze = commandOf(group, 'snooze <id>', 'snooze an alert')
    .option('--for <duration>', 'for how long, such as 2h (default: 1h)')
    .option('--until <time>', 'until this time')
    .option('--undo', 'end the snooze')
  addAction<AlertView, SnoozeOptions>(cli, snooze, {
    call: (call, [id = ''], options) => call.client.alerts.snooze(id, { until: snoozeEnd(call, options) }),
    resultText: ({ snoozed_until: until }, id) =>
      until === null ? `${id} is not snoozed any more.` : `Snoozed ${id} until ${until}.`,
  })
  addAction<AlertRetry>(cli, commandOf(group, 'retry <id>', 'retry the failed runs behind an alert'), {
    call: (call, [id = '']) => call.client.alerts.retry(id),
    resultText: ({ retried, left, refused }) =>
      `Retried ${retried} runs${left === 0 ? '' : `; ${left} are left`}.${refused === null ? '' : ` ${refused}.`}`,
    isSuccess: ({ refused }) => refused === null,
  })
}

interface SnoozeOptions {
  readonly for?: string
  readonly until?: string
  readonly undo?: true
}

function snoozeEnd({ now }: CliCall, options: SnoozeOptions): string | null {
  if (options.undo === true) return null
  const [option, text] = options.until === undefined ? ['--for', options.for ?? '1h'] : ['--until', options.until]
  return String(timeOrDuration(text, { option, now }))
}

const statusOf = ({ status, acknowledged_at: acknowledged, snoozed_until: snoozed }: AlertView): string =>
  status === 'cleared' ? status : acknowledged !== null ? 'acknowledged' : snoozed !== null ? 'snoozed' : status
