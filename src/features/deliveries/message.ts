import { MAX_DELIVERED_OUTPUT_BYTES, deliveryIdempotencyKey } from '../../domain/delivery/delivery-retry.ts'
import { parseEnvelope, type Envelope } from '../../domain/delivery/email-message.ts'
import type { MessageBody, OutgoingMessage } from '../../domain/delivery/message.ts'
import { chatOfOutboxQueue } from '../../domain/delivery/delivery.ts'
import { storedQuietUntil } from '../../domain/delivery/quiet-hours.ts'
import { targetKindRule } from '../../domain/delivery/target-kinds.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { loadDigested } from './store.ts'
import type { ClaimedDelivery } from './outbox-store.ts'
import { loadRun } from '../runs/read-store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { loadSchedules } from '../schedules/store.ts'
import type { Ports } from '../../engine/ports.ts'
import { viewRun } from '../runs/view.ts'
import { loadSigningTexts } from '../targets/signing-secret.ts'
import { openTargetUrl } from '../targets/address.ts'
import { viewTask } from '../tasks/view.ts'

/** The message of a delivery, or what happens to the delivery instead. */
export type RenderedMessage =
  | { readonly kind: 'send'; readonly message: OutgoingMessage }
  /** The target or the run does not exist any more. */
  | { readonly kind: 'gone'; readonly error: 'target_gone' | 'run_gone' }
  /** The target has quiet hours. */
  | { readonly kind: 'hold'; readonly until: Instant; readonly why: Why }
  /** The delivery is stored but not sent, because its target is read by people. */
  | { readonly kind: 'keep'; readonly why: Why }

type MessagePorts = Pick<Ports, 'database' | 'vault'>

/**
 * Creates the message of a delivery. An ended run never changes, so every attempt creates the same message. A stored
 * body is sent unchanged.
 */
export async function renderMessage(
  ports: MessagePorts,
  delivery: ClaimedDelivery,
  now: Instant,
): Promise<RenderedMessage> {
  const { orgId, id, runId, target, url } = delivery
  const chat = delivery.kind === 'session' || delivery.kind === 'channel' ? chatOfOutboxQueue(delivery.line) : null
  if (target === null && url === null && chat === null) return { kind: 'gone', error: 'target_gone' }
  const quiet = quietHold(delivery, now)
  if (quiet !== null) return quiet
  const run = delivery.body === null && runId !== null ? await loadRun(ports.database, { orgId, id: runId }) : undefined
  if (run !== undefined && target !== null && isNotAnnounced(run, target.kind)) {
    const evidence = { target: target.name, ending: run.state }
    return { kind: 'keep', why: because('not_announced', `ending=${run.state}`, evidence) }
  }
  const body = delivery.body ?? (await bodyOf(ports, delivery, run))
  if (body === null) return { kind: 'gone', error: 'run_gone' }
  const isCallback = delivery.kind === 'callback'
  const kind = target?.kind ?? (chat === null ? 'webhook' : 'session')
  const message: OutgoingMessage = {
    id: deliveryIdempotencyKey(id),
    ...{
      orgId,
      kind,
      url: url ?? (await targetUrl(ports, delivery)),
      settings: target?.settings ?? replySettings(chat),
      body,
    },
    secrets: kind === 'webhook' ? await loadSigningTexts(ports, { orgId, now }) : [],
    headers: isCallback ? { 'X-PinchTab-Event': 'task.completed', 'X-PinchTab-Task-ID': runId ?? '' } : {},
    purpose: isCallback ? 'callback' : 'webhook',
    trace: run?.trace ?? null,
    run: run === undefined ? null : { id: run.id, sessionKey: run.sessionKey },
  }
  return { kind: 'send', message }
}

const targetUrl = (ports: MessagePorts, { orgId, targetId: id, target }: ClaimedDelivery): Promise<string> =>
  target === null || id === null ? Promise.resolve('') : openTargetUrl(ports, { ...target, orgId, id })

/** An answer in a session is sent as a reply. */
const replySettings = (chat: ReturnType<typeof chatOfOutboxQueue>): OutgoingMessage['settings'] =>
  chat === null ? {} : { ...chat, reply: true }

/** Quiet hours do not hold a message that a user asked to send now, nor the digest that follows them. */
function quietHold({ target, isDigest, why }: ClaimedDelivery, now: Instant): RenderedMessage | null {
  if (target === null || isDigest || (why.reason === 'let_go' && why.rule === 'request')) return null
  const until = storedQuietUntil(target.quietHours, now)
  if (until === null) return null
  const evidence = { target: target.name, until: formatInstant(until) }
  return { kind: 'hold', until, why: because('quiet_hours', 'target.quiet_hours', evidence) }
}

/** Cancelled and dropped runs are not announced to people, only to programs. */
const isNotAnnounced = ({ state }: RunRecord, kind: OutgoingMessage['kind']): boolean =>
  targetKindRule(kind).audience === 'people' && (state === 'cancelled' || state === 'dropped')

/** A task's callback gets the task as in the API; a target gets the run in the webhook envelope. */
async function bodyOf(
  ports: MessagePorts,
  delivery: ClaimedDelivery,
  run: RunRecord | undefined,
): Promise<MessageBody | null> {
  if (delivery.isDigest) return digestBody(ports, delivery)
  if (run === undefined) return null
  const whole = delivery.output === undefined ? run : { ...run, output: delivery.output }
  if (delivery.kind === 'callback') return viewTask(whole)
  const forPeople = delivery.target !== null && targetKindRule(delivery.target.kind).audience === 'people'
  return runEnvelope(whole, forPeople ? await scheduleNameOf(ports, whole) : undefined)
}

function runEnvelope(run: RunRecord, about: string | null | undefined): Envelope {
  const timestamp = formatInstant(run.finishedAt ?? run.createdAt)
  const data = viewRun(run) as unknown as Envelope['data']
  return { type: 'run.completed', timestamp, data, ...(about === undefined ? {} : { about }) }
}

/** The name of the schedule of a run, for people. */
async function scheduleNameOf({ database }: MessagePorts, { orgId, scheduleId }: RunRecord): Promise<string | null> {
  if (scheduleId === null) return null
  const [schedule] = await loadSchedules(database, { orgId, ids: [scheduleId] })
  return schedule?.name ?? null
}

/** A digest of everything held during quiet hours, in order. Items beyond the size limit are counted in `left_out`. */
async function digestBody(ports: MessagePorts, { orgId, id }: ClaimedDelivery): Promise<Envelope> {
  const members = await loadDigested(ports.database, { orgId, digestId: id })
  const items: Envelope[] = []
  let room = MAX_DELIVERED_OUTPUT_BYTES
  let until: Instant | null = null
  for (const { runId, body, madeAt } of members) {
    until ??= madeAt
    const run = body === null && runId !== null ? await loadRun(ports.database, { orgId, id: runId }) : undefined
    const item = body !== null ? parseEnvelope(body) : run && runEnvelope(run, await scheduleNameOf(ports, run))
    if (item === undefined) continue
    room -= Buffer.byteLength(JSON.stringify(item))
    if (room > 0) items.push(item)
  }
  const stamp = formatInstant(until ?? (0 as Instant))
  const data = { until: stamp, count: members.length, items, left_out: members.length - items.length }
  return { type: 'digest', timestamp: stamp, data }
}
