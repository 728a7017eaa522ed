import type { App } from '../app.ts'
import { inlineKindOf } from '../domain/agent.ts'
import { createWorkerAttemptKey } from '../engine/node.ts'
import type { Attempt } from '../executors/executor.ts'
import type { ExecutorHost } from '../executors/host.ts'
import { EXECUTOR_FACTORIES } from '../executors/registry.ts'
import { findAgent, findInlineAgent } from '../features/agents/input.ts'
import { readResponseResult } from '../features/runs/result-input.ts'
import { findConversation } from '../features/sessions/view.ts'
import type { OperationContext } from '../operations/context.ts'
import type { OperationTable } from '../operations/handler.ts'
import { OPERATIONS } from '../operations/table.ts'

/** The parts of the context that each embedding program provides. */
type HostContext = Pick<
  OperationContext,
  'version' | 'config' | 'health' | 'isDraining' | 'defaultAgent' | 'ended' | 'log'
>

/** The dependencies of operations, in a program that runs the engine. */
export function operationContext(
  { parts, ports, live, work, loops }: App,
  own: HostContext,
): OperationContext & { readonly operations: OperationTable } {
  return {
    ...{ operations: OPERATIONS, ports, live, work, wakeSchedules: loops.wakeSchedules },
    workers: {
      wait: parts.workers.wait,
      publish: parts.progress.add,
      createInvitation: (about) => createWorkerAttemptKey(parts, about),
    },
    ...own,
  }
}

const MAX_CACHED_AGENTS = 10_000

/** Caches a lookup that every attempt makes about its agent and whose result rarely changes, until an agent changes. */
function cacheByAgent<T>(
  { parts }: Pick<App, 'parts'>,
  find: (attempt: Attempt) => Promise<T | null>,
): (attempt: Attempt) => Promise<T | null> {
  const known = new Map<string, Promise<T | null>>()
  parts.listeners.add((_, { events }) => {
    for (const [kind] of events) if (kind === 'agent.changed') known.clear()
  })
  return (attempt) => {
    const key = `${attempt.orgId} ${attempt.agentId}`
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= MAX_CACHED_AGENTS) known.clear()
    const lookup = find(attempt)
    known.set(key, lookup)
    // Errors and missing agents are not cached, because both may be fixed soon.
    void lookup.then(
      (options) => (options === null ? known.delete(key) : null),
      () => known.delete(key),
    )
    return lookup
  }
}

/** Registers the executors for which the process has everything they need. */
export function addExecutors(app: App, given: Pick<ExecutorHost, 'callbackUrl' | 'commands' | 'tabs'>): void {
  const { ports, parts, outbound } = app
  const host: ExecutorHost = {
    ...given,
    send: outbound.send,
    agentOf: (spec) => {
      const known = cacheByAgent(app, (attempt) => findAgent(ports, spec, attempt))
      return (attempt) =>
        inlineKindOf(attempt.agentId) === null ? known(attempt) : findInlineAgent(ports, spec, attempt)
    },
    historyOf: ({ orgId, runId, sessionKey }, maxTokens) =>
      sessionKey === null
        ? Promise.resolve({ sender: null, retryOf: null, exchanges: [] })
        : findConversation(ports, { orgId, runId, sessionKey, mostTokens: maxTokens }),
    readResult: readResponseResult,
  }
  for (const [kind, perform] of Object.entries(EXECUTOR_FACTORIES)) {
    const executor = perform(host)
    if (executor !== null) parts.ctx.executors.set(kind, executor)
  }
}
