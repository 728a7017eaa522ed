import type { Exchange } from '../executors/chat/conversation.ts'
import type { OrgId, RunId, SessionKey } from '../domain/ids.ts'
import { loadAddedExchanges, loadExchanges, loadRunInConversation } from '../store/conversation.ts'
import type { Ports } from './ports.ts'

type Reading = Pick<Ports, 'database'>

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
