import { parseDuration } from '../../domain/duration.ts'
import { isFields, type Fields } from '../../core/as-code/same.ts'

/** What is inside these belongs to whoever wrote it: a text there is a text. */
const FREE = ['payload', 'executor', 'settings', 'headers', 'body', 'env', 'when']

/** `timeout_seconds: 5m` is 300; what is no duration stays, and whoever reads the field says so. */
export function withDurations(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(name, value)]))
}

function plain(name: string, value: unknown): unknown {
  if (FREE.includes(name)) return value
  if (isFields(value)) return withDurations(value)
  const unit = name.endsWith('_seconds') ? 'seconds' : /(?:_ms|[a-z]Ms)$/.test(name) ? 'ms' : null
  if (unit === null) return value
  const read = (one: unknown): unknown => (typeof one === 'string' ? (parseDuration(one, unit) ?? one) : one)
  return Array.isArray(value) ? value.map(read) : read(value)
}
