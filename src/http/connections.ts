import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../api/refusals.ts'
import { answerOn } from '../server/sockets/upgrade.ts'

/** Everybody who is connected, up to a limit. */
export interface Connections {
  readonly size: () => number
  /** Refuses whoever has come when there were too many already, and still are. */
  readonly check: (socket: Socket) => void
}

export interface ConnectionsContext {
  /** How many there may be. Asked with each that comes. */
  readonly most: () => number
  /** Some were refused, or were not even let in. Called seldom, with how many there are. */
  readonly full: (open: number) => void
  /** One was not even let in. */
  readonly dropped: () => void
}

/** So many more are let in to be told that there are too many, and so that probes are answered. */
const SPARE = 64
/** How often those who are idle are asked to go, and how often it is said that there are too many. */
const MAKE_ROOM_EVERY_MS = 1_000
const TELL_EVERY_MS = 60_000
const RETRY_MS = 2_000

/**
 * Watches over how many are connected. When there are too many, those who ask for nothing just now have to go, whoever
 * comes is told so, and beyond some spare places nobody is let in. The rest of the program needs descriptors too.
 */
export function watchConnections(server: Server, ctx: ConnectionsContext): Connections {
  const open = new Set<Socket>()
  // Who was answered and has sent nothing since. Node's own list has those who have just come, too, from Node 26 on.
  const idle = new Map<Socket, number>()
  const late = new WeakSet<Socket>()
  let [roomAt, toldAt] = [-Infinity, -Infinity]
  const every = (since: number, ms: number): boolean => performance.now() - since >= ms
  const makeRoom = (): void => {
    if (every(roomAt, MAKE_ROOM_EVERY_MS)) {
      roomAt = performance.now()
      for (const [socket, sent] of idle)
        if (socket.bytesRead === sent && answerOn(socket) === undefined) socket.destroy()
    }
    if (!every(toldAt, TELL_EVERY_MS)) return
    toldAt = performance.now()
    ctx.full(open.size)
  }
  server.on('connection', (socket: Socket) => {
    // One that had been given away comes back.
    if (open.has(socket)) return
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      idle.delete(socket)
    })
    const most = ctx.most()
    server.maxConnections = most + SPARE
    if (open.size <= most) return
    late.add(socket)
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
      if (!late.has(socket) || open.size <= ctx.most()) return
      throw new Refusal('TOO_MANY_CONNECTIONS', `This node has ${ctx.most()} connections and takes no more for now`, {
        retryAfterMs: RETRY_MS,
      })
    },
  }
}

/** Descriptors that are left to everything else: the database, programs that are started, requests to the outside. */
const SHARE_OF_OTHERS = 0.25
const MOST_FOR_OTHERS = 1_000

/** How many connections this process has descriptors for; infinite where nobody says. */
export function connectionsByDescriptors(read: () => string = readLimits): number {
  const most = /^Max open files\s+(\d+)/m.exec(read())?.[1]
  if (most === undefined) return Infinity
  const descriptors = Number(most)
  return Math.floor(descriptors - Math.min(descriptors * SHARE_OF_OTHERS, MOST_FOR_OTHERS))
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Not every system has it.
    return ''
  }
}
