import { setTimeout as wait } from 'node:timers/promises'
import { DELIVERY_TRIES } from '../domain/delivery/delivery-retry.ts'
import type { OutMessage, TryOutcome } from '../domain/delivery/message.ts'
import type { OrgId } from '../domain/ids.ts'
import { explainWhy } from '../domain/reasons.ts'
import { writeMessage } from '../features/deliveries/message.ts'
import {
  type Aside,
  asideWork,
  CLAIM_MS,
  claimDue,
  type ClaimedDelivery,
  digestWork,
  findDueDigests,
  releaseClaim,
} from '../features/deliveries/outbox.ts'
import { type Recorded, recordWork, type Tried } from '../features/deliveries/record.ts'
import type { Ports } from '../service/ports.ts'
import type { HandedIn } from './handed-in.ts'
import { createLoop, type Loop } from './loops/loop.ts'
import type { NodeParts } from './node-parts.ts'

/** Sends at a time, to whomever. */
const MOST_IN_FLIGHT = 32
/** What is being sent when the node stops has this long. */
const LAST_MS = 1_000
/** Too little is left of a claim to send under it when less than this remains beyond the try itself. */
const MARGIN_MS = 5_000

/** A look that takes longer than this is followed by a rest of four times as long, at most this long. */
const LONG_LOOK_MS = 20
const LONGEST_REST_MS = 1_000

/** How often it is looked whether quiet hours are over; whoever is woken by every answer does not look each time. */
const QUIET_EVERY_MS = 500

/** When results are sent. What is sent and what follows is decided elsewhere. */
export interface Deliveries {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** Something is to be sent: look now instead of at the next period. */
  readonly wake: () => void
}

export interface DeliveriesContext {
  readonly parts: NodeParts
  readonly ports: Pick<Ports, 'database' | 'outbound' | 'newId' | 'vault'>
}

interface Sending {
  readonly parts: NodeParts
  readonly ports: DeliveriesContext['ports']
  readonly recorder: DeliveryRecorder
  readonly stopping: AbortSignal
  readonly inFlight: Set<Promise<void>>
  /** Deliveries whose last tries failed on our side, with how often in a row. */
  readonly failed: Map<string, number>
  /** The ends of quiet hours that are handed in. */
  readonly quiet: HandedIn
  readonly wake: () => void
}

/** The loop that carries results: it claims what is due and sends it, a few at a time, to each receiver even fewer. */
export function createDeliveries({ parts, ports }: DeliveriesContext): Deliveries {
  const { ctx, health } = parts
  const stopping = new AbortController()
  const inFlight = new Set<Promise<void>>()
  let claims = 0
  let quietAt = -Infinity
  const sending: Sending = {
    ...{ parts, ports, inFlight, stopping: stopping.signal, recorder: createDeliveryRecorder(parts, ports.newId) },
    failed: new Map(),
    quiet: parts.handedIn('quiet hours'),
    wake: () => {
      loop.wake()
    },
  }
  const loop: Loop = createLoop(
    async () => {
      claims += 1
      const now = ctx.clock.counter()
      if (now - quietAt >= QUIET_EVERY_MS) {
        quietAt = now
        await endQuiet(sending)
      }
      await sendDue(sending, `${parts.id()}/${claims}`)
      return undefined
    },
    {
      everyMs: ctx.settings().schedules.pollMs,
      sleep: ctx.sleep,
      onError: (error, failures) => {
        health.failed(error)
        return Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2)
      },
    },
  )
  return {
    start: loop.start,
    wake: loop.wake,
    stop: async () => {
      await loop.stop()
      await withinLast(inFlight)
      stopping.abort()
      // Without a database nothing can be put on record: then claims lapse, and it is sent again under the same id.
      await withinLast(inFlight)
    },
  }
}

async function withinLast(inFlight: ReadonlySet<Promise<void>>): Promise<void> {
  const over = new AbortController()
  const last = wait(LAST_MS, undefined, { signal: over.signal }).catch(() => undefined)
  await Promise.race([Promise.all(inFlight), last])
  over.abort()
}

async function sendDue(sending: Sending, claim: string): Promise<void> {
  const { parts, ports, inFlight } = sending
  const room = MOST_IN_FLIGHT - inFlight.size
  if (room <= 0) return
  const { clock } = parts.ctx
  const began = clock.counter()
  const claimed = await claimDue(ports, { now: clock.now(), claim, limit: room })
  const tookMs = clock.counter() - began
  parts.health.answered()
  for (const delivery of claimed) {
    const done = sendOne(sending, delivery, { claim, began }).finally(() => {
      inFlight.delete(done)
      sending.wake()
    })
    inFlight.add(done)
  }
  // With very many receivers looking takes long, and whoever is woken by every answer would do nothing else.
  if (tookMs > LONG_LOOK_MS) await parts.ctx.sleep(Math.min(4 * tookMs, LONGEST_REST_MS), parts.stopping.signal)
}

interface Claim {
  readonly claim: string
  /** When it was asked for, by the node's own counter. */
  readonly began: number
}

