import { ErrGatewayDraining } from '../../api/refusals.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import {
  readHistory,
  readOwners,
  readVersion,
  readVersions,
  type TransactionEvents,
} from '../../features/events/service.ts'
import type { LiveWork } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { atExpiry, isOver, whenOver } from '../http/when-over.ts'
import { createSlotCounter, type SlotLimits, type SlotCounter } from '../http/limited.ts'
import { catchUp } from './catch-up.ts'
import { createChannel, type Channel } from './channel.ts'
import {
  startResponse,
  disconnect,
  isStuck,
  sendChunk,
  type EventClient,
  type EventOutlet,
  type CutOffReason,
} from './client.ts'
import type { Subscription } from './filter.ts'
import { retryFrame, heartbeatFrame, type Position, afterTransaction } from './frames.ts'
import { createOwnerCache } from './owners.ts'

/** A request to open an event stream. */
export interface StreamRequest {
  readonly orgId: OrgId
  readonly subscription: Subscription
  /** The position to resume from; null for new events only. */
  readonly after: Position | null
  readonly isAllowed: () => Promise<boolean>
  /** When the key or session of the client expires; null if never. */
  readonly expiresAt: Instant | null
  /** Takes over the connection, after the last check that could reject the request. */
  readonly takeOver: () => EventOutlet
}

/** The event streams of this node. */
export interface EventStreams {
  /** Opens a stream. Rejects before any data is sent. */
  readonly open: (request: StreamRequest) => Promise<void>
  /** Called once for each committed transaction of any node, in order. */
  readonly publish: (orgId: OrgId, transaction: TransactionEvents) => void
  readonly size: () => number
  /** Ends every stream. */
  readonly close: () => void
}

export interface StreamsContext {
  readonly ports: Pick<Ports, 'database' | 'clock'>
  readonly work: Pick<LiveWork, 'ownersOf'>
  /** Called when a read failed; the affected clients reconnect by themselves. */
  readonly failed: (error: unknown) => void
  /** Called when a client was cut off because it read too slowly. */
  readonly cutOff?: (orgId: OrgId, why: CutOffReason) => void
  /** The maximum number of streams; unlimited if omitted. */
  readonly limit?: () => SlotLimits
  readonly limits?: Partial<StreamLimits>
}

/** Limits and intervals of the streams. */
export interface StreamLimits {
  readonly heartbeatMs: number
  /** Events are batched for at least this long, so that thousands of events a second become a few dozen writes. */
  readonly collectMs: number
  /** Maximum unsent bytes of a client. */
  readonly maxUnsentBytes: number
  /** The reconnection delay of browsers. */
  readonly retryMs: number
}

const LIMITS: StreamLimits = {
  heartbeatMs: 15_000,
  collectMs: 25,
  maxUnsentBytes: 1_048_576,
  retryMs: 2_000,
}

const NO_STREAM_LIMITS: SlotLimits = { all: Infinity, perOrg: Infinity }

/** Maximum concurrent readers of history, so that clients that reconnect all at once do not occupy the database. */
const MAX_HISTORY_READERS = 2
/** Access is checked again after this many heartbeats. */
const REVIEW_EVERY = 4
const MAX_STUCK_CHECKS = 4

/** Events after which access is checked again. */
const CHANGES_ACCESS: ReadonlySet<string> = new Set(['key.changed', 'member.changed', 'org.changed'])

/** The shared state of this file. */
interface StreamHub {
  readonly ctx: StreamsContext
  readonly limits: StreamLimits
  readonly channels: Map<OrgId, Channel>
  readonly reading: ReturnType<typeof createSemaphore>
  readonly slots: SlotCounter
  /**
   * The newest transaction of each org at the last heartbeat; a client that has not reached it by the next one has
   * missed an announcement.
   */
  versions: ReadonlyMap<OrgId, number>
  heartbeats: number
  timer: NodeJS.Timeout | null
  closed: boolean
}

