import type { Instant } from '../../domain/instant.ts'

export type Log = (entry: {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}) => void

/** Whether the database answers, as observed by everything that queries it. */
export interface DatabaseHealth {
  readonly failed: (error: unknown) => void
  readonly answered: () => void
  /**
   * Calls each time the database answers again, with how long it was away. Returns a function that removes the call.
   */
  readonly whenBack: (call: (awayMs: number) => void) => () => void
  readonly awaySince: () => Instant | null
  /** How long it has been answering, by the counter; 0 while it is away. */
  readonly steadyMs: () => number
}

/** Maximum number of distinct errors logged in one outage. */
const MAX_LOGGED_ERRORS = 10

/**
 * Logs once when the database goes away and once when it is back. In between, failures are counted, and only errors
 * with a new message are logged: cut connections and a server that rejects logins differ.
 */
export function createDatabaseHealth(ctx: {
  readonly log: Log
  readonly now: () => Instant
  readonly counter: () => number
}): DatabaseHealth {
  let awaySince: Instant | null = null
  let wentAt = 0
  // A node that has just started has seen no outage.
  let backAt = -Infinity
  let failures = 0
  const reasons = new Set<string>()
  const waiting = new Set<(awayMs: number) => void>()
  return {
    failed: (error) => {
      failures += 1
      const isFirst = awaySince === null
      if (isFirst) wentAt = ctx.counter()
      awaySince ??= ctx.now()
      const message = error instanceof Error ? error.message : String(error)
      if (reasons.has(message) || reasons.size >= MAX_LOGGED_ERRORS) return
      reasons.add(message)
      ctx.log({
        level: 'error',
        message: isFirst
          ? 'The database does not answer; the engine pauses and retries'
          : 'The database still does not answer, with another error',
        facts: { error: message },
      })
    },
    answered: () => {
      if (awaySince === null) return
      const facts = { away_ms: ctx.now() - awaySince, failures }
      awaySince = null
      failures = 0
      reasons.clear()
      backAt = ctx.counter()
      ctx.log({ level: 'info', message: 'The database answers again; the engine continues', facts })
      for (const call of [...waiting]) call(backAt - wentAt)
    },
    whenBack: (call) => {
      waiting.add(call)
      return () => {
        waiting.delete(call)
      }
    },
    awaySince: () => awaySince,
    steadyMs: () => (awaySince === null ? ctx.counter() - backAt : 0),
  }
}
