import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import { parseAddress } from '../core/outbound/address.ts'
import type { PinnedTarget } from './guard.ts'

/** Connections that are kept for the next request. */
export interface Pools {
  /** The connections to a target, and to nothing but the addresses it is pinned to. */
  readonly of: (target: PinnedTarget) => Pool
  readonly close: () => Promise<void>
}

interface Kept {
  readonly pool: Pool
  usedAt: number
}

const MOST_POOLS = 256
const IDLE_MS = 30_000
const KEEP_ALIVE_MS = 4_000
const LARGEST_HEADERS = 16_384

/**
 * Pools by origin and addresses: a connection is only used again for a request that was judged with the very addresses
 * it was opened to, so neither another DNS answer nor a change of the rules is ever got around by a kept connection.
 */
export function createPools(): Pools {
  const kept = new Map<string, Kept>()
  let sweptAt = performance.now()
  const drop = (key: string, { pool }: Kept): void => {
    kept.delete(key)
    // What is under way on it may end.
    pool.close().catch(() => undefined)
  }
  const sweep = (now: number): void => {
    if (now - sweptAt < IDLE_MS && kept.size < MOST_POOLS) return
    sweptAt = now
    for (const [key, entry] of kept) if (now - entry.usedAt > IDLE_MS || kept.size >= MOST_POOLS) drop(key, entry)
  }
  return {
    of: (target) => {
      const key = `${target.url.origin} ${target.addresses.join(' ')}`
      const now = performance.now()
      const known = kept.get(key)
      if (known !== undefined) {
        known.usedAt = now
        return known.pool
      }
      sweep(now)
      const pool = openPool(target)
      kept.set(key, { pool, usedAt: now })
      return pool
    },
    close: async () => {
      const all = [...kept.values()]
      kept.clear()
      await Promise.all(all.map(({ pool }) => pool.destroy()))
    },
  }
}

const openPool = ({ url, addresses }: PinnedTarget): Pool =>
  new Pool(url.origin, {
    pipelining: 1,
    // Time limits belong to the request as a whole; those of the library would only be a second set of them.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS * 4,
    maxHeaderSize: LARGEST_HEADERS,
    connect: { lookup: pinned(addresses), autoSelectFamily: true, timeout: 10_000 },
  })

/** Answers every question with the addresses that were judged. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: parseAddress(address)?.length === 4 ? 4 : 6 }))
  return (_host, options, done) => {
    const [first] = all
    if (first === undefined) done(new Error('there is no address'), '', 4)
    else if (options.all === true) done(null, all)
    else done(null, first.address, first.family)
  }
}
