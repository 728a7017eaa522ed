import { ADDRESS_KINDS, addressKind, type AddressKind, parseAddress, wrappedAddress } from './address.ts'

/**
 * Who chose the address: a tenant for an agent, for a callback, for a webhook or to try something out; or the operator
 * in the file or the environment, who is trusted.
 */
export type Purpose = 'agent' | 'callback' | 'webhook' | 'probe' | 'operator'

/** Something of our own that nobody is to reach through us. */
export interface ClosedPlace {
  readonly what: string
  readonly host: string
  readonly port: number
  /** What the host resolves to, as far as it is known. */
  readonly addresses: readonly string[]
}

/** What the operator has opened, and what stays closed whatever is opened. */
export interface OutboundRules {
  /** `host:port`. */
  readonly allowHosts: readonly string[]
  readonly allowLoopback: boolean
  readonly closed: readonly ClosedPlace[]
  /** The addresses of this machine: what listens on all of them is reached by each. */
  readonly ownAddresses: readonly string[]
}

/** Where a request goes. */
export interface OutboundTarget {
  readonly url: URL
  /** Without brackets and final dot. */
  readonly host: string
  readonly port: number
}

export type Judged<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string }

const LONGEST_URL = 8_192
const refused = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message })

/** Reads the address of a request: http or https, and nobody's name or password in it. */
export function parseTarget(text: string): Judged<OutboundTarget> {
  if (text.length > LONGEST_URL) return refused(`is longer than ${LONGEST_URL} characters`)
  if (!URL.canParse(text)) return refused('is not an address such as https://example.com/path')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refused('must begin with http:// or https://')
  if (url.username !== '' || url.password !== '') return refused('must not have a user or a password in it')
  const host = plainHost(url.hostname)
  if (host === '') return refused('has no host')
  // No name has an empty part; `127.0..` is none that is looked up, and looks like an address.
  if (/^\.|\.\./.test(url.hostname)) return refused('has an empty part in the name of its host')
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

/** Whether a name alone says that it is never to be called, before anybody is asked what it stands for. */
const isMetadataName = (host: string): boolean => METADATA_NAMES.has(host) || host.startsWith('instance-data.')

/**
 * Judges an address by what is written, without asking anybody: what it is called, and which address it names if it
 * names one. Enough to refuse when something is stored; `judgeAddresses` decides when something is sent.
 */
export function judgeTarget(target: OutboundTarget, purpose: Purpose, rules: OutboundRules): Judged<OutboundTarget> {
  const { host } = target
  if (purpose === 'operator') return { ok: true, value: target }
  if (isMetadataName(host)) return refused(always(host, ADDRESS_KINDS.metadata))
  const literal = parseAddress(host)
  if (literal !== null) return judgeAddresses(target, [host], { purpose, rules })
  const closed = rules.closed.find((place) => isNamed(place, target))
  if (closed !== undefined) return refused(always(`${host}:${target.port}`, closed.what))
  if (LOCAL_NAME.test(host)) return judgeAddresses(target, ['127.0.0.1'], { purpose, rules })
  return { ok: true, value: target }
}

/** Judges what a host stands for: every single address has to be fine. */
export function judgeAddresses(
  target: OutboundTarget,
  addresses: readonly string[],
  { purpose, rules }: { readonly purpose: Purpose; readonly rules: OutboundRules },
): Judged<OutboundTarget> {
  if (purpose === 'operator') return { ok: true, value: target }
  const isOpened = rules.allowHosts.some((allowed) => isAllowed(allowed, target))
  for (const address of addresses) {
    const bytes = parseAddress(address)
    if (bytes === null) return refused(`${target.host} stands for ${address}, which is no address`)
    const kind = addressKind(bytes)
    const shown = address === target.host ? address : `${target.host} stands for ${address}, which`
    const closed = rules.closed.find((place) => isAt(place, { address, kind, port: target.port, rules }))
    if (closed !== undefined) return refused(always(shown, closed.what))
    if (kind === 'metadata') return refused(always(shown, ADDRESS_KINDS.metadata))
    const isAgentHere = purpose === 'agent' && kind === 'loopback' && rules.allowLoopback
    if (kind !== null && !isOpened && !isAgentHere) return refused(wayOut(target, { shown, kind, purpose }))
  }
  return { ok: true, value: target }
}

const always = (shown: string, what: string): string => `${shown} is ${what}, which is never called`

function wayOut(
  { host, port }: OutboundTarget,
  { shown, kind, purpose }: { readonly shown: string; readonly kind: AddressKind; readonly purpose: Purpose },
): string {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const hosts = `add ${place} to outbound.allow_hosts`
  const ways =
    kind === 'loopback' && purpose === 'agent'
      ? `set outbound.allow_loopback to true for agents on this machine, or ${hosts}`
      : hosts
  return `${shown} is ${ADDRESS_KINDS[kind]}, which is not called; the operator can ${ways}, in config.yaml of the data directory`
}

function isAllowed(allowed: string, { host, port }: OutboundTarget): boolean {
  const url = `http://${allowed}`
  return URL.canParse(url) && plainHost(new URL(url).hostname) === host && Number(/\d+$/.exec(allowed)?.[0]) === port
}

const isNamed = (place: ClosedPlace, { host, port }: OutboundTarget): boolean =>
  place.port === port && plainHost(place.host) === host

interface Reached {
  readonly address: string
  readonly kind: AddressKind | null
  readonly port: number
  readonly rules: OutboundRules
}

/** Whoever listens on one local address is taken to be reached by all of them: rather too much is closed. */
function isAt(place: ClosedPlace, { address, kind, port, rules }: Reached): boolean {
  if (place.port !== port) return false
  const places = [plainHost(place.host), ...place.addresses]
  if (places.some((one) => isSame(one, address))) return true
  const isLocal = (text: string): boolean => isOwn(text, rules.ownAddresses)
  const isHere = kind === 'loopback' || kind === 'unspecified' || isLocal(address)
  return isHere && places.some(isLocal)
}

function isOwn(text: string, ownAddresses: readonly string[]): boolean {
  if (LOCAL_NAME.test(text)) return true
  const bytes = parseAddress(text)
  if (bytes === null) return false
  const kinds = [bytes, wrappedAddress(bytes)].map((one) => (one === null ? null : addressKind(one)))
  return kinds.includes('loopback') || kinds.includes('unspecified') || ownAddresses.some((own) => isSame(own, text))
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [parseAddress(one), parseAddress(other)]
  if (a === null || b === null) return false
  const [x, y] = [wrappedAddress(a) ?? a, wrappedAddress(b) ?? b]
  return x.length === y.length && x.every((byte, index) => byte === y[index])
}
