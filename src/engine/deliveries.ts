import { setTimeout as wait } from 'node:timers/promises'
import { DELIVERY_TRIES } from '../domain/delivery/delivery-retry.ts'
import type { OutgoingMessage, TryOutcome } from '../domain/delivery/message.ts'
import type { OrgId } from '../domain/ids.ts'
import { explainWhy } from '../domain/reasons.ts'
import { renderMessage } from '../features/deliveries/message.ts'
import {
  type UnsentDelivery,
  holdOrStoreCommand,
  CLAIM_MS,
  claimDue,
  type ClaimedDelivery,
  digestCommand,
  findDueDigests,
  releaseClaim,
} from '../features/deliveries/outbox.ts'
import { type RecordedTry, recordTriesCommand, type FinishedTry } from '../features/deliveries/record.ts'
import type { Ports } from './ports.ts'
import type { LoopCommands } from './handed-in.ts'
import { createLoop, type Loop } from './loops/loop.ts'
import type { NodeParts } from './node-parts.ts'

/** Deliveries in flight at a time, over all receivers. */
const MAX_IN_FLIGHT = 32
/** How long deliveries in flight may take once the node stops. */
const DRAIN_MS = 1_000
/** Time that must remain of a claim beyond the try itself; with less, the delivery is not sent under it. */
const CLAIM_MARGIN_MS = 5_000

/** A query that takes longer than this is followed by a pause of four times its duration, up to a maximum. */
const SLOW_QUERY_MS = 20
const MAX_PAUSE_MS = 1_000

/** How often ended quiet hours are searched for. The loop runs after every answer, and does not search each time. */
const QUIET_EVERY_MS = 500

/** The loop that sends results. What is sent, and what follows, is decided in `features/deliveries`. */
export interface Deliveries {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** Runs the next pass now instead of at the next period. */
  readonly wake: () => void
}

export interface DeliveriesContext {
  readonly parts: NodeParts
  readonly ports: Pick<Ports, 'database' | 'outbound' | 'newId' | 'vault'>
}

interface DeliveryLoop {
  readonly parts: NodeParts
  readonly ports: DeliveriesContext['ports']
  readonly recorder: DeliveryRecorder
  readonly stopping: AbortSignal
  readonly inFlight: Set<Promise<void>>
  /** Deliveries whose last tries failed on this node's side, with the number of failures in a row. */
  readonly failed: Map<string, number>
  /** Commands that end quiet hours. */
  readonly quiet: LoopCommands
  readonly wake: () => void
}

/**
 * Creates the loop that sends results: it claims due deliveries and sends them, a few at a time, fewer per receiver.
 */
export function createDeliveries({ parts, ports }: DeliveriesContext): Deliveries {
  const { ctx, health } = parts
  const stopping = new AbortController()
  const inFlight = new Set<Promise<void>>()
  let claims = 0
  let quietAt = -Infinity
  const sending: DeliveryLoop = {
    ...{ parts, ports, inFlight, stopping: stopping.signal, recorder: createDeliveryRecorder(parts, ports.newId) },
    failed: new Map(),
    quiet: parts.loopCommands('quiet hours'),
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
      await drainInFlight(inFlight)
      stopping.abort()
      // Without a database nothing can be recorded: the claims lapse, and the messages are sent again under the same
      // id.
      await drainInFlight(inFlight)
    },
  }
}

async function drainInFlight(inFlight: ReadonlySet<Promise<void>>): Promise<void> {
  const over = new AbortController()
  const last = wait(DRAIN_MS, undefined, { signal: over.signal }).catch(() => undefined)
  await Promise.race([Promise.all(inFlight), last])
  over.abort()
}

async function sendDue(sending: DeliveryLoop, claim: string): Promise<void> {
  const { parts, ports, inFlight } = sending
  const room = MAX_IN_FLIGHT - inFlight.size
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
  // With very many receivers the query is slow, and running it after every answer would leave no time for anything
  // else.
  if (tookMs > SLOW_QUERY_MS) await parts.ctx.sleep(Math.min(4 * tookMs, MAX_PAUSE_MS), parts.stopping.signal)
}

interface DeliveryClaim {
  readonly claim: string
  /** When the claim was requested, by the node's counter. */
  readonly began: number
}

