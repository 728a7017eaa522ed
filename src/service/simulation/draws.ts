import type { Instant } from '../../domain/instant.ts'
import type { RunRow } from '../../store/run-row.ts'

/** What a number is drawn for: an attempt, by its schedule, the moment of its run and its number. */
export interface DrawnFor {
  readonly moment: Instant
  readonly attempt: number
}

/**
 * Chance that hangs on what it is for and on nothing else: whoever asks in another order, or under other policies, gets
 * the same answers, so that only the policies make a difference. Each `salt` gives another number.
 */
export type Draw = (about: DrawnFor, salt: number) => number

const mix = (hash: number): number => {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** The chance of one schedule, in [0, 1). */
export function createDraw(seed: number, scheduleId: string): Draw {
  let base = mix(seed | 0)
  for (let index = 0; index < scheduleId.length; index += 1)
    base = Math.imul(base ^ scheduleId.charCodeAt(index), 0x0100_0193)
  return ({ moment, attempt }, salt) => {
    let hash = Math.imul(base ^ ((moment % 0x1_0000_0000) | 0), 0x0100_0193)
    hash = Math.imul(hash ^ Math.floor(moment / 0x1_0000_0000), 0x0100_0193)
    hash = Math.imul(hash ^ attempt, 0x0100_0193)
    return mix(mix(hash) ^ Math.imul(salt + 1, 0x9e37_79b1)) / 0x1_0000_0000
  }
}

/** The chance by which retries come sooner or later. */
export function createRetryChance(seed: number): (run: RunRow) => number {
  const draws = new Map<string, Draw>()
  return ({ scheduleId, nominal, createdAt, attempt }) => {
    const id = scheduleId ?? ''
    const draw = draws.get(id) ?? createDraw(seed, id)
    draws.set(id, draw)
    return draw({ moment: nominal ?? createdAt, attempt }, 2)
  }
}
