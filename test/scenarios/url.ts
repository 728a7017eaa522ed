import type { ConnectionTarget } from '../../src/platform/db/postgres/target.ts'

/** The same server as a URL, which is how a program names one. */
export function urlOf(target: ConnectionTarget): string {
  if (typeof target === 'string') return target
  const { host, port, user, password, database } = target
  const place = new URLSearchParams({ host, port: String(port), sslmode: 'disable' })
  return `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@/${database}?${place.toString()}`
}
