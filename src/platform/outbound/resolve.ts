import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { parseAddress } from '../../domain/outbound/address.ts'
import {
  type ProtectedService,
  checkAddresses,
  type CheckResult,
  checkTarget,
  type OutboundRules,
  type OutboundTarget,
  parseTarget,
  type Purpose,
} from '../../domain/outbound/ssrf-guard.ts'

/** Resolves a host name to addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The operator's settings for outbound requests. */
export interface OutboundSettings {
  readonly allowHosts: readonly string[]
  readonly allowLoopback: boolean
}

export interface GuardOptions {
  readonly settings: () => OutboundSettings
  /** The addresses of our own listener and database, which requests must not reach. */
  readonly closed: () => readonly Omit<ProtectedService, 'addresses'>[]
  /** Left out: the system resolver. */
  readonly resolve?: Resolve
}

/** A target with its checked addresses; a request connects only to these. */
export interface PinnedTarget extends OutboundTarget {
  readonly addresses: readonly string[]
}

/** The decision on a request. */
export type OutboundDecision =
  | { readonly kind: 'admitted'; readonly target: PinnedTarget }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'unresolved'; readonly message: string }

/** Decides which outbound requests are allowed. */
export interface OutboundGuard {
  /** Checks a URL without resolving its host. Returns the error; null: none found. */
  readonly checkUrl: (url: string, purpose: Purpose) => string | null
  /** Resolves the host once, checks every address, and returns those to connect to. */
  readonly admit: (url: string, purpose: Purpose) => Promise<OutboundDecision>
  /** Checks a URL and its resolved addresses. An unknown host is allowed, because it may exist when it is called. */
  readonly checkAddresses: (url: string, purpose: Purpose) => Promise<string | null>
}

const resolveBySystem: Resolve = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/** Creates the guard of a server, which checks every request whose address a tenant can choose. */
export function createOutboundGuard(options: GuardOptions): OutboundGuard {
  const { resolve = resolveBySystem, settings, closed } = options
  const closedAddresses = cacheAddresses(resolve)
  const rulesWith = (places: readonly ProtectedService[]): OutboundRules => ({
    ...settings(),
    protectedServices: places,
    ownAddresses: ownAddresses(),
  })
  const rulesWithoutAddresses = (): OutboundRules => rulesWith(closed().map((place) => ({ ...place, addresses: [] })))
  const checkedTarget = (url: string, purpose: Purpose): CheckResult<OutboundTarget> => {
    const target = parseTarget(url)
    return target.ok ? checkTarget(target.value, purpose, rulesWithoutAddresses()) : target
  }
  const admit = async (url: string, purpose: Purpose): Promise<OutboundDecision> => {
    const target = checkedTarget(url, purpose)
    if (!target.ok) return { kind: 'refused', message: target.message }
    const found = await addressesOf(target.value, resolve)
    if (typeof found === 'string') return { kind: 'unresolved', message: found }
    // Resolves only closed places with the same port, which are rare.
    const samePort = closed().filter(({ port }) => port === target.value.port)
    const places = await Promise.all(
      samePort.map(async (place) => ({ ...place, addresses: await closedAddresses(place.host) })),
    )
    const decision = checkAddresses(target.value, found, { purpose, rules: rulesWith(places) })
    return decision.ok
      ? { kind: 'admitted', target: { ...target.value, addresses: found } }
      : { kind: 'refused', message: decision.message }
  }
  return {
    checkUrl: (url, purpose) => {
      const target = checkedTarget(url, purpose)
      return target.ok ? null : target.message
    },
    admit,
    checkAddresses: async (url, purpose) => {
      const admitted = await admit(url, purpose)
      return admitted.kind === 'refused' ? admitted.message : null
    },
  }
}

/** The addresses of a host, or an error message. */
async function addressesOf({ host }: OutboundTarget, resolve: Resolve): Promise<readonly string[] | string> {
  if (parseAddress(host) !== null) return [host]
  try {
    const found = await resolve(host)
    return found.length === 0 ? `${host} has no address` : found
  } catch (error) {
    return `cannot resolve ${host} (${codeOf(error)})`
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

const OWN_ADDRESSES_TTL_MS = 10_000
let cachedOwnAddresses: { readonly at: number; readonly addresses: readonly string[] } | null = null

/** The addresses of this machine, cached because reading them is slow and they change rarely. */
function ownAddresses(): readonly string[] {
  const now = performance.now()
  if (cachedOwnAddresses === null || now - cachedOwnAddresses.at > OWN_ADDRESSES_TTL_MS) {
    const found = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
    cachedOwnAddresses = { at: now, addresses: found.map(({ address }) => address) }
  }
  return cachedOwnAddresses.addresses
}

const ADDRESS_TTL_MS = 30_000

/** Caches the addresses of closed places for 30 s. A name that cannot be resolved has none. */
function cacheAddresses(resolve: Resolve): Resolve {
  const known = new Map<string, { readonly at: number; readonly found: Promise<readonly string[]> }>()
  return (host) => {
    if (parseAddress(host) !== null) return Promise.resolve([host])
    const entry = known.get(host)
    if (entry !== undefined && performance.now() - entry.at < ADDRESS_TTL_MS) return entry.found
    const found = resolve(host).catch(() => [])
    known.set(host, { at: performance.now(), found })
    return found
  }
}

type ClosedAddress = Omit<ProtectedService, 'addresses'>

const DEFAULT_PORT = 5_432

/**
 * The hosts and ports of a database URL: `postgres://user:password@host:5432,other/name?host=…`. Leaves out Unix sockets,
 * which no request can address.
 */
export function databaseAddresses(address: string): readonly ClosedAddress[] {
  const found = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)(?:[^?#]*)(?:\?([^#]*))?/i.exec(address)
  const query = new URLSearchParams(found?.[2] ?? '')
  const named = [...(found?.[1] ?? '').split(','), ...query.getAll('host').flatMap((hosts) => hosts.split(','))]
  const ports = query.get('port')?.split(',').map(Number) ?? []
  return named
    .map((text) => decoded(text.trim()))
    .filter((text) => text !== '' && !text.startsWith('/'))
    .map((text, index) => closedAddressOf(text, ports[index] ?? ports[0]))
}

function closedAddressOf(text: string, port: number | undefined): ClosedAddress {
  const [, bracketed, plain, own] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  return {
    description: 'the database',
    host: bracketed ?? plain ?? text,
    port: own === undefined ? (port ?? DEFAULT_PORT) : Number(own),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
