import type { ServerResponse } from 'node:http'
import { ErrGatewayDraining } from '../../api/refusals.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { readHistory, readOwners, readVersion, readVersions, type ToldTurn } from '../../service/events.ts'
import type { LiveWork } from '../../service/live-port.ts'
import type { Ports } from '../../service/ports.ts'
import { atExpiry } from '../at-expiry.ts'
import { createPlaces, type MostPlaces, type Places } from '../places.ts'
import { isOver, whenOver } from '../when-over.ts'
import { catchUp } from './catch-up.ts'
import { createChannel, type Channel } from './channel.ts'
import { begin, cut, isStuck, send, type Client, type CutOff } from './client.ts'
import type { Wanted } from '../../server/events/filter.ts'
import { firstFrame, heartbeatFrame } from './frames.ts'
import { createGate } from './gate.ts'
import { createOwners } from './owners.ts'
import { createPace } from './pace.ts'
import { wholeTurn, type Position } from './position.ts'

/** Somebody who wants to listen. */
export interface Listener {
  readonly orgId: OrgId
  readonly wanted: Wanted
  /** Where to go on; null: from now on. */
  readonly after: Position | null
  readonly isAllowed: () => Promise<boolean>
  /** When the key or session expires that they listen with; null: never. */
  readonly expiresAt: Instant | null
  /** Takes the connection over, once it is sure that there is something to say. */
  readonly take: () => ServerResponse
}

/** Everybody who listens at this node. */
export interface EventStreams {
  /** Begins to tell somebody what happens. Refuses before anything was said. */
  readonly open: (listener: Listener) => Promise<void>
  /** A turn was kept, by this node or another one. Once each, in order. */
  readonly hear: (orgId: OrgId, turn: ToldTurn) => void
  readonly size: () => number
  /** Ends every stream. */
  readonly close: () => void
}

export interface StreamsContext {
  readonly ports: Pick<Ports, 'database' | 'clock'>
  readonly work: Pick<LiveWork, 'ownersOf'>
  /** Something could not be looked at; those it concerns come back by themselves. */
  readonly failed: (error: unknown) => void
  /** Somebody who read too slowly was sent away. */
  readonly cutOff?: (orgId: OrgId, why: CutOff) => void
  /** How many there may be; left out: as many as come. */
  readonly most?: () => MostPlaces
  readonly limits?: Partial<StreamLimits>
}

/** How much, how often. */
export interface StreamLimits {
  readonly heartbeatMs: number
  /** What happens is collected so long at least: thousands of events a second become a few dozen sendings. */
  readonly collectMs: number
  /** Bytes that may wait for somebody who reads slowly. */
  readonly mostWaiting: number
  /** How long browsers wait before they come back. */
  readonly retryMs: number
}

const LIMITS: StreamLimits = {
  heartbeatMs: 15_000,
  collectMs: 25,
  mostWaiting: 1_048_576,
  retryMs: 2_000,
}

const WITHOUT_END: MostPlaces = { all: Infinity, perOrg: Infinity }

/** So many look at history at the same time: those who come back all at once must not take the database for themselves. */
const READERS = 2
/** After so many heartbeats it is asked again whether somebody may listen. */
const REVIEW_EVERY = 4
const LONGEST_STUCK = 4

/** What changes who may listen. */
const CHANGES_ACCESS: ReadonlySet<string> = new Set(['key.changed', 'member.changed', 'org.changed'])

/** What the parts of this file share. */
interface Hub {
  readonly ctx: StreamsContext
  readonly limits: StreamLimits
  readonly channels: Map<OrgId, Channel>
  readonly reading: ReturnType<typeof createGate>
  readonly places: Places
  /** The newest turns when it was last looked: who has not come so far by the next look has been told nothing of them. */
  versions: ReadonlyMap<OrgId, number>
  beats: number
  timer: NodeJS.Timeout | null
  closed: boolean
}

export function createEventStreams(ctx: StreamsContext): EventStreams {
  const hub: Hub = {
    ...{ ctx, limits: { ...LIMITS, ...ctx.limits }, channels: new Map(), reading: createGate(READERS) },
    places: createPlaces('streams', ctx.most ?? (() => WITHOUT_END)),
    ...{ versions: new Map(), beats: 0, timer: null, closed: false },
  }
  return {
    open: (listener) => open(hub, listener),
    hear: (orgId, turn) => {
      const channel = hub.channels.get(orgId)
      if (channel === undefined) return
      channel.hear(turn)
      if (turn.events.some(([kind]) => CHANGES_ACCESS.has(kind))) void review(hub, channel)
    },
    size: hub.places.size,
    close: () => {
      hub.closed = true
      stopBeating(hub)
      for (const { clients } of hub.channels.values()) for (const client of [...clients]) client.outlet.end()
    },
  }
}

function refuseWhenClosed({ closed }: Hub): void {
  if (closed) throw new ErrGatewayDraining()
}

