import {
  formatHeartbeatTarget,
  type HeartbeatConfig,
  type HeartbeatTarget,
} from '../../domain/heartbeat/heartbeat-config.ts'
import type { HeartbeatDelivery } from '../../domain/heartbeat/heartbeat-reply.ts'
import type { ChatRoute, HeartbeatRoute, KnownRoutes, SessionRoute } from '../../domain/heartbeat/heartbeat.ts'
import type { RunDelivery } from '../../domain/delivery/delivery.ts'
import { targetId, type AgentId, type OrgId, type TargetId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { instant, later, MINUTE_MS, type Instant } from '../../domain/instant.ts'
import { loadChannelNamed, loadChannelsNamed, type ChannelRow } from '../channels/store.ts'
import { loadLastChats, loadLastSessions, type LastChat } from '../channels/chats-store.ts'
import type { Connection } from '../../platform/db/database.ts'
import type { HeartbeatRow } from './store.ts'
import { loadTargets } from '../targets/store.ts'
import { ID_PREFIXES } from '../../engine/ids.ts'

/** An agent whose heartbeat needs a route, and its configured target. */
interface RouteSubject {
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly config: Pick<HeartbeatConfig, 'target'>
}

/** The result of the previous search for the session used last. */
export type LastKnown = Pick<HeartbeatRow, 'lastSession' | 'lookedUntil'>

/** The possible routes of an answer, and what a later search does not have to look up again. */
export interface FoundRoutes {
  readonly routes: KnownRoutes
  readonly lastKnown: LastKnown
}

export const NO_ROUTES: KnownRoutes = {
  lastRoute: null,
  channelIsOpen: false,
  channelRecipient: null,
  savedTarget: null,
}

/** The id of a saved target, which a configuration may give instead of a channel name. */
const savedTargetId = (target: HeartbeatTarget): TargetId | null =>
  target.kind === 'channel' && target.recipient === null && target.channel.startsWith(ID_PREFIXES.target)
    ? targetId(target.channel)
    : null

interface RouteRequest extends Omit<RouteSubject, 'orgId'> {
  readonly config: Pick<HeartbeatConfig, 'target' | 'session'>
  readonly lastKnown: LastKnown
}

interface RouteSearch {
  readonly orgId: OrgId
  readonly now: Instant
  readonly all: readonly RouteRequest[]
}

/** Finds the possible routes of answers, with a number of statements that does not depend on how many heartbeats. */
export async function findHeartbeatRoutes(
  connection: Connection,
  search: RouteSearch,
): Promise<readonly FoundRoutes[]> {
  const { orgId } = search
  const saved = search.all.flatMap(({ config: { target } }) => savedTargetId(target) ?? [])
  const targets = saved.length === 0 ? [] : await loadTargets(connection, { orgId, ids: saved })
  const existingIds = new Set(targets.map(({ id }) => id))
  const inChannels = await findChannelRoutes(connection, search)
  const last = await findLastRoutes(connection, search)
  return search.all.map((request): FoundRoutes => {
    const { config, lastKnown } = request
    const id = savedTargetId(config.target)
    if (id !== null) return { routes: { ...NO_ROUTES, savedTarget: existingIds.has(id) ? id : null }, lastKnown }
    return last.get(request) ?? { routes: inChannels.get(request) ?? NO_ROUTES, lastKnown }
  })
}

/** Finds the routes of heartbeats whose target is a channel. */
async function findChannelRoutes(
  connection: Connection,
  { orgId, all }: RouteSearch,
): Promise<ReadonlyMap<RouteRequest, KnownRoutes>> {
  const requests = all.flatMap((request) => {
    const { target } = request.config
    return target.kind === 'channel' && savedTargetId(target) === null
      ? [{ asking: request, name: target.channel }]
      : []
  })
  if (requests.length === 0) return new Map()
  const found = await loadChannelsNamed(connection, { orgId, names: requests.map(({ name }) => name) })
  const channels = new Map(found.map((channel) => [channel.name, channel]))
  const wanted = requests.map(({ asking: { agentId }, name }) => ({ agentId, channel: name }))
  const chats = await loadLastChats(connection, { orgId, wanted })
  return new Map(
    requests.map(({ asking: request, name }, index) => {
      const channel = channels.get(name)
      const channelIsOpen = channel !== undefined && channel.enabled && canSend(channel)
      const channelRecipient = channel?.settings.default_recipient ?? null
      return [request, { ...NO_ROUTES, channelIsOpen, channelRecipient, lastRoute: newerRoute(chats[index], null) }]
    }),
  )
}

/** A run may be committed a little after its `created_at`. */
const OVERLAP_MS = MINUTE_MS

/** Finds the sessions used last. Skips runs that an earlier search has read: an agent may have very many. */
async function findLastRoutes(
  connection: Connection,
  { orgId, now, all }: RouteSearch,
): Promise<ReadonlyMap<RouteRequest, FoundRoutes>> {
  const requests = all.filter(({ config }) => config.target.kind === 'last')
  if (requests.length === 0) return new Map()
  const sessions = await loadLastSessions(connection, {
    orgId,
    wanted: requests.map(({ agentId, config: { session: without }, lastKnown: { lookedUntil } }) => ({
      agentId,
      since: lookedUntil === null ? instant(-Infinity) : later(lookedUntil, -OVERLAP_MS),
      without,
    })),
  })
  const chats = await loadLastChats(connection, {
    orgId,
    wanted: requests.map(({ agentId }) => ({ agentId, channel: null })),
  })
  return new Map(
    requests.map((request, index) => {
      const lastKnown = { lastSession: sessions[index] ?? request.lastKnown.lastSession, lookedUntil: now }
      const lastRoute = newerRoute(chats[index], lastKnown.lastSession)
      return [request, { routes: { ...NO_ROUTES, lastRoute }, lastKnown }]
    }),
  )
}

/** Chooses the chat or the session, whichever was used last. */
function newerRoute(chat: LastChat | undefined, session: HeartbeatRow['lastSession']): ChatRoute | SessionRoute | null {
  if (session !== null && (chat === undefined || session.at > chat.at)) return { kind: 'session', session: session.key }
  if (chat === undefined) return null
  return { kind: 'chat', channel: chat.channel, recipient: chat.peer, session: chat.session }
}

/** Whether a channel can send messages: an inbound hook only receives. */
const canSend = ({ kind }: Pick<ChannelRow, 'kind'>): boolean => kind !== 'hook'

/**
 * Returns the flaws of a target that can never work. A missing or disabled channel, or one without a recipient, is not
 * a flaw, because that can be fixed later; until then the log shows `no_route`.
 */
export async function targetFlaws(connection: Connection, request: RouteSubject): Promise<readonly Flaw[]> {
  const { orgId } = request
  const { target } = request.config
  if (target.kind !== 'channel') return []
  const flaw = (message: string): readonly Flaw[] => [
    { field: 'target', value: formatHeartbeatTarget(target), message, allowed: TARGET_FORMS },
  ]
  const saved = savedTargetId(target)
  if (saved !== null) {
    const [found] = await loadTargets(connection, { orgId, ids: [saved] })
    return found === undefined ? flaw('is not the id of an existing target') : []
  }
  const channel = await loadChannelNamed(connection, { orgId, name: target.channel })
  return channel === undefined || canSend(channel)
    ? []
    : flaw(`is the inbound hook ${target.channel}, which cannot send`)
}

const TARGET_FORMS = 'last, none, a channel name, channel:recipient, or a target id'

/** Converts a route to a delivery of the outbox. Null: nothing is sent. */
export function deliveryTo(route: HeartbeatRoute): RunDelivery | null {
  switch (route.kind) {
    case 'none':
      return null
    case 'saved':
      return { target: route.target }
    case 'chat':
      return { channel: route.channel, to: route.recipient }
    case 'session':
      return { session: route.session }
  }
}

/** Adds the answer to the session it is sent to, unless the run itself is part of that session. */
export function answerSession(
  { session: own }: Pick<HeartbeatConfig, 'session'>,
  route: HeartbeatRoute,
): Pick<HeartbeatDelivery['heartbeat'], 'session'> {
  const session = route.kind === 'chat' || route.kind === 'session' ? route.session : undefined
  return session === undefined || session === own ? {} : { session }
}

/** Formats a route for display. */
export function formatRoute(route: HeartbeatRoute): string {
  switch (route.kind) {
    case 'none':
      return 'none'
    case 'saved':
      return route.target
    case 'chat':
      return `${route.channel}:${route.recipient}`
    case 'session':
      return `session ${route.session}`
  }
}
