// Statistics of samples.

/** The value below which the given share of values lies. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

export const median = (values) => quantile(values, 0.5)

/**
 * The median with the narrowest interval between values that contains the true median with at least 95 % confidence
 * (order statistics: no assumption about the distribution). With fewer than six values, even the whole range has a lower
 * confidence, which `confidence` states.
 */
export function medianInterval(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const outside = (drop) => 2 * binomialBelow(sorted.length, drop)
  let drop = 0
  while (drop + 1 < sorted.length / 2 && outside(drop + 1) <= 0.05) drop += 1
  const high = sorted.length - 1 - drop
  const middle = (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2
  return { middle, low: sorted[drop], high: sorted[high], confidence: 1 - outside(drop) }
}

/** The probability that of n fair coins at most k show heads. */
function binomialBelow(n, k) {
  let term = 0.5 ** n
  let sum = term
  for (let i = 1; i <= k; i += 1) {
    term *= (n - i + 1) / i
    sum += term
  }
  return sum
}

export const round = (value, digits = 0) =>
  value === null || value === undefined ? null : Number(value.toFixed(digits))

/** Median and range of the results of several rounds. */
export function summary(values, digits = 0) {
  // The machine may not provide this value.
  if (values.some((value) => value === null || value === undefined)) return { median: null, min: null, max: null }
  return {
    median: round(median(values), digits),
    min: round(Math.min(...values), digits),
    max: round(Math.max(...values), digits),
  }
}

/** 12345.6 → 12,346 */
export const thousands = (value) =>
  value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en-US')

/** A value with its range. */
export const withRange = ({ median: middle, min, max }, show = thousands) =>
  min === max ? show(middle) : `${show(middle)} (${show(min)} – ${show(max)})`

/** The ratio of two values for a table; a dash if one of them is missing. */
export const ratioTo = (one, other) =>
  Number.isFinite(one) && Number.isFinite(other) && other !== 0 ? (one / other).toFixed(2) : '–'
