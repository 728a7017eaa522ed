import type { Command } from 'commander'
import type { AlertView } from '../../contract/alert.ts'
import { ALERT_KINDS } from '../../core/alerts.ts'
import type { DeliveryTryView, DeliveryView } from '../../contract/delivery.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { oneLine } from '../output/text.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import { namesOf, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { commandOf, groupOf } from './group.ts'

const FILTER: readonly FieldOption[] = [
  { flags: '--status <words>', field: 'status', about: 'pending, held, delivered, failed, kept; commas between them' },
  { flags: '--run <id>', field: 'run_id', about: 'of a run' },
  { flags: '--target <id>', field: 'target_id', about: 'to a target' },
]

/** `escapement deliveries …`: results on their way. */
export function addDeliveries(program: Command, desk: Desk): void {
  const group = groupOf(program, 'deliveries', 'see results on their way, and send them again')
  const list = withPages(withFields(commandOf(group, 'list', 'list deliveries, newest first'), FILTER))
  remote<PageOptions>(desk, list, {
    names: namesOf(FILTER),
    work: async (talk, _, options) => {
      const filter = valuesOf(FILTER, options, talk.terminal.now())
      const page = await readPages(talk, options, (asked) => talk.client.deliveries.list({ ...filter, ...asked }))
      await showList(talk, page, {
        columns: columnsOf(talk),
        none: 'No deliveries. A schedule with --deliver-to makes them',
      })
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show a delivery with its tries'), {
    work: async (talk, [id = '']) => {
      const delivery = await talk.client.deliveries.get(id)
      await showOne(talk, delivery, () => factsOf(talk, delivery))
    },
  })
  remote(desk, commandOf(group, 'retry <id>', 'send a delivery now'), {
    work: async (talk, [id = '']) => {
      const delivery = await talk.client.deliveries.retry(id)
      await showDone(talk, delivery, `${id} is on its way.`)
    },
  })
}

const subjectOf = ({ run_id, alert_id, digest }: DeliveryView): string =>
  run_id ?? alert_id ?? (digest ? 'digest' : '-')

const receiverOf = ({ target_id, url }: DeliveryView): string => target_id ?? url ?? '-'

function columnsOf({ terminal, style }: Talk): readonly Column<DeliveryView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'STATUS', of: ({ status }) => status, paint: (text) => paintState(style, text) },
    { title: 'OF', of: subjectOf },
    { title: 'TO', of: receiverOf, flexible: true },
    { title: 'TRIES', of: ({ tries }) => String(tries.length), right: true },
    { title: 'NEXT', of: ({ next_try_at }) => agoText(next_try_at, now) },
    { title: 'MADE', of: ({ created_at }) => agoText(created_at, now) },
    { title: 'WHY', of: ({ sentence }) => oneLine(sentence), flexible: true },
  ]
}

const tryText = ({ number, started_at, duration_ms, status_code, message }: DeliveryTryView): string =>
  `${number}  ${started_at}  ${lengthText(duration_ms)}  ${message === null ? `answered ${status_code ?? '-'}` : oneLine(message)}`

function factsOf({ terminal, style }: Talk, delivery: DeliveryView): Facts {
  const now = terminal.now()
  return [
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
  ]
}

const ALERT_FILTER: readonly FieldOption[] = [
  { flags: '--status <word>', field: 'status', about: 'open or cleared; both unless given' },
  { flags: '--kind <kind>', field: 'kind', about: ALERT_KINDS.join(', ') },
  { flags: '--about <id>', field: 'subject_id', about: 'about a schedule, a node or a target' },
]

/** `escapement alerts …`: what somebody should look at. */
export function addAlerts(program: Command, desk: Desk): void {
  const group = groupOf(program, 'alerts', 'see what somebody should look at')
  remote<PageOptions>(
    desk,
    withPages(withFields(commandOf(group, 'list', 'list alerts, newest first'), ALERT_FILTER)),
    {
      names: namesOf(ALERT_FILTER),
      work: async (talk, _, options) => {
        const filter = valuesOf(ALERT_FILTER, options, talk.terminal.now())
        const page = await readPages(talk, options, (asked) => talk.client.alerts.list({ ...filter, ...asked }))
        await showList(talk, page, { columns: alertColumns(talk), none: 'No alerts.' })
      },
    },
  )
}

function alertColumns({ terminal }: Talk): readonly Column<AlertView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'ABOUT', of: ({ subject_id }) => subject_id },
    { title: 'RAISED', of: ({ raised_at }) => agoText(raised_at, now) },
    { title: 'CLEARED', of: ({ cleared_at }) => agoText(cleared_at, now) },
    { title: 'WHY', of: ({ sentence }) => oneLine(sentence), flexible: true },
  ]
}
