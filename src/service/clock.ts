import { instant, later, type Instant } from '../domain/instant.ts'

/**
 * The present, as the database tells it. A turn hears it from its first statement; between turns it is carried on by a
 * clock that only counts. The host's wall clock says whether the machine slept and nothing else: hosts
 * disagree, and somebody sets them.
 */
export interface Clock {
  readonly now: () => Instant
}

export interface DatabaseClock extends Clock {
  /** Takes in what the database said. `askedAt` is the counter before the question, so a slow answer is not a late one. */
  readonly hear: (said: Instant, askedAt: number) => void
  /** A number of milliseconds that never goes back, for measuring and for `hear`. It may stop while a machine sleeps. */
  readonly counter: () => number
  /** By how much more the host's wall clock has moved than the counter since the last `hear`: the machine slept. */
  readonly sleptMs?: () => number
}

/** An answer that took longer has mostly waited for a lock, and the clock was read after that. */
const MAX_HALF_TRIP_MS = 50

/** Before the first answer the clock stands at `first`. `wall` is the host's own clock. */
export function createDatabaseClock(
  counter: () => number,
  first: Instant = instant(0),
  wall: () => number = counter,
): DatabaseClock {
  let said = first
  let heardAt = counter()
  let isHeard = false
  let apart = wall() - counter()
  return {
    counter,
    hear: (now, askedAt) => {
      // A process that was stopped reads what was said before: the time has gone on since.
      const isOld = counter() - askedAt > 2 * MAX_HALF_TRIP_MS && now < later(said, Math.floor(counter() - heardAt))
      if (isOld && isHeard) return
      isHeard = true
      said = now
      // The database read its clock somewhere between question and answer; half-way is wrong by half at most.
      heardAt = counter() - Math.min((counter() - askedAt) / 2, MAX_HALF_TRIP_MS)
      apart = wall() - counter()
    },
    sleptMs: () => wall() - counter() - apart,
    now: () => later(said, Math.floor(counter() - heardAt)),
  }
}
