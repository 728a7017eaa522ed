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
export const summary = (values, digits = 0) => ({
  median: round(median(values), digits),
  min: round(Math.min(...values), digits),
  max: round(Math.max(...values), digits),
})

/** 12345.6 → 12,346 */
export const thousands = (value) =>
  value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en-US')

/** A value and the range it was seen in. */
export const withRange = ({ median: middle, min, max }, show = thousands) =>
  `${show(middle)} (${show(min)} – ${show(max)})`
