import {
  formatHeartbeatTarget,
  type HeartbeatConfig,
  type HeartbeatTarget,
} from '../../domain/heartbeat/heartbeat-config.ts'
import type { HeartbeatDelivery } from '../../core/heartbeat/heartbeat-delivery.ts'
import type { ChatRoute, HeartbeatRoute, KnownRoutes, SessionRoute } from '../../domain/heartbeat/heartbeat.ts'
import type { RunDelivery } from '../../core/delivery/run-delivery.ts'
import { targetId, type AgentId, type OrgId, type TargetId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { instant, later, MINUTE_MS, type Instant } from '../../domain/instant.ts'
import { loadChannelNamed, loadChannelsNamed, type ChannelRow } from '../channels/store.ts'
import { loadLastChats, loadLastSessions, type LastChat } from '../channels/chats-store.ts'
import type { Connection } from '../../store/database.ts'
import type { HeartbeatRow } from './store.ts'
import { loadTargets } from '../../store/targets.ts'
import { ID_PREFIXES } from '../../engine/ids.ts'

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

export const NOWHERE: KnownRoutes = { lastRoute: null, channelIsOpen: false, channelRecipient: null, savedTarget: null }

/** The id of a target that stands where a channel could. */
const savedIn = (target: HeartbeatTarget): TargetId | null =>
  target.kind === 'channel' && target.recipient === null && target.channel.startsWith(ID_PREFIXES.target)
    ? targetId(target.channel)
    : null

interface Searching extends Omit<Asking, 'orgId'> {
  readonly config: Pick<HeartbeatConfig, 'target' | 'session'>
  readonly lastKnown: LastKnown
}

interface Search {
  readonly orgId: OrgId
  readonly now: Instant
  readonly all: readonly Searching[]
}

/** Finds out where the answers of heartbeats could go, with the same few statements however many there are. */
export async function findHeartbeatRoutes(connection: Connection, search: Search): Promise<readonly FoundRoutes[]> {
  const { orgId } = search
  const saved = search.all.flatMap(({ config: { target } }) => savedIn(target) ?? [])
  const targets = saved.length === 0 ? [] : await loadTargets(connection, { orgId, ids: saved })
  const isThere = new Set(targets.map(({ id }) => id))
  const inChannels = await findInChannels(connection, search)
  const last = await findLast(connection, search)
  return search.all.map((asking): FoundRoutes => {
    const { config, lastKnown } = asking
    const id = savedIn(config.target)
    if (id !== null) return { routes: { ...NOWHERE, savedTarget: isThere.has(id) ? id : null }, lastKnown }
    return last.get(asking) ?? { routes: inChannels.get(asking) ?? NOWHERE, lastKnown }
  })
}

/** The routes of those whose target is a channel. */
async function findInChannels(
  connection: Connection,
  { orgId, all }: Search,
): Promise<ReadonlyMap<Searching, KnownRoutes>> {
  const asked = all.flatMap((asking) => {
    const { target } = asking.config
    return target.kind === 'channel' && savedIn(target) === null ? [{ asking, name: target.channel }] : []
  })
  if (asked.length === 0) return new Map()
  const found = await loadChannelsNamed(connection, { orgId, names: asked.map(({ name }) => name) })
  const channels = new Map(found.map((channel) => [channel.name, channel]))
  const wanted = asked.map(({ asking: { agentId }, name }) => ({ agentId, channel: name }))
  const chats = await loadLastChats(connection, { orgId, wanted })
  return new Map(
    asked.map(({ asking, name }, place) => {
      const channel = channels.get(name)
      const channelIsOpen = channel !== undefined && channel.enabled && speaks(channel)
      const channelRecipient = channel?.settings.default_recipient ?? null
      return [asking, { ...NOWHERE, channelIsOpen, channelRecipient, lastRoute: routeTo(chats[place], null) }]
    }),
  )
}

/** A run may be committed a little after the time it carries. */
const OVERLAP_MS = MINUTE_MS

/** The conversations used last. Runs that an earlier look has seen are not looked at again: an agent may have very many. */
async function findLast(
  connection: Connection,
  { orgId, now, all }: Search,
): Promise<ReadonlyMap<Searching, FoundRoutes>> {
  const asked = all.filter(({ config }) => config.target.kind === 'last')
  if (asked.length === 0) return new Map()
  const sessions = await loadLastSessions(connection, {
    orgId,
    wanted: asked.map(({ agentId, config: { session: without }, lastKnown: { lookedUntil } }) => ({
      agentId,
      since: lookedUntil === null ? instant(-Infinity) : later(lookedUntil, -OVERLAP_MS),
      without,
    })),
  })
  const chats = await loadLastChats(connection, {
    orgId,
    wanted: asked.map(({ agentId }) => ({ agentId, channel: null })),
  })
  return new Map(
    asked.map((asking, place) => {
      const lastKnown = { lastSession: sessions[place] ?? asking.lastKnown.lastSession, lookedUntil: now }
      const lastRoute = routeTo(chats[place], lastKnown.lastSession)
      return [asking, { routes: { ...NOWHERE, lastRoute }, lastKnown }]
    }),
  )
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
