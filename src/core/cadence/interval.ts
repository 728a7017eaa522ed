/** An interval that steps make longer or shorter, inside bounds, all in one unit of time. */
export interface Stretchable {
  /** How long it is at level 0. */
  readonly base: number
  readonly min: number
  readonly max: number
  /** How much longer one level makes it. */
  readonly stretch: number
}

/** How long the interval is so many steps away from where it starts: above 0 longer, below 0 shorter, never out of bounds. */
export function intervalAt({ base, min, max, stretch }: Stretchable, level: number): number {
  return level === 0 ? base : Math.max(min, Math.min(max, base * stretch ** level))
}
