import { instant, later, type Instant } from '../domain/instant.ts'

/**
 * The current time by the database's clock. The first statement of a transaction reads it; in between, a monotonic
 * counter carries it forward. The host's wall clock only shows whether the machine slept, because wall clocks of hosts
 * disagree and can be set.
 */
export interface Clock {
  readonly now: () => Instant
}

export interface DatabaseClock extends Clock {
  /**
   * Records the database's time. `askedAt` is the counter before the query, so a slow answer does not make the clock
   * late.
   */
  readonly sync: (databaseTime: Instant, askedAt: number) => void
  /**
   * A number of milliseconds that never goes back, for measuring and for `sync`. It may stop while a machine sleeps.
   */
  readonly counter: () => number
  /**
   * How much more the host's wall clock has advanced than the counter since the last `sync`; positive after a sleep.
   */
  readonly sleptMs?: () => number
}

/** An answer that took longer has mostly waited for a lock, and the clock was read after that. */
const MAX_HALF_TRIP_MS = 50

/** Until the first answer the clock starts at `first`. `wall` is the host's own clock. */
export function createDatabaseClock(
  counter: () => number,
  first: Instant = instant(0),
  wall: () => number = counter,
): DatabaseClock {
  let databaseTime = first
  let syncedAt = counter()
  let isSynced = false
  let wallOffset = wall() - counter()
  return {
    counter,
    sync: (now, askedAt) => {
      // A process that was stopped may read an old answer late; the time has advanced since, so that answer is ignored.
      const isOld =
        counter() - askedAt > 2 * MAX_HALF_TRIP_MS && now < later(databaseTime, Math.floor(counter() - syncedAt))
      if (isOld && isSynced) return
      isSynced = true
      databaseTime = now
      // The database read its clock between query and answer; assuming the middle is wrong by half the round trip at
      // most.
      syncedAt = counter() - Math.min((counter() - askedAt) / 2, MAX_HALF_TRIP_MS)
      wallOffset = wall() - counter()
    },
    sleptMs: () => wall() - counter() - wallOffset,
    now: () => later(databaseTime, Math.floor(counter() - syncedAt)),
  }
}
