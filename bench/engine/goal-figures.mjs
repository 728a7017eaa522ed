// Figures in goals.

export const counted = (value) => (Number.isFinite(value) ? value.toLocaleString('en-US') : '?')

export const ratio = (one, other) =>
  Number.isFinite(one) && Number.isFinite(other) && other !== 0 ? one / other : undefined
