import {
  formatHeartbeatTarget,
  type HeartbeatConfig,
  type HeartbeatTarget,
} from '../../core/heartbeat/heartbeat-config.ts'
import type { HeartbeatFacts, HeartbeatRoute } from '../../core/heartbeat/heartbeat.ts'
import type { RunDelivery } from '../../core/delivery/run-delivery.ts'
import { targetId, type AgentId, type OrgId, type TargetId } from '../../core/ids.ts'
import type { Flaw } from '../../core/input.ts'
import { loadChannelNamed, type ChannelRow } from '../../store/channels.ts'
import type { Connection } from '../../store/database.ts'
import { loadTargets } from '../../store/targets.ts'
import { findRoutes } from '../channel/routes.ts'
import { ID_PREFIXES } from '../ids.ts'

/** Whose heartbeat, and where its answer is to go. */
interface Asking {
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly config: Pick<HeartbeatConfig, 'target'>
}

export type KnownRoutes = Pick<HeartbeatFacts, 'lastRoute' | 'channelIsOpen' | 'channelRecipient' | 'savedTarget'>

const NOWHERE: KnownRoutes = { lastRoute: null, channelIsOpen: false, channelRecipient: null, savedTarget: null }

/** The id of a target that stands where a channel could. */
const savedIn = (target: HeartbeatTarget): TargetId | null =>
  target.kind === 'channel' && target.recipient === null && target.channel.startsWith(ID_PREFIXES.target)
    ? targetId(target.channel)
    : null

/** What is known about where an answer could go. */
export async function findHeartbeatRoutes(connection: Connection, asking: Asking): Promise<KnownRoutes> {
  const { orgId, agentId } = asking
  const { target } = asking.config
  if (target.kind === 'none') return NOWHERE
  const saved = savedIn(target)
  if (saved !== null) {
    const [found] = await loadTargets(connection, { orgId, ids: [saved] })
    return { ...NOWHERE, savedTarget: found?.id ?? null }
  }
  if (target.kind === 'last') {
    const { lastRoute } = await findRoutes(connection, { orgId, agentId, channel: null })
    return { ...NOWHERE, lastRoute }
  }
  const channel = await loadChannelNamed(connection, { orgId, name: target.channel })
  const channelIsOpen = channel !== undefined && channel.enabled && speaks(channel)
  return { ...NOWHERE, channelIsOpen, channelRecipient: channel?.settings.default_recipient ?? null }
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
  }
}
