import type { ClientBase, ClientConfig } from 'pg'
import { DatabaseError } from '../database-error.ts'

/**
 * Connections to the same server. A network that drops packets shows only as a timeout, which each connection would have
 * to wait for. So after one connection timed out, all connections without a response since then are closed.
 */
export interface Connections {
  readonly opened: (client: ClientBase) => void
  /** The server has responded on this connection. */
  readonly responded: (client: ClientBase) => void
  /** A statement sent at this counter value timed out. */
  readonly timedOut: (since: number) => void
  readonly counter: () => number
}

/** Tracks the connections of one or several pools. The counter counts milliseconds. */
export function createConnections(counter: () => number = () => performance.now()): Connections {
  const respondedAt = new Map<ClientBase, number>()
  return {
    counter,
    opened: (client) => {
      respondedAt.set(client, counter())
      client.once('end', () => respondedAt.delete(client))
    },
    responded: (client) => {
      if (respondedAt.has(client)) respondedAt.set(client, counter())
    },
    timedOut: (since) => {
      for (const [client, at] of respondedAt)
        if (at <= since) {
          respondedAt.delete(client)
          destroySocket(client)
        }
    },
  }
}

/** Time limit of an orderly disconnect. */
const DISCONNECT_TIMEOUT_MS = 1_000

/** Disconnects in order, or by force if the server does not respond in time. */
export async function disconnect(client: ClientBase & { readonly end: () => Promise<void> }): Promise<void> {
  const timer = setTimeout(() => destroySocket(client), DISCONNECT_TIMEOUT_MS)
  await client.end().finally(() => clearTimeout(timer))
}

/** Closes the socket of a dead connection; the driver has no public method for it. */
function destroySocket(client: ClientBase): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy: () => void } } }
  connection.stream.destroy()
}

/** The address of a server: a URL, or the parameters of a local socket. */
export type ConnectionTarget = string | SocketTarget

export interface SocketTarget {
  /** The directory of the Unix socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

// pg treats these three as verify-full and warns that its next major version will not. We set verify-full explicitly.
const STRICT_MODES = new Set(['prefer', 'require', 'verify-ca'])

/** The driver configuration of a target. */
export function clientConfig(target: ConnectionTarget): ClientConfig {
  // No TLS on a socket, regardless of PGSSLMODE.
  if (typeof target !== 'string') return { ...target, ssl: false }
  return { connectionString: strictTls(parseUrl(target)).toString() }
}

/** The parameter `connect_timeout` of the URL, which is in seconds as in libpq. */
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
    // Without the cause, which contains the password.
    throw new DatabaseError('url_invalid')
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new DatabaseError('url_invalid', { detail: `the scheme is ${JSON.stringify(url.protocol)}` })
  return url
}

/**
 * Makes `sslmode=prefer`, `require` and `verify-ca` verify the certificate and the host name, as pg does today. The weaker
 * meaning of libpq needs `uselibpqcompat=true`; `sslmode=no-verify` turns verification off.
 */
function strictTls(url: URL): URL {
  const mode = url.searchParams.get('sslmode')
  const compatible = url.searchParams.get('uselibpqcompat') === 'true'
  if (mode !== null && STRICT_MODES.has(mode) && !compatible) url.searchParams.set('sslmode', 'verify-full')
  return url
}
