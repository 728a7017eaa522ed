import { ADDRESS_KINDS, addressKind, type AddressKind, parseAddress, wrappedAddress } from './address.ts'

/**
 * What a request is for. Tenants choose the addresses of agents, callbacks, webhooks and probes; the operator sets
 * its own in the file or the environment and is trusted.
 */
export type Purpose = 'agent' | 'callback' | 'webhook' | 'probe' | 'operator'

/** A service of this deployment that tenants must not reach, such as its database. */
export interface ProtectedService {
  readonly description: string
  readonly host: string
  readonly port: number
  /** The resolved addresses of the host, as far as known. */
  readonly addresses: readonly string[]
}

/** What the operator has allowed, and what stays closed regardless. */
export interface OutboundRules {
  /** `host:port`. */
  readonly allowHosts: readonly string[]
  readonly allowLoopback: boolean
  readonly protectedServices: readonly ProtectedService[]
  /** The addresses of this machine: a service that listens on all interfaces is reachable at each. */
  readonly ownAddresses: readonly string[]
}

/** The destination of a request. */
export interface OutboundTarget {
  readonly url: URL
  /** Without brackets and trailing dot. */
  readonly host: string
  readonly port: number
}

export type CheckResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string }

const MAX_TARGET_URL_LENGTH = 8_192
const refused = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message })

/** Reads the URL of a request: http or https, without a user name or password. */
export function parseTarget(text: string): CheckResult<OutboundTarget> {
  if (text.length > MAX_TARGET_URL_LENGTH) return refused(`is longer than ${MAX_TARGET_URL_LENGTH} characters`)
  if (!URL.canParse(text)) return refused('is not a URL such as https://example.com/path')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refused('must begin with http:// or https://')
  if (url.username !== '' || url.password !== '') return refused('must not contain a user name or password')
  const host = plainHost(url.hostname)
  if (host === '') return refused('has no host')
  // Host names have no empty labels; `127.0..` cannot be resolved and looks like an address.
  if (/^\.|\.\./.test(url.hostname)) return refused('has an empty label in its host name')
  return { ok: true, value: { url, host, port: portOf(url) } }
}

const portOf = (url: URL): number => (url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port))

const plainHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '')

const LOCAL_NAME =
  /^(?:localhost|.+\.localhost|localhost\.localdomain|localhost[46]?\.localdomain[46]?|ip6-(?:localhost|loopback))$/
const METADATA_NAMES = new Set(['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data'])

/** Whether a host name is always refused, before it is resolved. */
const isMetadataName = (host: string): boolean => METADATA_NAMES.has(host) || host.startsWith('instance-data.')

/**
 * Checks a URL without resolving it: its host name, and the address if it contains one. Enough to refuse it when it
 * is stored; the resolved addresses are checked when a request is sent.
 */
export function checkTarget(
  target: OutboundTarget,
  purpose: Purpose,
  rules: OutboundRules,
): CheckResult<OutboundTarget> {
  const { host } = target
  if (purpose === 'operator') return { ok: true, value: target }
  if (isMetadataName(host)) return refused(neverAllowed(host, ADDRESS_KINDS.metadata))
  const literal = parseAddress(host)
  if (literal !== null) return checkAddresses(target, [host], { purpose, rules })
  const closed = rules.protectedServices.find((place) => isNamedService(place, target))
  if (closed !== undefined) return refused(neverAllowed(`${host}:${target.port}`, closed.description))
  if (LOCAL_NAME.test(host)) return checkAddresses(target, ['127.0.0.1'], { purpose, rules })
  return { ok: true, value: target }
}

/** Checks the resolved addresses of a host; every one of them must be allowed. */
export function checkAddresses(
  target: OutboundTarget,
  addresses: readonly string[],
  { purpose, rules }: { readonly purpose: Purpose; readonly rules: OutboundRules },
): CheckResult<OutboundTarget> {
  if (purpose === 'operator') return { ok: true, value: target }
  const isOpened = rules.allowHosts.some((allowed) => isAllowed(allowed, target))
  for (const address of addresses) {
    const bytes = parseAddress(address)
    if (bytes === null) return refused(`${target.host} resolves to ${address}, which is not an IP address`)
    const kind = addressKind(bytes)
    const shown = address === target.host ? address : `${target.host} resolves to ${address}, which`
    const closed = rules.protectedServices.find((place) =>
      isServiceAddress(place, { address, kind, port: target.port, rules }),
    )
    if (closed !== undefined) return refused(neverAllowed(shown, closed.description))
    if (kind === 'metadata') return refused(neverAllowed(shown, ADDRESS_KINDS.metadata))
    const isAgentHere = purpose === 'agent' && kind === 'loopback' && rules.allowLoopback
    if (kind !== null && !isOpened && !isAgentHere) return refused(refusalMessage(target, { shown, kind, purpose }))
  }
  return { ok: true, value: target }
}

const neverAllowed = (shown: string, what: string): string => `${shown} is ${what}, which is never allowed`

function refusalMessage(
  { host, port }: OutboundTarget,
  { shown, kind, purpose }: { readonly shown: string; readonly kind: AddressKind; readonly purpose: Purpose },
): string {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const hosts = `add ${place} to outbound.allow_hosts`
  const ways =
    kind === 'loopback' && purpose === 'agent'
      ? `set outbound.allow_loopback to true for agents on this machine, or ${hosts}`
      : hosts
  return `${shown} is ${ADDRESS_KINDS[kind]}, which is not allowed; the operator can ${ways} (escapement config set, or config.yaml of the data directory)`
}

function isAllowed(allowed: string, { host, port }: OutboundTarget): boolean {
  const url = `http://${allowed}`
  return URL.canParse(url) && plainHost(new URL(url).hostname) === host && Number(/\d+$/.exec(allowed)?.[0]) === port
}

const isNamedService = (place: ProtectedService, { host, port }: OutboundTarget): boolean =>
  place.port === port && plainHost(place.host) === host

interface ResolvedAddress {
  readonly address: string
  readonly kind: AddressKind | null
  readonly port: number
  readonly rules: OutboundRules
}

/**
 * A service on one local address is treated as reachable at all of them, so that too much is closed rather than too
 * little.
 */
function isServiceAddress(place: ProtectedService, { address, kind, port, rules }: ResolvedAddress): boolean {
  if (place.port !== port) return false
  const candidates = [plainHost(place.host), ...place.addresses]
  if (candidates.some((one) => isSameAddress(one, address))) return true
  const isLocal = (text: string): boolean => isOwnAddress(text, rules.ownAddresses)
  const isHere = kind === 'loopback' || kind === 'unspecified' || isLocal(address)
  return isHere && candidates.some(isLocal)
}

function isOwnAddress(text: string, ownAddresses: readonly string[]): boolean {
  if (LOCAL_NAME.test(text)) return true
  const bytes = parseAddress(text)
  if (bytes === null) return false
  const kinds = [bytes, wrappedAddress(bytes)].map((one) => (one === null ? null : addressKind(one)))
  return (
    kinds.includes('loopback') || kinds.includes('unspecified') || ownAddresses.some((own) => isSameAddress(own, text))
  )
}

function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [parseAddress(one), parseAddress(other)]
  if (a === null || b === null) return false
  const [x, y] = [wrappedAddress(a) ?? a, wrappedAddress(b) ?? b]
  return x.length === y.length && x.every((byte, index) => byte === y[index])
}
