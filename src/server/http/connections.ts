import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../../api/refusals.ts'
import { responseOn } from '../sockets/upgrade.ts'

/** The open connections, up to a limit. */
export interface Connections {
  readonly size: () => number
  /** Rejects a connection that was opened above the limit, while the limit is still exceeded. */
  readonly check: (socket: Socket) => void
}

export interface ConnectionsContext {
  /** The connection limit; read for each new connection. */
  readonly max: () => number
  /** Called at a limited rate when connections were rejected or dropped, with the number of open ones. */
  readonly full: (open: number) => void
  /** Called for each connection that was dropped without a response. */
  readonly dropped: () => void
}

/** Connections above the limit that are accepted to answer them with an error, and to answer health probes. */
const RESERVED_CONNECTIONS = 64
/** How often idle connections are closed to make room, and how often the limit is logged. */
const MAKE_ROOM_EVERY_MS = 1_000
const LOG_EVERY_MS = 60_000
const CONNECTION_RETRY_MS = 2_000

/**
 * Limits the number of connections. Above the limit, idle connections are closed, new ones are answered with an error,
 * and beyond a reserve they are dropped. The rest of the program needs file descriptors too.
 */
export function watchConnections(server: Server, ctx: ConnectionsContext): Connections {
  const open = new Set<Socket>()
  // Connections that were answered and have sent nothing since. From Node 26 on, Node's own list of idle connections
  // also contains new ones.
  const idle = new Map<Socket, number>()
  const aboveLimit = new WeakSet<Socket>()
  let [roomAt, loggedAt] = [-Infinity, -Infinity]
  const every = (since: number, ms: number): boolean => performance.now() - since >= ms
  const makeRoom = (): void => {
    if (every(roomAt, MAKE_ROOM_EVERY_MS)) {
      roomAt = performance.now()
      for (const [socket, sent] of idle)
        if (socket.bytesRead === sent && responseOn(socket) === undefined) socket.destroy()
    }
    if (!every(loggedAt, LOG_EVERY_MS)) return
    loggedAt = performance.now()
    ctx.full(open.size)
  }
  server.on('connection', (socket: Socket) => {
    // A connection that was handed over for an upgrade is emitted again.
    if (open.has(socket)) return
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      idle.delete(socket)
    })
    const max = ctx.max()
    server.maxConnections = max + RESERVED_CONNECTIONS
    if (open.size <= max) return
    aboveLimit.add(socket)
    makeRoom()
  })
  server.on('request', ({ socket }, response) => {
    idle.delete(socket)
    response.once('close', () => {
      if (open.has(socket)) idle.set(socket, socket.bytesRead)
    })
  })
  server.on('drop', () => {
    ctx.dropped()
    makeRoom()
  })
  return {
    size: () => open.size,
    check: (socket) => {
      if (!aboveLimit.has(socket) || open.size <= ctx.max()) return
      throw new Refusal(
        'TOO_MANY_CONNECTIONS',
        `This node has reached its limit of ${ctx.max()} connections; retry in ${CONNECTION_RETRY_MS / 1_000} seconds`,
        {
          retryAfterMs: CONNECTION_RETRY_MS,
        },
      )
    },
  }
}

/** File descriptors reserved for everything else: the database, child processes, outbound requests. */
const RESERVED_DESCRIPTOR_SHARE = 0.25
const MAX_RESERVED_DESCRIPTORS = 1_000

/** How many connections the file descriptor limit allows; Infinity if the limit is unknown. */
export function connectionsByDescriptors(read: () => string = readLimits): number {
  const max = /^Max open files\s+(\d+)/m.exec(read())?.[1]
  if (max === undefined) return Infinity
  const descriptors = Number(max)
  return Math.floor(descriptors - Math.min(descriptors * RESERVED_DESCRIPTOR_SHARE, MAX_RESERVED_DESCRIPTORS))
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Not every operating system has this file.
    return ''
  }
}
