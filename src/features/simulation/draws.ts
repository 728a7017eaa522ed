import type { Instant } from '../../domain/instant.ts'
import type { RunRow } from '../runs/store.ts'

/** An attempt that a random number is drawn for: the time of its run, and its number. */
export interface DrawKey {
  readonly time: Instant
  readonly attempt: number
}

/**
 * A random number that depends only on the attempt, not on the order of calls. Two simulations with different policies
 * therefore draw the same numbers, and only the policies differ. Each `salt` gives another number.
 */
export type RandomDraw = (about: DrawKey, salt: number) => number

const mixHash = (hash: number): number => {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Creates the random numbers of one schedule, in [0, 1). */
export function createDraw(seed: number, scheduleId: string): RandomDraw {
  let base = mixHash(seed | 0)
  for (let index = 0; index < scheduleId.length; index += 1)
    base = Math.imul(base ^ scheduleId.charCodeAt(index), 0x0100_0193)
  return ({ time, attempt }, salt) => {
    let hash = Math.imul(base ^ ((time % 0x1_0000_0000) | 0), 0x0100_0193)
    hash = Math.imul(hash ^ Math.floor(time / 0x1_0000_0000), 0x0100_0193)
    hash = Math.imul(hash ^ attempt, 0x0100_0193)
    return mixHash(mixHash(hash) ^ Math.imul(salt + 1, 0x9e37_79b1)) / 0x1_0000_0000
  }
}

/** Creates the random numbers for the jitter of retries. */
export function createRetryRandom(seed: number): (run: RunRow) => number {
  const draws = new Map<string, RandomDraw>()
  return ({ scheduleId, nominal, createdAt, attempt }) => {
    const id = scheduleId ?? ''
    const draw = draws.get(id) ?? createDraw(seed, id)
    draws.set(id, draw)
    return draw({ time: nominal ?? createdAt, attempt }, 2)
  }
}
