import type { App } from '../app.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import type { ExecutorHost } from '../executors/host.ts'
import { PERFORMERS } from '../executors/performers.ts'
import { findAgent, findInlineAgent } from '../service/agent-executor.ts'
import { findConversation } from '../service/conversation.ts'
import { readAnsweredResult } from '../features/runs/result-input.ts'
import { rememberOfAgents } from './remembered.ts'

/** Lets the node perform every kind of work for which the process has what it needs. */
export function addExecutors(app: App, given: Pick<ExecutorHost, 'callbackUrl' | 'commands' | 'tabs'>): void {
  const { ports, parts, outbound } = app
  const host: ExecutorHost = {
    ...given,
    send: outbound.send,
    agentOf: (spec) => {
      const known = rememberOfAgents(app, (attempt) => findAgent(ports, spec, attempt))
      return (attempt) =>
        inlineKindOf(attempt.agentId) === null ? known(attempt) : findInlineAgent(ports, spec, attempt)
    },
    pastOf: ({ orgId, runId, sessionKey }, mostTokens) =>
      sessionKey === null
        ? Promise.resolve({ sender: null, retryOf: null, exchanges: [] })
        : findConversation(ports, { orgId, runId, sessionKey, mostTokens }),
    readResult: readAnsweredResult,
  }
  for (const [kind, perform] of Object.entries(PERFORMERS)) {
    const executor = perform(host)
    if (executor !== null) parts.ctx.executors.set(kind, executor)
  }
}
