import type { AnswerHeaders } from './request.ts'

/**
 * How long the other side asks us to wait. A date is measured against the date of the same answer: two clocks would not
 * agree. Null: it says nothing that can be understood.
 */
export function retryAfterMs(headers: AnswerHeaders): number | null {
  const said = headers['retry-after']
  if (typeof said !== 'string') return null
  if (/^\d{1,9}$/.test(said.trim())) return Number(said) * 1_000
  const { date } = headers
  const [until, from] = [Date.parse(said), typeof date === 'string' ? Date.parse(date) : Number.NaN]
  return Number.isNaN(until) || Number.isNaN(from) ? null : Math.max(0, until - from)
}
