import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../api/refusals.ts'
import type { HttpSettings } from './context.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Checks that a request is meant for this server. */
export interface HostCheck {
  /** Rejects a foreign Host, and an Origin that differs from the Host. */
  readonly check: (host: string | undefined, origin: string | undefined) => void
}

/**
 * Protects against DNS rebinding: without this check, any web page could reach a server on the same machine by a name
 * that resolves to 127.0.0.1. `port` is a function because the port is only known after listening.
 */
export function createHostCheck(settings: () => HttpSettings, port: () => number): HostCheck {
  // Caches the last host, because most requests have the same one.
  let known: { readonly host: string; readonly settings: HttpSettings } | null = null
  return {
    check: (host, origin) => {
      const now = settings()
      if (host === undefined || known?.host !== host || known.settings !== now) {
        if (host === undefined || !isOurs(host, now, port())) throw misdirected(host)
        known = { host, settings: now }
      }
      if (origin !== undefined && !isSameOrigin(origin, host, now)) throw foreign(origin)
    },
  }
}

function isOurs(host: string, settings: HttpSettings, port: number): boolean {
  const requestedHost = host.toLowerCase()
  const [name, number] = splitHost(requestedHost)
  if (LOOPBACK.has(name) && number === port) return true
  const outside = publicUrl(settings)
  if (outside !== null && outside.host === requestedHost) return true
  return settings.allowedHosts.some((allowed) => isNamed(allowed.toLowerCase(), requestedHost, name))
}

/** `name:port` matches exactly; a bare `name` matches any port. */
function isNamed(allowed: string, requestedHost: string, name: string): boolean {
  return requestedHost === allowed || (!/:\d+$/.test(allowed) && name === allowed)
}

function splitHost(host: string): readonly [string, number] {
  const [, name = host, port = '80'] = /^(.*?)(?::(\d{1,5}))?$/.exec(host) ?? []
  return [name, Number(port)]
}

function publicUrl({ publicUrl: text }: HttpSettings): URL | null {
  return text !== null && URL.canParse(text) ? new URL(text) : null
}

/** TLS ends at a proxy, so both schemes count as the same origin for a public host, but not for a loopback name. */
function isSameOrigin(origin: string, host: string, settings: HttpSettings): boolean {
  const given = origin.toLowerCase()
  const own = host.toLowerCase()
  // Browsers omit the default port.
  if (given === `http://${own.replace(/:80$/, '')}`) return true
  const isLocal = LOOPBACK.has(splitHost(own)[0]) && publicUrl(settings)?.host !== own
  return !isLocal && given === `https://${own.replace(/:443$/, '')}`
}

const misdirected = (host: string | undefined): Refusal =>
  new Refusal(
    'MISDIRECTED',
    `${host === undefined ? 'The Host header is missing' : `The Host ${host.slice(0, 200)} is not a host of this server`}; use the address it listens on, or add the host to server.allowed_hosts`,
  )

const foreign = (origin: string): Refusal =>
  new Refusal(
    'FOREIGN_ORIGIN',
    `Requests from pages of the origin ${origin.slice(0, 200)} are not allowed; use the console at the address of this server`,
  )

/** The parts of a request that are checked. */
type RequestHead = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'>

/**
 * Rejects a request that proxies may have interpreted differently: with two Host or Authorization headers, of which
 * Node uses the first, or with a transfer encoding that is not supported. Also rejects a request for another host.
 */
export function checkHead({ headers, rawHeaders, url }: RequestHead, hosts: HostCheck): void {
  if (isTwice(rawHeaders))
    throw new Refusal('MALFORMED', 'The headers Host and Authorization may each be sent only once')
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw new Refusal('MALFORMED', 'The transfer encoding of a body must be "chunked" or absent')
  const host = url === undefined || url.startsWith('/') || url === '*' ? headers.host : hostIn(url)
  hosts.check(host, headers.origin)
}

const HOST = 'host'
const KEY = 'authorization'

function isTwice(rawHeaders: readonly string[]): boolean {
  let [hosts, keys] = [0, 0]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1
    else if (name.length === KEY.length && name.toLowerCase() === KEY) keys += 1
  }
  return hosts > 1 || keys > 1
}

/** A request target that is a full URL, as sent to a proxy, contains the host. */
const hostIn = (url: string): string | undefined => /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1]
