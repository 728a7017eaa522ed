import { DELIVERED_OUTPUT_BYTES, deliveryIdempotencyKey } from '../../domain/delivery/delivery-retry.ts'
import { envelopeIn, type Envelope } from '../../core/delivery/letter.ts'
import type { OutBody, OutMessage } from '../../domain/delivery/message.ts'
import { chatOfLine } from '../../core/delivery/run-delivery.ts'
import { storedQuietUntil } from '../../domain/delivery/quiet-hours.ts'
import { ruleOf } from '../../core/delivery/target-kinds.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { loadDigested } from '../../store/digests.ts'
import type { ClaimedDelivery } from './outbox-store.ts'
import { loadRun } from '../../store/run-reads.ts'
import type { RunRecord } from '../../store/run-record.ts'
import { loadSchedules } from '../../store/schedules.ts'
import type { Ports } from '../../service/ports.ts'
import { viewRun } from '../runs/view.ts'
import { secretsOf } from '../../service/target/signing-secret.ts'
import { addressOfTarget } from '../../service/target/address.ts'
import { viewTask } from '../tasks/view.ts'

/** What is sent for a delivery, or what becomes of it instead. */
export type Written =
  | { readonly kind: 'send'; readonly message: OutMessage }
  /** There is nothing to send any more. */
  | { readonly kind: 'gone'; readonly error: 'target_gone' | 'run_gone' }
  /** It is quiet at the target. */
  | { readonly kind: 'hold'; readonly until: Instant; readonly why: Why }
  /** It is not told to people. */
  | { readonly kind: 'keep'; readonly why: Why }

type Reading = Pick<Ports, 'database' | 'vault'>

/**
 * Writes the message of a delivery. A run that has ended never changes, so every try writes the same; what was given up
 * once and is sent after all is sent as it was.
 */
export async function writeMessage(ports: Reading, delivery: ClaimedDelivery, now: Instant): Promise<Written> {
  const { orgId, id, runId, target, url } = delivery
  const chat = delivery.kind === 'session' || delivery.kind === 'channel' ? chatOfLine(delivery.line) : null
  if (target === null && url === null && chat === null) return { kind: 'gone', error: 'target_gone' }
  const quiet = quietHold(delivery, now)
  if (quiet !== null) return quiet
  const run = delivery.body === null && runId !== null ? await loadRun(ports.database, { orgId, id: runId }) : undefined
  if (run !== undefined && target !== null && isUntold(run, target.kind)) {
    const evidence = { target: target.name, ending: run.state }
    return { kind: 'keep', why: because('not_announced', `ending=${run.state}`, evidence) }
  }
  const body = delivery.body ?? (await bodyOf(ports, delivery, run))
  if (body === null) return { kind: 'gone', error: 'run_gone' }
  const isCallback = delivery.kind === 'callback'
  const kind = target?.kind ?? (chat === null ? 'webhook' : 'session')
  const message: OutMessage = {
    id: deliveryIdempotencyKey(id),
    ...{
      orgId,
      kind,
      url: url ?? (await addressTo(ports, delivery)),
      settings: target?.settings ?? replySettings(chat),
      body,
    },
    secrets: kind === 'webhook' ? await secretsOf(ports, { orgId, now }) : [],
    headers: isCallback ? { 'X-PinchTab-Event': 'task.completed', 'X-PinchTab-Task-ID': runId ?? '' } : {},
    purpose: isCallback ? 'callback' : 'webhook',
    trace: run?.trace ?? null,
    run: run === undefined ? null : { id: run.id, sessionKey: run.sessionKey },
  }
  return { kind: 'send', message }
}

const addressTo = (ports: Reading, { orgId, targetId: id, target }: ClaimedDelivery): Promise<string> =>
  target === null || id === null ? Promise.resolve('') : addressOfTarget(ports, { ...target, orgId, id })

/** An answer to a conversation is sent as an answer. */
const replySettings = (chat: ReturnType<typeof chatOfLine>): OutMessage['settings'] =>
  chat === null ? {} : { ...chat, reply: true }

/** Whoever asks for one message to be sent now, and what quiet hours have collected, is not held up by them. */
function quietHold({ target, isDigest, why }: ClaimedDelivery, now: Instant): Written | null {
  if (target === null || isDigest || (why.reason === 'let_go' && why.rule === 'request')) return null
  const until = storedQuietUntil(target.quietHours, now)
  if (until === null) return null
  const evidence = { target: target.name, until: formatInstant(until) }
  return { kind: 'hold', until, why: because('quiet_hours', 'target.quiet_hours', evidence) }
}

/** People do not want to hear of what a person ended; programs want to know of every ending. */
const isUntold = ({ state }: RunRecord, kind: OutMessage['kind']): boolean =>
  ruleOf(kind).audience === 'people' && (state === 'cancelled' || state === 'dropped')

/** A task's callback gets the task as everybody reads it; a target gets the run in the envelope that webhooks have. */
async function bodyOf(ports: Reading, delivery: ClaimedDelivery, run: RunRecord | undefined): Promise<OutBody | null> {
  if (delivery.isDigest) return digestBody(ports, delivery)
  if (run === undefined) return null
  const whole = delivery.output === undefined ? run : { ...run, output: delivery.output }
  if (delivery.kind === 'callback') return viewTask(whole)
  const forPeople = delivery.target !== null && ruleOf(delivery.target.kind).audience === 'people'
  return envelopeOf(whole, forPeople ? await nameOf(ports, whole) : undefined)
}

function envelopeOf(run: RunRecord, about: string | null | undefined): Envelope {
  const timestamp = formatInstant(run.finishedAt ?? run.createdAt)
  const data = viewRun(run) as unknown as Envelope['data']
  return { type: 'run.completed', timestamp, data, ...(about === undefined ? {} : { about }) }
}

/** What people call what a run was for. */
async function nameOf({ database }: Reading, { orgId, scheduleId }: RunRecord): Promise<string | null> {
  if (scheduleId === null) return null
  const [schedule] = await loadSchedules(database, { orgId, ids: [scheduleId] })
  return schedule?.name ?? null
}

/** Everything that quiet hours have collected, in order. What does not fit is counted, and is in its run. */
async function digestBody(ports: Reading, { orgId, id }: ClaimedDelivery): Promise<Envelope> {
  const members = await loadDigested(ports.database, { orgId, digestId: id })
  const items: Envelope[] = []
  let room = DELIVERED_OUTPUT_BYTES
  let until: Instant | null = null
  for (const { runId, body, madeAt } of members) {
    until ??= madeAt
    const run = body === null && runId !== null ? await loadRun(ports.database, { orgId, id: runId }) : undefined
    const item = body !== null ? envelopeIn(body) : run && envelopeOf(run, await nameOf(ports, run))
    if (item === undefined) continue
    room -= Buffer.byteLength(JSON.stringify(item))
    if (room > 0) items.push(item)
  }
  const stamp = formatInstant(until ?? (0 as Instant))
  const data = { until: stamp, count: members.length, items, left_out: members.length - items.length }
  return { type: 'digest', timestamp: stamp, data }
}
