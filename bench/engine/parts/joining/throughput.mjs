// The speed of the first of two nodes before, while and after the second one joined.
import { median } from '../../statistics.mjs'

/** Handlers are counted per bucket of time. */
export const BUCKET_MS = 250

/**
 * Before: until the second node is started. During: until a second after its first handler. After: the rest. If the second
 * node never calls a handler, it is joining until the end.
 */
export function factsOf(first, second) {
  const settled = Math.min(second.first === null ? Infinity : second.first + 1_000, first.last)
  const rates = (from, to) => {
    const inside = (bucket) => bucket * BUCKET_MS >= from && (bucket + 1) * BUCKET_MS <= to
    const all = []
    for (let bucket = Math.ceil(from / BUCKET_MS); inside(bucket); bucket += 1)
      all.push(((first.buckets[bucket] ?? 0) * 1_000) / BUCKET_MS)
    return all
  }
  const phases = {
    before: rates(first.first, second.began),
    during: rates(second.began, settled),
    after: rates(settled, first.last),
  }
  const before = middle(phases.before)
  const pauses = first.pauses.filter(({ to }) => to > second.began).map(({ from, to }) => to - from)
  return {
    joinMs: second.first === null ? null : second.first - second.began,
    before,
    during: middle(phases.during),
    lowest: phases.during.length === 0 ? null : Math.min(...phases.during),
    after: middle(phases.after),
    dipMs: [...phases.during, ...phases.after].filter((rate) => rate < before / 4).length * BUCKET_MS,
    longestPauseMs: Math.max(0, ...pauses),
    phases,
  }
}

const middle = (rates) => (rates.length === 0 ? null : median(rates))