async function open(hub: Hub, listener: Listener): Promise<void> {
  refuseWhenClosed(hub)
  // Before anything is waited for: thousands who come at once must not all find the last place free.
  const giveBack = hub.places.take(listener.orgId)
  try {
    // Asked for before anything is sent: when the database is away, the answer says so.
    const version = await readVersion(hub.ctx.ports, listener.orgId)
    refuseWhenClosed(hub)
    const outlet = listener.take()
    whenOver(outlet, giveBack)
    if (!isOver(outlet)) welcome(hub, listener, { outlet, version })
  } catch (error) {
    giveBack()
    throw error
  }
}

function welcome(
  hub: Hub,
  { orgId, wanted, isAllowed, after, expiresAt }: Listener,
  { outlet, version }: { readonly outlet: ServerResponse; readonly version: number },
): void {
  const client: Client = {
    ...{ wanted, outlet, isAllowed, position: after ?? wholeTurn(version) },
    ...{ live: false, closed: false, taken: 0, stuck: 0, cutOff: null },
  }
  begin(outlet)
  const channel = channelOf(hub, orgId)
  channel.clients.add(client)
  const callOff = atExpiry(hub.ctx.ports.clock, expiresAt, () => void reviewOne(hub, client))
  whenOver(outlet, () => {
    callOff()
    leave(hub, { orgId, channel }, client)
    if (client.cutOff !== null) hub.ctx.cutOff?.(orgId, client.cutOff)
  })
  // A connection that breaks is closed too; there is nothing more to say about it.
  outlet.on('error', () => undefined)
  send(client, firstFrame(hub.limits.retryMs), Infinity)
  startBeating(hub)
  void bring(hub, { orgId, channel }, client)
}

interface Place {
  readonly orgId: OrgId
  readonly channel: Channel
}

function leave(hub: Hub, { orgId, channel }: Place, client: Client): void {
  client.closed = true
  channel.leave(client)
  channel.clients.delete(client)
  if (channel.clients.size === 0 && hub.channels.get(orgId) === channel) hub.channels.delete(orgId)
  if (hub.channels.size === 0) stopBeating(hub)
}

function channelOf(hub: Hub, orgId: OrgId): Channel {
  const known = hub.channels.get(orgId)
  if (known !== undefined) return known
  const { ports, work } = hub.ctx
  const made = createChannel({
    orgId,
    owners: createOwners(orgId, work.ownersOf),
    askOwners: (ids) => readOwners(ports, { orgId, ids }),
    behind: (client) => void bring(hub, { orgId, channel: made }, client),
    soon: createPace(hub.limits.collectMs),
    mostWaiting: hub.limits.mostWaiting,
  })
  hub.channels.set(orgId, made)
  return made
}

/** Brings somebody from where they are to those who are live. */
async function bring(hub: Hub, { orgId, channel }: Place, client: Client): Promise<void> {
  const { ports, work, failed } = hub.ctx
  const { reading, limits } = hub
  try {
    const isThere = await catchUp(
      {
        ...{ orgId, owners: createOwners(orgId, work.ownersOf), heard: channel.heard, mostWaiting: limits.mostWaiting },
        read: (after, limit) => reading.pass(() => readHistory(ports, { orgId, after, limit })),
        version: () => readVersion(ports, orgId),
        askOwners: (ids) => reading.pass(() => readOwners(ports, { orgId, ids })),
      },
      client,
    )
    if (isThere) channel.join(client)
  } catch (error) {
    failed(error)
    cut(client)
  }
}

function startBeating(hub: Hub): void {
  hub.timer ??= setInterval(() => {
    beat(hub).catch(hub.ctx.failed)
  }, hub.limits.heartbeatMs).unref()
}

function stopBeating(hub: Hub): void {
  if (hub.timer !== null) clearInterval(hub.timer)
  hub.timer = null
}

/** Says to everybody that we are there, and looks whether somebody was forgotten. */
async function beat(hub: Hub): Promise<void> {
  hub.beats += 1
  for (const [orgId, channel] of hub.channels) {
    const expected = hub.versions.get(orgId) ?? 0
    for (const client of [...channel.clients]) {
      if (isStuck(client, LONGEST_STUCK)) cut(client, 'stuck')
      else if (client.live && channel.toldUpTo(client) < expected) {
        // Hearing is only a hint; what is on record is certain.
        channel.leave(client)
        void bring(hub, { orgId, channel }, client)
      } else if (client.live && !client.outlet.writableNeedDrain)
        send(client, heartbeatFrame(channel.toldUpTo(client)), Infinity)
    }
    if (hub.beats % REVIEW_EVERY === 0) void review(hub, channel)
  }
  hub.versions = await readVersions(hub.ctx.ports)
}

/** Ends the streams of those who may not listen any more. */
async function review(hub: Hub, { clients }: Channel): Promise<void> {
  for (const client of [...clients]) await reviewOne(hub, client)
}

/** When it cannot be found out whether they may, the next look will. */
async function reviewOne(hub: Hub, client: Client): Promise<void> {
  try {
    if (!(await client.isAllowed())) client.outlet.end()
  } catch (error) {
    hub.ctx.failed(error)
  }
}
