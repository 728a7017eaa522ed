import type { Exchange } from '../core/chat/conversation.ts'
import { parseChatOptions, type ChatOptions } from '../core/chat/chat-options.ts'
import { agentId, type OrgId, type RunId, type SessionKey } from '../core/ids.ts'
import { loadAgents } from '../store/agents.ts'
import { loadAddedExchanges, loadExchanges, loadRunInConversation } from '../store/conversation.ts'
import type { Ports } from './ports.ts'

type Reading = Pick<Ports, 'database'>

/** How an agent's model is asked, and how much it takes in; null: there is none of that kind any more. */
export async function findChatAgent(
  { database }: Reading,
  { orgId, agentId: id }: { readonly orgId: OrgId; readonly agentId: string },
): Promise<{ readonly options: ChatOptions; readonly contextWindow: number | null } | null> {
  const [row] = await loadAgents(database, { orgId, ids: [agentId(id)] })
  const read = row?.executor.kind === 'chat' ? parseChatOptions('executor', row.executor) : null
  return row === undefined || read?.ok !== true ? null : { options: read.value, contextWindow: row.contextWindow }
}

/** Nobody reads further back, however small what was said. */
const MOST_EXCHANGES = 500
/** News of heartbeats that a conversation is told of. */
const MAX_ADDED = 20
/** More bytes than tokens are made of: what is left out here would not have fitted either. */
const BYTES_PER_TOKEN = 8

/** What was said in the session of a run before it, and who says what the run is about. */
export async function findConversation(
  { database }: Reading,
  asked: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly sessionKey: SessionKey
    readonly mostTokens: number
  },
): Promise<{
  readonly sender: string | null
  readonly retryOf: RunId | null
  readonly exchanges: readonly Exchange[]
}> {
  const { orgId, runId, sessionKey } = asked
  const run = await loadRunInConversation(database, { orgId, id: runId })
  if (run === undefined) return { sender: null, retryOf: null, exchanges: [] }
  const exchanges = await loadExchanges(database, {
    ...{ orgId, sessionKey, generation: run.generation, without: runId },
    ...{ limit: MOST_EXCHANGES, mostBytes: asked.mostTokens * BYTES_PER_TOKEN },
  })
  const added = await loadAddedExchanges(database, {
    ...{ orgId, sessionKey, generation: run.generation, limit: MAX_ADDED },
  })
  return { sender: run.sender, retryOf: run.retryOf, exchanges: [...exchanges, ...added] }
}
