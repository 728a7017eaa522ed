/** Chance that can be repeated: the same seed gives the same numbers, on every machine. */
export interface Random {
  /** In [0, 1). */
  readonly next: () => number
  /** A whole number from `min` to `max`, both included. */
  readonly int: (min: number, max: number) => number
  readonly chance: (share: number) => boolean
  readonly one: <T>(items: readonly T[]) => T
}

/** A 32-bit generator by counting and mixing; small, quick and good enough to shake a scheduler. */
export function createRandom(seed: number): Random {
  let counter = Math.imul(seed + 1, 0x9e37_79b1) >>> 0
  const next = (): number => {
    counter = (counter + 0x9e37_79b9) >>> 0
    let mixed = Math.imul(counter ^ (counter >>> 16), 0x21f0_aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000
  }
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    int,
    chance: (share) => next() < share,
    one: <T>(items: readonly T[]): T => {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error('one() needs at least one item')
      return item
    },
  }
}
