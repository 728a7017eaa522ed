import { createConnection, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net'
import { openLink, type Link } from './link.ts'
import type { Trap } from './trap.ts'
import { CLEAR, type Direction, type Weather } from './weather.ts'

/** The road between one node and the server. Whatever goes wrong on networks can be made to go wrong on it. */
export interface Proxy {
  readonly port: number
  /** How it is from now on, for connections that are there and for new ones. */
  readonly weather: (next: Weather) => void
  /** Ends every connection without a goodbye, in both directions. Answers how many there were. */
  readonly reset: () => number
  /** The connections that are there carry nothing any more, for ever, and nobody is told. New ones are as good as any. */
  readonly forget: () => number
  /** Says goodbye in one direction on every connection and leaves the other open. */
  readonly halfClose: (direction: Direction) => number
  /** Sets a trap for the next bytes that fit it. Resolves with whether it snapped within the time; it is gone then. */
  readonly trap: (trap: Trap, withinMs: number) => Promise<boolean>
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** Opens a road to a server, at a port of its own. */
export async function openProxy(to: NetConnectOpts): Promise<Proxy> {
  const links = new Set<Link>()
  const road: { weather: Weather; trap: Trap | null } = { weather: CLEAR, trap: null }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    near.on('error', () => undefined)
    if (road.weather.kind === 'refusing') {
      near.resetAndDestroy()
      return
    }
    const far: Socket = createConnection({ ...to, allowHalfOpen: true })
    const link = openLink({ near, far, weather: () => road.weather, trap: () => road.trap })
    links.add(link)
    void link.over.then(() => links.delete(link))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const each = (act: (link: Link) => void): number => {
    const hit = [...links]
    for (const link of hit) act(link)
    return hit.length
  }
  return {
    port: (server.address() as AddressInfo).port,
    weather: (next) => {
      road.weather = next
      each((link) => link.weatherChanged())
    },
    reset: () => each((link) => link.reset()),
    forget: () => each((link) => link.forget()),
    halfClose: (direction) => each((link) => link.halfClose(direction)),
    trap: async (trap, withinMs) => {
      road.trap = trap
      const timer = setTimeout(() => trap.disarm(), withinMs)
      const snapped = await trap.over
      clearTimeout(timer)
      road.trap = null
      return snapped
    },
    connections: () => links.size,
    close: () => {
      each((link) => link.reset())
      return new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}