/** One try. What fails on our side gives its claim back, and is tried again at once under the same id. */
async function sendOne(sending: Sending, delivery: ClaimedDelivery, { claim, began }: Claim): Promise<void> {
  const { parts, ports, recorder } = sending
  const { clock, log } = parts.ctx
  const { orgId, id } = delivery
  try {
    const written = await writeMessage(ports, delivery, clock.now())
    if (written.kind === 'hold' || written.kind === 'keep') {
      await setAside(sending, { orgId, id, claim, ...written })
      return
    }
    // A process that was asleep must not send under a claim that others may have taken over.
    if (clock.counter() - began > CLAIM_MS - DELIVERY_TRIES.timeoutMs - MARGIN_MS) return
    const startedAt = clock.now()
    const message = written.kind === 'send' ? written.message : null
    const outcome =
      written.kind === 'send' ? await post(sending, delivery, written.message) : nothingToSend(written.error)
    if (outcome === null) {
      await releaseClaim(ports, claim, id)
      return
    }
    await recorder.record({
      ...{ orgId, id, claim, startedAt, finishedAt: clock.now(), outcome, body: message?.body ?? null },
    })
    sending.failed.delete(id)
  } catch (error) {
    const facts = { delivery: id, run: delivery.runId, error: error instanceof Error ? error.message : String(error) }
    log({ level: 'error', message: 'A delivery could not be tried or put on record; it is tried again', facts })
    await giveBack(sending, id, claim)
  }
}

/** Failing again and again, a delivery waits longer each time: it must not keep the loop busy. */
const RETRY_MS = { first: 50, most: 5_000 }

/** Gives the claim of a try back that failed on our side. Without a database it lapses. */
async function giveBack({ parts, ports, failed }: Sending, id: string, claim: string): Promise<void> {
  const before = failed.get(id) ?? 0
  failed.set(id, before + 1)
  if (before > 0)
    await parts.ctx
      .sleep(Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** before), parts.stopping.signal)
      .catch(() => null)
  await releaseClaim(ports, claim, id).catch(() => null)
}

/** It is not sent now, or not at all, without having been tried. */
async function setAside({ parts }: Sending, aside: Aside): Promise<void> {
  await parts.officeOf(aside.orgId).take(asideWork(aside), true)
}

/** Where quiet hours are over, what they have collected becomes one message. */
async function endQuiet({ parts, ports, quiet }: Sending): Promise<void> {
  for (const due of await findDueDigests(ports, parts.ctx.clock.now()))
    // One at a time in each org; what is left is found by the next look.
    if (!quiet.isBusy(due.orgId)) quiet.hand(digestWork(ports, due))
}

/** Sends a message, in a span of its own where anybody listens. */
function post(
  { parts, ports, stopping }: Sending,
  delivery: ClaimedDelivery,
  message: OutMessage,
): Promise<TryOutcome | null> {
  const { tracing } = parts.ctx
  if (tracing?.isOn() !== true) return ports.outbound.post(message, stopping)
  const { orgId, runId, id } = delivery
  return tracing.deliver({ orgId, runId: runId ?? '', deliveryId: id, trace: message.trace ?? null }, () =>
    ports.outbound.post(message, stopping),
  )
}

const nothingToSend = (error: 'target_gone' | 'run_gone'): TryOutcome => ({
  ...{ ok: false, statusCode: null, error },
  message: error === 'target_gone' ? 'the target is gone' : 'the run is not kept any more',
})

/** Puts tries on record, those of one org that end together in one turn. */
interface DeliveryRecorder {
  /** Resolves when the try is on record, or somebody else has taken the delivery over. */
  readonly record: (tried: Tried) => Promise<void>
}

interface Entry {
  readonly tried: Tried
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function createDeliveryRecorder(parts: NodeParts, newId: Ports['newId']): DeliveryRecorder {
  const waiting = new Map<OrgId, Entry[]>()
  const busy = new Set<OrgId>()
  /** What ends while a turn is under way goes together into the next one. */
  const flush = async (orgId: OrgId): Promise<void> => {
    if (busy.has(orgId)) return
    busy.add(orgId)
    for (let entries = waiting.get(orgId); entries !== undefined; entries = waiting.get(orgId)) {
      waiting.delete(orgId)
      await recordAll(parts, newId, { orgId, entries })
    }
    busy.delete(orgId)
  }
  return {
    record: (tried) =>
      new Promise((resolve, reject) => {
        const entry = { tried, resolve, reject }
        const known = waiting.get(tried.orgId)
        if (known === undefined) waiting.set(tried.orgId, [entry])
        else known.push(entry)
        void flush(tried.orgId)
      }),
  }
}

async function recordAll(
  parts: NodeParts,
  newId: Ports['newId'],
  { orgId, entries }: { readonly orgId: OrgId; readonly entries: readonly Entry[] },
): Promise<void> {
  const tried = entries.map((entry) => entry.tried)
  const { random } = parts.ctx
  try {
    const recorded = await parts
      .officeOf(orgId)
      .take(recordWork({ newId, random, nodeId: parts.id() }, orgId, tried), true)
    for (const one of recorded) say(parts, one, tried)
    for (const { resolve } of entries) resolve()
  } catch (error) {
    for (const { reject } of entries) reject(error)
  }
}

/** Outcomes are said as they are on record, with everything by which they are found again. */
function say({ ctx }: NodeParts, recorded: Recorded, tried: readonly Tried[]): void {
  const { id, runId, targetId, number, outcome, after } = recorded
  ctx.meter?.delivered(outcome)
  const one = tried.find((candidate) => candidate.id === id)
  if (one === undefined) return
  const facts = {
    ...{ delivery: id, run: runId, target: targetId, try: number, status: one.outcome.statusCode },
    ms: Math.max(0, one.finishedAt - one.startedAt),
    ...(one.outcome.ok ? {} : { error: one.outcome.message, next: explainWhy(after.why) }),
  }
  const message = one.outcome.ok ? 'A message was delivered' : 'A message was not delivered'
  ctx.log({ level: 'info', message, facts })
  if (outcome === 'held' && after.why.reason === 'target_disabled')
    ctx.log({ level: 'warn', message: 'A target is disabled; its messages are held', facts: { target: targetId } })
}
