/** What one run is expected to use of something, on average and at most of the times. Null: nobody knows. */
export interface ExpectedUse {
  readonly expected: number
  readonly high: number
}

/** Where an expectation comes from, the best source first. */
export const USE_SOURCES = ['schedule', 'agent', 'stated', 'default_reserve', 'unknown'] as const
export type UseSource = (typeof USE_SOURCES)[number]

/** At most of the times: at this share of the runs that were looked at. */
const HIGH_PERCENT = 95

/** The mean and the 95th percentile of what runs used; null when there were none. */
export function expectedOf(used: readonly number[]): ExpectedUse | null {
  if (used.length === 0) return null
  const sorted = used.toSorted((a, b) => a - b)
  const sum = sorted.reduce((total, one) => total + one, 0)
  const rank = Math.ceil((sorted.length * HIGH_PERCENT) / 100)
  const expected = sum / sorted.length
  // A single run far below the others would otherwise make the usual look worse than the worst.
  return { expected, high: Math.max(expected, sorted[rank - 1] ?? 0) }
}

/** What is known of the use of one unit by the runs of a source. */
export interface KnownUse {
  readonly ofSchedule: readonly number[]
  readonly ofAgent: readonly number[]
  /** What its payload says it needs at most. */
  readonly stated: number | null
  /** What a budget that covers it sets aside for a run of which nothing is known. */
  readonly defaultReserve: number | null
}

/** The best guess there is, and where it comes from. What a payload states is a maximum, and is taken for one. */
export function guessUse(known: KnownUse): { readonly use: ExpectedUse | null; readonly source: UseSource } {
  const own = expectedOf(known.ofSchedule)
  if (own !== null) return { use: own, source: 'schedule' }
  const usual = expectedOf(known.ofAgent)
  if (usual !== null) return { use: usual, source: 'agent' }
  if (known.stated !== null) return { use: { expected: known.stated, high: known.stated }, source: 'stated' }
  const { defaultReserve } = known
  if (defaultReserve !== null && defaultReserve > 0)
    return { use: { expected: defaultReserve, high: defaultReserve }, source: 'default_reserve' }
  return { use: null, source: 'unknown' }
}
