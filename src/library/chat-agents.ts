import type { App } from '../app.ts'
import { createChatExecutor } from '../executors/chat/execute.ts'
import { findChatAgent, findConversation } from '../service/conversation.ts'
import { rememberOfAgents } from './remembered.ts'

/** Lets the node ask models for their answers. */
export function addChatAgents(app: App): void {
  const { ports, parts, outbound } = app
  parts.ctx.executors.set(
    'chat',
    createChatExecutor({
      send: outbound.send,
      agentOf: rememberOfAgents(app, (attempt) => findChatAgent(ports, attempt)),
      pastOf: ({ orgId, runId, sessionKey }, mostTokens) =>
        sessionKey === null
          ? Promise.resolve({ sender: null, retryOf: null, exchanges: [] })
          : findConversation(ports, { orgId, runId, sessionKey, mostTokens }),
    }),
  )
}
