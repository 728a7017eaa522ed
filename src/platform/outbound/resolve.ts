import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { parseAddress } from '../../domain/outbound/address.ts'
import {
  type ClosedPlace,
  judgeAddresses,
  type Judged,
  judgeTarget,
  type OutboundRules,
  type OutboundTarget,
  parseTarget,
  type Purpose,
} from '../../domain/outbound/ssrf-guard.ts'

/** Asks what a name stands for. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** What the operator decides about requests to the outside. */
export interface OutboundSettings {
  readonly allowHosts: readonly string[]
  readonly allowLoopback: boolean
}

export interface GuardOptions {
  readonly settings: () => OutboundSettings
  /** Our listener and our database, as far as they have an address. */
  readonly closed: () => readonly Omit<ClosedPlace, 'addresses'>[]
  /** Left out: the resolver of the machine. */
  readonly resolve?: Resolve
}

/** A target with the addresses that were judged; a request goes to these and to no others. */
export interface PinnedTarget extends OutboundTarget {
  readonly addresses: readonly string[]
}

/** How asking for a way to a host ends. */
export type Admitted =
  | { readonly kind: 'admitted'; readonly target: PinnedTarget }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'unresolved'; readonly message: string }

/** Tells where requests may go. */
export interface OutboundGuard {
  /** Judges by what is written, at once. Answers with what is wrong, null: nothing as far as can be seen. */
  readonly judge: (url: string, purpose: Purpose) => string | null
  /** Resolves once, judges every address, and answers with those a socket may be opened to. */
  readonly admit: (url: string, purpose: Purpose) => Promise<Admitted>
  /** As `judge`, and asks the resolver too. A name nobody knows is not wrong: it may be known when it is called. */
  readonly check: (url: string, purpose: Purpose) => Promise<string | null>
}

const resolveBySystem: Resolve = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/** The guard of a server: every request whose address a tenant can choose asks it. */
export function createOutboundGuard(options: GuardOptions): OutboundGuard {
  const { resolve = resolveBySystem, settings, closed } = options
  const closedAddresses = rememberAddresses(resolve)
  const rulesWith = (places: readonly ClosedPlace[]): OutboundRules => ({
    ...settings(),
    closed: places,
    ownAddresses: ownAddresses(),
  })
  const spelled = (): OutboundRules => rulesWith(closed().map((place) => ({ ...place, addresses: [] })))
  const judged = (url: string, purpose: Purpose): Judged<OutboundTarget> => {
    const target = parseTarget(url)
    return target.ok ? judgeTarget(target.value, purpose, spelled()) : target
  }
  const admit = async (url: string, purpose: Purpose): Promise<Admitted> => {
    const target = judged(url, purpose)
    if (!target.ok) return { kind: 'refused', message: target.message }
    const found = await addressesOf(target.value, resolve)
    if (typeof found === 'string') return { kind: 'unresolved', message: found }
    // Only a place with this very port can be meant, so mostly nobody has to be asked.
    const near = closed().filter(({ port }) => port === target.value.port)
    const places = await Promise.all(
      near.map(async (place) => ({ ...place, addresses: await closedAddresses(place.host) })),
    )
    const fine = judgeAddresses(target.value, found, { purpose, rules: rulesWith(places) })
    return fine.ok
      ? { kind: 'admitted', target: { ...target.value, addresses: found } }
      : { kind: 'refused', message: fine.message }
  }
  return {
    judge: (url, purpose) => {
      const target = judged(url, purpose)
      return target.ok ? null : target.message
    },
    admit,
    check: async (url, purpose) => {
      const admitted = await admit(url, purpose)
      return admitted.kind === 'refused' ? admitted.message : null
    },
  }
}

/** The addresses of a host, or why there are none. */
async function addressesOf({ host }: OutboundTarget, resolve: Resolve): Promise<readonly string[] | string> {
  if (parseAddress(host) !== null) return [host]
  try {
    const found = await resolve(host)
    return found.length === 0 ? `${host} has no address` : found
  } catch (error) {
    return `${host} cannot be resolved (${codeOf(error)})`
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

const OWN_FOR_MS = 10_000
let own: { readonly at: number; readonly addresses: readonly string[] } | null = null

/** Asking the machine costs more than a small request, and its addresses change rarely. */
function ownAddresses(): readonly string[] {
  const now = performance.now()
  if (own === null || now - own.at > OWN_FOR_MS) {
    const found = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
    own = { at: now, addresses: found.map(({ address }) => address) }
  }
  return own.addresses
}

const REMEMBERED_MS = 30_000

/** What places of our own resolve to, asked at most twice a minute. What cannot be resolved cannot be reached either. */
function rememberAddresses(resolve: Resolve): Resolve {
  const known = new Map<string, { readonly at: number; readonly found: Promise<readonly string[]> }>()
  return (host) => {
    if (parseAddress(host) !== null) return Promise.resolve([host])
    const entry = known.get(host)
    if (entry !== undefined && performance.now() - entry.at < REMEMBERED_MS) return entry.found
    const found = resolve(host).catch(() => [])
    known.set(host, { at: performance.now(), found })
    return found
  }
}

type Place = Omit<ClosedPlace, 'addresses'>

const DEFAULT_PORT = 5_432

/**
 * Where a database listens, by its address: `postgres://user:password@host:5432,other/name?host=…`. A socket in the file
 * system has no address that a request could name.
 */
export function databasePlaces(address: string): readonly Place[] {
  const found = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)(?:[^?#]*)(?:\?([^#]*))?/i.exec(address)
  const query = new URLSearchParams(found?.[2] ?? '')
  const named = [...(found?.[1] ?? '').split(','), ...query.getAll('host').flatMap((hosts) => hosts.split(','))]
  const ports = query.get('port')?.split(',').map(Number) ?? []
  return named
    .map((text) => decoded(text.trim()))
    .filter((text) => text !== '' && !text.startsWith('/'))
    .map((text, index) => placeOf(text, ports[index] ?? ports[0]))
}

function placeOf(text: string, port: number | undefined): Place {
  const [, bracketed, plain, own] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  return {
    what: 'the database',
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