export function createEventStreams(ctx: StreamsContext): EventStreams {
  const hub: StreamHub = {
    ...{
      ctx,
      limits: { ...LIMITS, ...ctx.limits },
      channels: new Map(),
      reading: createSemaphore(MAX_HISTORY_READERS),
    },
    slots: createSlotCounter('streams', ctx.limit ?? (() => NO_STREAM_LIMITS)),
    ...{ versions: new Map(), heartbeats: 0, timer: null, closed: false },
  }
  return {
    open: (request) => openEventStream(hub, request),
    publish: (orgId, transaction) => {
      const channel = hub.channels.get(orgId)
      if (channel === undefined) return
      channel.publish(transaction)
      if (transaction.events.some(([kind]) => CHANGES_ACCESS.has(kind))) void reviewClients(hub, channel)
    },
    size: hub.slots.size,
    close: () => {
      hub.closed = true
      stopHeartbeats(hub)
      for (const { clients } of hub.channels.values()) for (const client of [...clients]) client.response.end()
    },
  }
}

function rejectWhenClosed({ closed }: StreamHub): void {
  if (closed) throw new ErrGatewayDraining()
}

async function openEventStream(hub: StreamHub, request: StreamRequest): Promise<void> {
  rejectWhenClosed(hub)
  // Reserved before the first await, so that concurrent requests cannot all take the last slot.
  const release = hub.slots.acquire(request.orgId)
  try {
    // Read before anything is sent, so that the response can report an unavailable database.
    const version = await readVersion(hub.ctx.ports, request.orgId)
    rejectWhenClosed(hub)
    const response = request.takeOver()
    whenOver(response, release)
    if (!isOver(response)) startStream(hub, request, { outlet: response, version })
  } catch (error) {
    release()
    throw error
  }
}

function startStream(
  hub: StreamHub,
  { orgId, subscription, isAllowed, after, expiresAt }: StreamRequest,
  { outlet: response, version }: { readonly outlet: EventOutlet; readonly version: number },
): void {
  const client: EventClient = {
    ...{ subscription, response, isAllowed, position: after ?? afterTransaction(version) },
    ...{ live: false, closed: false, writtenBytes: 0, stuckChecks: 0, cutOff: null },
  }
  startResponse(response)
  const channel = channelOf(hub, orgId)
  channel.clients.add(client)
  const callOff = atExpiry(hub.ctx.ports.clock, expiresAt, () => void reviewClient(hub, client))
  whenOver(response, () => {
    callOff()
    removeClient(hub, { orgId, channel }, client)
    if (client.cutOff !== null) hub.ctx.cutOff?.(orgId, client.cutOff)
  })
  // A broken connection also emits close.
  response.on('error', () => undefined)
  sendChunk(client, retryFrame(hub.limits.retryMs), Infinity)
  startHeartbeats(hub)
  void catchUpClient(hub, { orgId, channel }, client)
}

interface ChannelRef {
  readonly orgId: OrgId
  readonly channel: Channel
}

function removeClient(hub: StreamHub, { orgId, channel }: ChannelRef, client: EventClient): void {
  client.closed = true
  channel.leave(client)
  channel.clients.delete(client)
  if (channel.clients.size === 0 && hub.channels.get(orgId) === channel) hub.channels.delete(orgId)
  if (hub.channels.size === 0) stopHeartbeats(hub)
}

function channelOf(hub: StreamHub, orgId: OrgId): Channel {
  const known = hub.channels.get(orgId)
  if (known !== undefined) return known
  const { ports, work } = hub.ctx
  const created = createChannel({
    orgId,
    owners: createOwnerCache(orgId, work.ownersOf),
    loadOwners: (ids) => readOwners(ports, { orgId, ids }),
    catchUp: (client) => void catchUpClient(hub, { orgId, channel: created }, client),
    scheduleFlush: createBatcher(hub.limits.collectMs),
    maxUnsentBytes: hub.limits.maxUnsentBytes,
  })
  hub.channels.set(orgId, created)
  return created
}