/** One try. A failure on this node's side releases the claim, and the delivery is tried again under the same id. */
async function sendOne(
  sending: DeliveryLoop,
  delivery: ClaimedDelivery,
  { claim, began }: DeliveryClaim,
): Promise<void> {
  const { parts, ports, recorder } = sending
  const { clock, log } = parts.ctx
  const { orgId, id } = delivery
  try {
    const written = await renderMessage(ports, delivery, clock.now())
    if (written.kind === 'hold' || written.kind === 'keep') {
      await recordUnsent(sending, { orgId, id, claim, ...written })
      return
    }
    // A process that was asleep must not send under a claim that another node may have taken over.
    if (clock.counter() - began > CLAIM_MS - DELIVERY_TRIES.timeoutMs - CLAIM_MARGIN_MS) return
    const startedAt = clock.now()
    const message = written.kind === 'send' ? written.message : null
    const outcome =
      written.kind === 'send' ? await postTraced(sending, delivery, written.message) : unsendable(written.error)
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
    log({ level: 'error', message: 'A delivery could not be sent or recorded; it is retried', facts })
    await releaseAfterFailure(sending, id, claim)
  }
}

/** A delivery that keeps failing waits longer each time, so that it does not keep the loop busy. */
const RELEASE_DELAY_MS = { first: 50, most: 5_000 }

/** Releases the claim of a try that failed on this node's side. Without a database the claim lapses. */
async function releaseAfterFailure({ parts, ports, failed }: DeliveryLoop, id: string, claim: string): Promise<void> {
  const before = failed.get(id) ?? 0
  failed.set(id, before + 1)
  if (before > 0)
    await parts.ctx
      .sleep(Math.min(RELEASE_DELAY_MS.most, RELEASE_DELAY_MS.first * 2 ** before), parts.stopping.signal)
      .catch(() => null)
  await releaseClaim(ports, claim, id).catch(() => null)
}

/** Postpones or drops a delivery without a try. */
async function recordUnsent({ parts }: DeliveryLoop, unsent: UnsentDelivery): Promise<void> {
  await parts.actorOf(unsent.orgId).execute(holdOrStoreCommand(unsent), true)
}

/** When quiet hours are over, the messages they held become one digest. */
async function endQuiet({ parts, ports, quiet }: DeliveryLoop): Promise<void> {
  for (const due of await findDueDigests(ports, parts.ctx.clock.now()))
    // One at a time in each org; the next pass finds the rest.
    if (!quiet.isBusy(due.orgId)) quiet.submit(digestCommand(ports, due))
}

/** Sends a message, in a span of its own while tracing is on. */
function postTraced(
  { parts, ports, stopping }: DeliveryLoop,
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
): Promise<TryOutcome | null> {
  const { tracing } = parts.ctx
  if (tracing?.isOn() !== true) return ports.outbound.post(message, stopping)
  const { orgId, runId, id } = delivery
  return tracing.deliver({ orgId, runId: runId ?? '', deliveryId: id, trace: message.trace ?? null }, () =>
    ports.outbound.post(message, stopping),
  )
}

const unsendable = (error: 'target_gone' | 'run_gone'): TryOutcome => ({
  ...{ ok: false, statusCode: null, error },
  message: error === 'target_gone' ? 'the target was deleted' : 'the run was deleted after its retention time',
})

/** Records tries; those of one org that end together share a transaction. */
interface DeliveryRecorder {
  /** Resolves when the try is recorded, or when another node has taken the delivery over. */
  readonly record: (tried: FinishedTry) => Promise<void>
}

interface PendingTry {
  readonly tried: FinishedTry
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function createDeliveryRecorder(parts: NodeParts, newId: Ports['newId']): DeliveryRecorder {
  const waiting = new Map<OrgId, PendingTry[]>()
  const busy = new Set<OrgId>()
  /** Tries that end while a transaction is in progress are recorded together in the next one. */
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
  { orgId, entries }: { readonly orgId: OrgId; readonly entries: readonly PendingTry[] },
): Promise<void> {
  const tried = entries.map((entry) => entry.tried)
  const { random } = parts.ctx
  try {
    const recorded = await parts
      .actorOf(orgId)
      .execute(recordTriesCommand({ newId, random, nodeId: parts.id() }, orgId, tried), true)
    for (const one of recorded) logOutcome(parts, one, tried)
    for (const { resolve } of entries) resolve()
  } catch (error) {
    for (const { reject } of entries) reject(error)
  }
}

/** Logs a recorded outcome with the ids needed to find it. */
function logOutcome({ ctx }: NodeParts, recorded: RecordedTry, tried: readonly FinishedTry[]): void {
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
