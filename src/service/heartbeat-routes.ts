import type { HeartbeatConfig, HeartbeatTarget } from '../core/heartbeat/heartbeat-config.ts'
import type { HeartbeatFacts, HeartbeatRoute } from '../core/heartbeat/heartbeat.ts'
import type { RunDelivery } from '../core/delivery/run-delivery.ts'
import { targetId, type AgentId, type OrgId, type TargetId } from '../core/ids.ts'
import type { Flaw } from '../core/input.ts'
import type { Connection } from '../store/database.ts'
import { loadTargets } from '../store/targets.ts'
import { ID_PREFIXES } from './ids.ts'

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
  const { orgId, config } = asking
  const saved = savedIn(config.target)
  if (saved === null) return NOWHERE
  const [found] = await loadTargets(connection, { orgId, ids: [saved] })
  return { ...NOWHERE, savedTarget: found?.id ?? null }
}

/** What is wrong with a target that names something the org does not have. */
export async function flawsOfTarget(connection: Connection, asking: Asking): Promise<readonly Flaw[]> {
  const saved = savedIn(asking.config.target)
  if (saved === null) return []
  const [found] = await loadTargets(connection, { orgId: asking.orgId, ids: [saved] })
  if (found !== undefined) return []
  return [{ field: 'target', value: saved, message: 'names a target that is not there', allowed: 'the id of a target' }]
}

/** The way to a route, as the outbox knows it. Null: nothing is sent. */
export const deliveryTo = (route: HeartbeatRoute): RunDelivery | null =>
  route.kind === 'saved' ? { target: route.target } : null