/** Lets a client catch up and then makes it live. */
async function catchUpClient(hub: StreamHub, { orgId, channel }: ChannelRef, client: EventClient): Promise<void> {
  const { ports, work, failed } = hub.ctx
  const { reading, limits } = hub
  try {
    const isThere = await catchUp(
      {
        ...{
          orgId,
          owners: createOwnerCache(orgId, work.ownersOf),
          announced: channel.announced,
          maxUnsentBytes: limits.maxUnsentBytes,
        },
        read: (after, limit) => reading.run(() => readHistory(ports, { orgId, after, limit })),
        version: () => readVersion(ports, orgId),
        loadOwners: (ids) => reading.run(() => readOwners(ports, { orgId, ids })),
      },
      client,
    )
    if (isThere) channel.join(client)
  } catch (error) {
    failed(error)
    disconnect(client)
  }
}

function startHeartbeats(hub: StreamHub): void {
  hub.timer ??= setInterval(() => {
    sendHeartbeats(hub).catch(hub.ctx.failed)
  }, hub.limits.heartbeatMs).unref()
}

function stopHeartbeats(hub: StreamHub): void {
  if (hub.timer !== null) clearInterval(hub.timer)
  hub.timer = null
}

/** Sends a heartbeat to every client, and finds clients that missed an announcement. */
async function sendHeartbeats(hub: StreamHub): Promise<void> {
  hub.heartbeats += 1
  for (const [orgId, channel] of hub.channels) {
    const expected = hub.versions.get(orgId) ?? 0
    for (const client of [...channel.clients]) {
      if (isStuck(client, MAX_STUCK_CHECKS)) disconnect(client, 'stuck')
      else if (client.live && channel.sentUpTo(client) < expected) {
        // Announcements may get lost; history is reliable.
        channel.leave(client)
        void catchUpClient(hub, { orgId, channel }, client)
      } else if (client.live && !client.response.writableNeedDrain)
        sendChunk(client, heartbeatFrame(channel.sentUpTo(client)), Infinity)
    }
    if (hub.heartbeats % REVIEW_EVERY === 0) void reviewClients(hub, channel)
  }
  hub.versions = await readVersions(hub.ctx.ports)
}

/** Ends the streams of clients that are no longer authorized. */
async function reviewClients(hub: StreamHub, { clients }: Channel): Promise<void> {
  for (const client of [...clients]) await reviewClient(hub, client)
}

/** If the check fails, the next one decides. */
async function reviewClient(hub: StreamHub, client: EventClient): Promise<void> {
  try {
    if (!(await client.isAllowed())) client.response.end()
  } catch (error) {
    hub.ctx.failed(error)
  }
}

/** Limits concurrency; further calls wait in order. */
interface Semaphore {
  readonly run: <T>(task: () => Promise<T>) => Promise<T>
}

export function createSemaphore(size: number): Semaphore {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    run: async (task) => {
      if (running >= size) await new Promise<void>((resolve) => waiting.push(resolve))
      else running += 1
      try {
        return await task()
      } finally {
        // The next caller takes over the slot.
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}

/** Sending may take this share of the time, and batches are delayed no longer than this. */
const MAX_SEND_SHARE = 0.05
const MAX_BATCH_DELAY_MS = 500

/**
 * Calls back soon: at once after a pause, or else after an interval since the last call. The interval grows with the
 * duration of the last call, so that with many clients more events are sent per batch and other work is not delayed.
 */
export function createBatcher(everyMs: number): (flush: () => void) => void {
  let waiting = false
  let next = -Infinity
  return (flush) => {
    if (waiting) return
    waiting = true
    const call = (): void => {
      waiting = false
      const began = performance.now()
      flush()
      const ended = performance.now()
      next = ended + Math.max(everyMs, Math.min(MAX_BATCH_DELAY_MS, (ended - began) / MAX_SEND_SHARE))
    }
    const wait = next - performance.now()
    if (wait <= 0) setImmediate(call)
    else setTimeout(call, wait)
  }
}
