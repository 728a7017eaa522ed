import { type ClientConfig } from 'pg'
import { DatabaseError } from '../../platform/db/database-error.ts'

/** Where a server is: a URL, or the parts for a server on this machine. */
export type ConnectionTarget = string | SocketTarget

export interface SocketTarget {
  /** The directory of the Unix socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

// pg reads these three as verify-full and prints a warning that its next major version will not. We mean verify-full.
const STRICT_MODES = new Set(['prefer', 'require', 'verify-ca'])

/** What the driver needs to reach the target. */
export function clientConfig(target: ConnectionTarget): ClientConfig {
  // No TLS on a socket, whatever PGSSLMODE says.
  if (typeof target !== 'string') return { ...target, ssl: false }
  return { connectionString: strictTls(parseUrl(target)).toString() }
}

/** Seconds from `connect_timeout` of the URL, as libpq has it. */
export function connectTimeoutMs(target: ConnectionTarget): number | undefined {
  if (typeof target !== 'string') return undefined
  const seconds = Number(parseUrl(target).searchParams.get('connect_timeout') ?? Number.NaN)
  return Number.isInteger(seconds) && seconds > 0 ? seconds * 1000 : undefined
}

function parseUrl(text: string): URL {
  let url: URL
  try {
    // A URL that names only a socket directory (postgres://user@/db?host=/run) has no host, which URL refuses.
    url = new URL(text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/, '$1base'))
  } catch {
    // Without the cause: it would carry the password.
    throw new DatabaseError('url_invalid')
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new DatabaseError('url_invalid', { detail: `the scheme is ${JSON.stringify(url.protocol)}` })
  return url
}

/**
 * `sslmode=require` and its neighbours verify the certificate and the name, as pg does today; who wants libpq's weaker
 * meaning says so with `uselibpqcompat=true`, and who wants none at all with `sslmode=no-verify`.
 */
function strictTls(url: URL): URL {
  const mode = url.searchParams.get('sslmode')
  const compatible = url.searchParams.get('uselibpqcompat') === 'true'
  if (mode !== null && STRICT_MODES.has(mode) && !compatible) url.searchParams.set('sslmode', 'verify-full')
  return url
}
