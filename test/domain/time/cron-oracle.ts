import type { DstPolicy } from '../../../src/domain/time/dst-policy.ts'

/** An expression together with what it means, said a second time in the plainest way. */
export interface CronCase {
  readonly text: string
  readonly interval: boolean
  readonly matches: (wall: number) => boolean
}

/** What the wall clock of a zone showed, step by step. */
export interface Walk {
  readonly seconds: readonly number[]
  readonly walls: readonly number[]
  readonly step: number
}

/** Reads the wall clock at every step around a change, with Intl alone. */
export function walkAround(zoneName: string, change: string, { hours, step }: { hours: number; step: number }): Walk {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zoneName, dateStyle: 'short', timeStyle: 'medium' })
  const middle = Date.parse(change) / 1000
  const count = (2 * hours * 3600) / step
  const seconds = Array.from({ length: count }, (_, index) => middle - hours * 3600 + index * step)
  return { seconds, step, walls: seconds.map((second) => Date.parse(`${clock.format(second * 1000)}Z`) / 1000) }
}

/** The set of fires straight from its definition. */
export function firesOf(
  { seconds, walls, step }: Walk,
  { matches, interval }: CronCase,
  dst: DstPolicy,
): readonly number[] {
  const seen = new Set<number>()
  const fires = new Set<number>()
  seconds.forEach((second, index) => {
    const wall = walls[index] ?? 0
    const before = walls[index - 1] ?? wall - step
    const offsetBefore = before - (second - step)
    for (let missing = before + step; missing < wall; missing += step) {
      if (!matches(missing)) continue
      if (dst === 'vixie') fires.add(second)
      if (dst === 'shift') fires.add(missing - offsetBefore)
    }
    const first = !seen.has(wall)
    seen.add(wall)
    const passes = dst === 'both' || first || (dst === 'vixie' && interval)
    if (matches(wall) && passes) fires.add(second)
  })
  return [...fires].sort((a, b) => a - b)
}
