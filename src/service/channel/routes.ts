import type { AgentId, OrgId } from '../../core/ids.ts'
import { loadChannelNamed } from '../../store/channels.ts'
import { loadLastPlace } from '../../store/chats.ts'
import type { Connection } from '../../store/database.ts'

/** Where somebody can be told something: a channel by its name, and whom in it. */
export interface ChannelRoute {
  readonly channel: string
  readonly recipient: string
}

/** What is known about where an agent can say something by itself. */
export interface ChannelRoutes {
  /** Where the agent was last spoken to, on a channel that is switched on. */
  readonly lastRoute: ChannelRoute | null
  /** Whom the channel that was asked for writes to when nobody is named. */
  readonly channelRecipient: string | null
}

/** Finds where an agent can say something. `channel`: the name of a channel somebody wants used. */
export async function findRoutes(
  database: Connection,
  { orgId, agentId, channel }: { readonly orgId: OrgId; readonly agentId: AgentId; readonly channel: string | null },
): Promise<ChannelRoutes> {
  const last = await loadLastPlace(database, { orgId, agentId })
  const named = channel === null ? undefined : await loadChannelNamed(database, { orgId, name: channel })
  return {
    lastRoute: last === undefined ? null : { channel: last.channel, recipient: last.peer },
    channelRecipient: named?.enabled === true ? named.settings.default_recipient : null,
  }
}
