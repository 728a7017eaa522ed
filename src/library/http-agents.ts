import type { App } from '../app.ts'
import type { HttpOptions } from '../core/executor/http-options.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import type { Attempt } from '../executors/executor.ts'
import { createHttpExecutor } from '../executors/http.ts'
import { findHttpOptions, findInlineOptions } from '../service/agent-executor.ts'
import { readAnsweredResult } from '../service/result-input.ts'

/** Lets the node call agents over HTTP. `callbackUrl` is where results are reported later; null: nobody listens. */
export function addHttpAgents(app: App, callbackUrl: (token: string) => string | null): void {
  const { ports, parts, outbound } = app
  const known = rememberOptions((attempt) => findHttpOptions(ports, attempt))
  const optionsOf = (attempt: Attempt): Promise<HttpOptions | null> => {
    const { orgId, scheduleId } = attempt
    if (inlineKindOf(attempt.agentId) === null) return known.of(attempt)
    return scheduleId === null ? Promise.resolve(null) : findInlineOptions(ports, { orgId, scheduleId })
  }
  parts.hearers.add((_, { events }) => {
    for (const [kind] of events) if (kind === 'agent.changed') known.forget()
  })
  parts.ctx.executors.set(
    'http',
    createHttpExecutor({
      ...{ send: outbound.send, optionsOf, callbackUrl, readResult: readAnsweredResult },
      traceparent: ({ trace }) => trace,
    }),
  )
}

const MOST_REMEMBERED = 10_000

/** Asked with every attempt and changed hardly ever: remembered until something is said about agents. */
function rememberOptions(find: (attempt: Attempt) => Promise<HttpOptions | null>): {
  readonly of: (attempt: Attempt) => Promise<HttpOptions | null>
  readonly forget: () => void
} {
  const known = new Map<string, Promise<HttpOptions | null>>()
  return {
    of: (attempt) => {
      const key = `${attempt.orgId} ${attempt.agentId}`
      const found = known.get(key)
      if (found !== undefined) return found
      if (known.size >= MOST_REMEMBERED) known.clear()
      const asked = find(attempt)
      known.set(key, asked)
      // What went wrong is not remembered, and neither is who is missing: both may be otherwise in a moment.
      void asked.then(
        (options) => (options === null ? known.delete(key) : null),
        () => known.delete(key),
      )
      return asked
    },
    forget: () => {
      known.clear()
    },
  }
}
