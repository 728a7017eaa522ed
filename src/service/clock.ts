import { instant, later, type Instant } from '../core/instant.ts'

/**
 * The present, as the database tells it. A turn hears it from its first statement; between turns it is carried on by a
 * clock that only counts. The host's wall clock is never asked: hosts disagree, and somebody sets them.
 */
export interface Clock {
  readonly now: () => Instant
}

export interface DatabaseClock extends Clock {
  /** Takes in what the database said. `askedAt` is the counter before the question, so a slow answer is not a late one. */
  readonly hear: (said: Instant, askedAt: number) => void
  /** A number of milliseconds that never goes back, for measuring and for `hear`. */
  readonly counter: () => number
}

/** Before the first answer the clock stands at `first`. */
export function createDatabaseClock(counter: () => number, first: Instant = instant(0)): DatabaseClock {
  let said = first
  let heardAt = counter()
  return {
    counter,
    hear: (now, askedAt) => {
      said = now
      // The database read its clock somewhere between question and answer; half-way is wrong by half at most.
      heardAt = (askedAt + counter()) / 2
    },
    now: () => later(said, Math.floor(counter() - heardAt)),
  }
}
