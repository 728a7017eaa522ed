import {
  formatHeartbeatTarget,
  type HeartbeatConfig,
  type HeartbeatTarget,
} from '../../core/heartbeat/heartbeat-config.ts'
import type { HeartbeatDelivery } from '../../core/heartbeat/heartbeat-delivery.ts'
import type { ChatRoute, HeartbeatRoute, KnownRoutes, SessionRoute } from '../../core/heartbeat/heartbeat.ts'
import type { RunDelivery } from '../../core/delivery/run-delivery.ts'
import { targetId, type AgentId, type OrgId, type TargetId } from '../../core/ids.ts'
import type { Flaw } from '../../core/input.ts'
import { instant, later, MINUTE_MS, type Instant } from '../../core/instant.ts'
import { loadChannelNamed, type ChannelRow } from '../../store/channels.ts'
import { loadLastChat, loadLastSession, type LastChat } from '../../store/chats.ts'
import type { Connection } from '../../store/database.ts'
import type { HeartbeatRow } from '../../store/heartbeats.ts'
import { loadTargets } from '../../store/targets.ts'
import { ID_PREFIXES } from '../ids.ts'

/** Whose heartbeat, and where its answer is to go. */
interface Asking {
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly config: Pick<HeartbeatConfig, 'target'>
}

/** What was found out about the conversation used last when it was looked for before. */
export type LastKnown = Pick<HeartbeatRow, 'lastSession' | 'lookedUntil'>

/** What is known about where an answer could go, and what a later look need not find out again. */
export interface FoundRoutes {
  readonly routes: KnownRoutes
  readonly lastKnown: LastKnown
}

const NOWHERE: KnownRoutes = { lastRoute: null, channelIsOpen: false, channelRecipient: null, savedTarget: null }

/** The id of a target that stands where a channel could. */
const savedIn = (target: HeartbeatTarget): TargetId | null =>
  target.kind === 'channel' && target.recipient === null && target.channel.startsWith(ID_PREFIXES.target)
    ? targetId(target.channel)
    : null

interface Searching extends Asking {
  readonly config: Pick<HeartbeatConfig, 'target' | 'session'>
  readonly lastKnown: LastKnown
  readonly now: Instant
}

/** Finds out where an answer could go. */
export async function findHeartbeatRoutes(connection: Connection, asking: Searching): Promise<FoundRoutes> {
  const { orgId, agentId, lastKnown } = asking
  const { target } = asking.config
  if (target.kind === 'none') return { routes: NOWHERE, lastKnown }
  const saved = savedIn(target)
  if (saved !== null) {
    const [found] = await loadTargets(connection, { orgId, ids: [saved] })
    return { routes: { ...NOWHERE, savedTarget: found?.id ?? null }, lastKnown }
  }
  if (target.kind === 'last') return findLast(connection, asking)
  const channel = await loadChannelNamed(connection, { orgId, name: target.channel })
  const channelIsOpen = channel !== undefined && channel.enabled && speaks(channel)
  const chat = await loadLastChat(connection, { orgId, agentId, channel: target.channel })
  const channelRecipient = channel?.settings.default_recipient ?? null
  return { routes: { ...NOWHERE, channelIsOpen, channelRecipient, lastRoute: routeTo(chat, null) }, lastKnown }
}

/** A run may be committed a little after the time it carries. */
const OVERLAP_MS = MINUTE_MS

/** The conversation used last. Runs that an earlier look has seen are not looked at again: an agent may have very many. */
async function findLast(connection: Connection, asking: Searching): Promise<FoundRoutes> {
  const { orgId, agentId, now, lastKnown: before } = asking
  const since = before.lookedUntil === null ? instant(-Infinity) : later(before.lookedUntil, -OVERLAP_MS)
  const without = asking.config.session
  const found = await loadLastSession(connection, { orgId, agentId, since, without })
  const lastKnown = { lastSession: found ?? before.lastSession, lookedUntil: now }
  const chat = await loadLastChat(connection, { orgId, agentId, channel: null })
  return { routes: { ...NOWHERE, lastRoute: routeTo(chat, lastKnown.lastSession) }, lastKnown }
}

/** The newer of the two. */
function routeTo(chat: LastChat | undefined, session: HeartbeatRow['lastSession']): ChatRoute | SessionRoute | null {
  if (session !== null && (chat === undefined || session.at > chat.at)) return { kind: 'session', session: session.key }
  if (chat === undefined) return null
  return { kind: 'chat', channel: chat.channel, recipient: chat.peer, session: chat.session }
}

/** An inbound hook only hears. */
const speaks = ({ kind }: Pick<ChannelRow, 'kind'>): boolean => kind !== 'hook'

/**
 * What is wrong with a target that can never be reached. A channel may be made, switched on or given a recipient later:
 * until then the log says that there is no route.
 */
export async function flawsOfTarget(connection: Connection, asking: Asking): Promise<readonly Flaw[]> {
  const { orgId } = asking
  const { target } = asking.config
  if (target.kind !== 'channel') return []
  const flaw = (message: string): readonly Flaw[] => [
    { field: 'target', value: formatHeartbeatTarget(target), message, allowed: FORMS },
  ]
  const saved = savedIn(target)
  if (saved !== null) {
    const [found] = await loadTargets(connection, { orgId, ids: [saved] })
    return found === undefined ? flaw('names a target that is not there') : []
  }
  const channel = await loadChannelNamed(connection, { orgId, name: target.channel })
  return channel === undefined || speaks(channel)
    ? []
    : flaw(`names the inbound hook ${target.channel}, through which nothing can be said`)
}

const FORMS = 'last, none, the name of a channel, channel:recipient, or the id of a target'

/** The way to a route, as the outbox knows it. Null: nothing is sent. */
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

/** The answer is added to the conversation it goes to, unless the run itself is part of that conversation. */
export function addingTo(
  { session: own }: Pick<HeartbeatConfig, 'session'>,
  route: HeartbeatRoute,
): Pick<HeartbeatDelivery['heartbeat'], 'session'> {
  const session = route.kind === 'chat' || route.kind === 'session' ? route.session : undefined
  return session === undefined || session === own ? {} : { session }
}

/** A route as people read it. */
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
