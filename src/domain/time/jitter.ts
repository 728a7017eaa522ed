import { DAY_MS, durationMs, type DurationMs, type Instant } from '../instant.ts'
import { flawed, parseInteger, parsed, type Parsed } from '../input.ts'
import { shortestInterval } from './shortest-interval.ts'
import type { Timing } from './timing.ts'

/** The limit for a schedule that fires only once and so has no shortest interval. */
export const MAX_JITTER_MS = 366 * DAY_MS

/** Parses the maximum jitter. It must be below the shortest interval so that occurrences keep their order. */
export function parseJitter(field: string, value: unknown, timing: Timing): Parsed<DurationMs> {
  const whole = parseInteger(field, value, { min: 0, max: MAX_JITTER_MS })
  if (!whole.ok) return whole
  const shortest = whole.value === 0 ? null : shortestInterval(timing)
  if (shortest === null || whole.value < shortest) return parsed(durationMs(whole.value))
  const allowed = `0 to ${shortest - 1}`
  return flawed({ field, value, message: `must be below the shortest interval of ${shortest} ms`, allowed })
}

/**
 * The delay of an occurrence after its nominal time, in [0, jitterMs]. It is a hash of the schedule and the occurrence,
 * so every node computes the same delay without storing it, and schedules with the same plan get different delays. The
 * hash is FNV-1a over the characters and the two halves of the time, followed by the MurmurHash3 finalizer, because FNV
 * alone barely changes the upper bits.
 */
export function jitterFor(seedText: string, nominal: Instant, jitterMs: number): DurationMs {
  let hash = 0x811c_9dc5
  const addToHash = (value: number): void => {
    hash = Math.imul(hash ^ value, 0x0100_0193)
  }
  for (let index = 0; index < seedText.length; index += 1) addToHash(seedText.charCodeAt(index))
  addToHash(nominal >>> 0)
  addToHash(Math.floor(nominal / 0x1_0000_0000))
  return durationMs(Math.floor((finalizeHash(hash) / 0x1_0000_0000) * (jitterMs + 1)))
}

function finalizeHash(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2_ae35)
  return (second ^ (second >>> 16)) >>> 0
}
