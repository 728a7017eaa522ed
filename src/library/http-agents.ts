import type { App } from '../app.ts'
import type { HttpOptions } from '../core/executor/http-options.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import type { Attempt } from '../executors/executor.ts'
import { createHttpExecutor } from '../executors/http/execute.ts'
import { findHttpOptions, findInlineOptions } from '../service/agent-executor.ts'
import { readAnsweredResult } from '../service/result-input.ts'
import { rememberOfAgents } from './remembered.ts'

/** Lets the node call agents over HTTP. `callbackUrl` is where results are reported later; null: nobody listens. */
export function addHttpAgents(app: App, callbackUrl: (token: string) => string | null): void {
  const { ports, parts, outbound } = app
  const known = rememberOfAgents(app, (attempt) => findHttpOptions(ports, attempt))
  const optionsOf = (attempt: Attempt): Promise<HttpOptions | null> => {
    const { orgId, scheduleId } = attempt
    if (inlineKindOf(attempt.agentId) === null) return known(attempt)
    return scheduleId === null ? Promise.resolve(null) : findInlineOptions(ports, { orgId, scheduleId })
  }
  parts.ctx.executors.set(
    'http',
    createHttpExecutor({ send: outbound.send, optionsOf, callbackUrl, readResult: readAnsweredResult }),
  )
}
