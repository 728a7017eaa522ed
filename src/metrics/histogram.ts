/** How many things were so long or shorter, by bound, in seconds. Counting allocates nothing. */
export interface Histogram {
  readonly bounds: readonly number[]
  /** By bound; those beyond the last are only in `count`. */
  readonly counts: number[]
  count: number
  /** Seconds in all. */
  sum: number
}

export const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: bounds.map(() => 0),
  count: 0,
  sum: 0,
})

/** Counts one thing that took so many milliseconds. A clock that was set back makes nothing take less than no time. */
export function observe(histogram: Histogram, ms: number): void {
  const seconds = ms > 0 ? ms / 1_000 : 0
  const { bounds, counts } = histogram
  histogram.count += 1
  histogram.sum += seconds
  let [low, high] = [0, bounds.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (seconds <= (bounds[middle] ?? Infinity)) high = middle
    else low = middle + 1
  }
  if (low < counts.length) counts[low] = (counts[low] ?? 0) + 1
}

/** Bounds for work that takes from milliseconds to hours. */
export const LONG_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600,
]

/** Bounds for what should take milliseconds. */
export const SHORT_BOUNDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
