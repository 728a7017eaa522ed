// Few numbers out of many.

/** The value below which a share of the others lies. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

export const median = (values) => quantile(values, 0.5)

export const round = (value, digits = 0) =>
  value === null || value === undefined ? null : Number(value.toFixed(digits))

/** Median and range of what several rounds gave. */
export function summary(values, digits = 0) {
  // Where the machine does not tell, there is nothing to sum up.
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

/** A value and the range it was seen in. */
export const withRange = ({ median: middle, min, max }, show = thousands) =>
  min === max ? show(middle) : `${show(middle)} (${show(min)} – ${show(max)})`

/** How many times the second the first is, for a table; a dash where one of them is missing. */
export const ratioTo = (one, other) =>
  Number.isFinite(one) && Number.isFinite(other) && other !== 0 ? (one / other).toFixed(2) : '–'
