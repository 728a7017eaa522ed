import type { Instant } from '../../domain/instant.ts'

export type Log = (entry: {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}) => void

/** Whether the database answers, as everybody who talks to it finds. */
export interface DatabaseHealth {
  readonly failed: (error: unknown) => void
  readonly answered: () => void
  /** Calls each time the database answers again, with how long it was away. Answers with how to call it off. */
  readonly whenBack: (call: (awayMs: number) => void) => () => void
  readonly awaySince: () => Instant | null
  /** How long it has been answering, by the counter; 0 while it is away. */
  readonly steadyMs: () => number
}

/** More reasons than this are not told in one outage. */
const MOST_REASONS = 10

/**
 * Says once when the database goes away and once when it is back. What happens in between is only counted, unless it is
 * for another reason: connections that are cut are one thing, a server that lets nobody in is another.
 */
export function createDatabaseHealth(ctx: {
  readonly log: Log
  readonly now: () => Instant
  readonly counter: () => number
}): DatabaseHealth {
  let awaySince: Instant | null = null
  let wentAt = 0
  // A node that has just come has seen no outage.
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
      if (reasons.has(message) || reasons.size >= MOST_REASONS) return
      reasons.add(message)
      ctx.log({
        level: 'error',
        message: isFirst
          ? 'The database is away; the engine pauses and tries again'
          : 'The database is still away, for another reason',
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
      ctx.log({ level: 'info', message: 'The database is back; the engine goes on', facts })
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
