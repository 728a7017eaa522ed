import { instant, type Instant } from '../../src/domain/instant.ts'

/** Somebody who waits for the clock. What belongs to somebody frozen waits on, what belongs to somebody gone is over. */
export interface Owner {
  readonly isFrozen: () => boolean
}

/** A clock that moves only by hand, and everything that waits for it. */
export interface HandClock {
  readonly now: () => Instant
  /** Something happens at the moment, or when the clock comes past it. Answers with how to call it off. */
  readonly at: (when: Instant, owner: Owner, happen: () => void) => () => void
  /** Everything of somebody who is gone is called off. */
  readonly forget: (owner: Owner) => void
  /**
   * Moves on to the moment, stopping at everything on the way: one owner acts at a time, does all it has to do at that
   * moment in one breath, and `settle` waits until everything that follows from it is done. The same events in the same
   * order give the same world.
   */
  readonly moveTo: (until: Instant, settle: () => Promise<void>) => Promise<void>
  /** Moves without stopping: nothing was looked at for a while. What was due meanwhile is due now. */
  readonly jumpTo: (until: Instant) => void
  /** When it jumped last: nobody could do anything before that. */
  readonly jumpedAt: () => Instant
}

interface Waiting {
  readonly at: Instant
  readonly order: number
  readonly owner: Owner
  readonly happen: () => void
}

export function createHandClock(start: Instant): HandClock {
  const waiting = new Set<Waiting>()
  let now = start
  let registered = 0
  let jumpedAt = start
  const nextUpTo = (until: Instant): Waiting | undefined => {
    let first: Waiting | undefined
    for (const one of waiting) {
      if (one.at > until || one.owner.isFrozen()) continue
      if (first === undefined || one.at < first.at || (one.at === first.at && one.order < first.order)) first = one
    }
    return first
  }
  return {
    now: () => now,
    at: (when, owner, happen) => {
      registered += 1
      const one: Waiting = { at: when, order: registered, owner, happen }
      waiting.add(one)
      return () => waiting.delete(one)
    },
    forget: (owner) => {
      for (const one of waiting) if (one.owner === owner) waiting.delete(one)
    },
    moveTo: async (until, settle) => {
      for (let next = nextUpTo(until); next !== undefined; next = nextUpTo(until)) {
        if (next.at > now) now = next.at
        for (const one of [...waiting]) {
          if (one.at !== next.at || one.owner !== next.owner) continue
          waiting.delete(one)
          one.happen()
        }
        await settle()
      }
      if (until > now) now = until
    },
    jumpTo: (until) => {
      if (until > now) now = instant(until)
      jumpedAt = now
    },
    jumpedAt: () => jumpedAt,
  }
}
