import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Abuse } from './abuse.ts'
import { stretch, until, type Target } from './target.ts'
import { dial, handshake, hostLine, keyLine, statusesIn } from './wire.ts'

/** Guests that do next to nothing and have to go by themselves, while others are tried. */
export interface Dawdlers {
  readonly count: number
  /** Looks whether the server has sent them away by now; to be asked when their time is over. */
  readonly judge: (abuse: Abuse) => void
  /** When all of them have to be gone, by `performance.now()`. */
  readonly overAt: number
  /** Whether they are gone already. */
  readonly isOver: () => boolean
  readonly end: () => void
}

/** Requests have 30 s and are looked at every 5 s; pings go out every 30 s and have to be answered by the next. */
const LONGEST_MS = 63_000
/** On a machine that does much else timers are late, but not for ever. */
const LONGEST_ANYWHERE_MS = 100_000
const OF_EACH = 10

interface Dawdler {
  readonly name: string
  readonly socket: Socket
  text: string
  isOver: boolean
}

/** Headers and bodies that come byte by byte, connections that say nothing, and peers that vanish without a word. */
export async function beDawdling(target: Target): Promise<Dawdlers> {
  const head = `POST /rpc HTTP/1.1\r\n${hostLine(target)}${keyLine(target)}Content-Type: application/json\r\n`
  const all = Array.from({ length: OF_EACH }, () => [
    dawdler('headers byte by byte', dial(target.port), head),
    dawdler('a body byte by byte', dial(target.port), `${head}Content-Length: 500\r\n\r\n`),
    dawdler('nothing at all', dial(target.port), ''),
  ]).flat()
  const timer = setInterval(() => {
    for (const { name, socket } of all) if (name !== 'nothing at all' && socket.writable) socket.write('x')
  }, 1_000)
  // Headers that never come to their end.
  for (const { name, socket } of all) if (name === 'headers byte by byte') socket.write('X-Slow: ')
  const swallower = await openSwallower(target.port)
  const vanished = await vanish(swallower, target)
  return {
    ...{
      count: all.length + vanished,
      overAt: performance.now() + Math.min(LONGEST_MS * stretch(), LONGEST_ANYWHERE_MS),
    },
    isOver: () => swallower.open() === 0 && all.every(({ isOver }) => isOver),
    judge: ({ find }) => {
      for (const { name, isOver, text } of all) {
        if (!isOver) find({ where: `dawdlers: ${name}`, kind: 'hang', message: 'is still connected' })
        else if (!statusesIn(text).every((status) => status === 408))
          find({ where: `dawdlers: ${name}`, message: `got ${statusesIn(text).join(' ')} instead of 408` })
      }
      const left = swallower.open()
      if (left > 0)
        find({ where: 'vanished peers', kind: 'hang', message: `${left} of ${vanished} are still connected` })
    },
    end: () => {
      clearInterval(timer)
      for (const { socket } of all) socket.destroy()
      swallower.end()
    },
  }
}

function dawdler(name: string, socket: Socket, hello: string): Dawdler {
  const made: Dawdler = { name, socket, text: '', isOver: false }
  socket.on('data', (part: Buffer) => (made.text += part.toString()))
  socket.on('close', () => (made.isOver = true))
  if (hello !== '') socket.write(hello)
  return made
}

/** Stands between, passes everything on, and then nothing more, in either direction, without hanging up. */
interface Swallower {
  readonly port: number
  readonly swallow: () => void
  /** How many connections the server still has through it. */
  readonly open: () => number
  readonly end: () => void
}

async function openSwallower(to: number): Promise<Swallower> {
  const inner = new Set<Socket>()
  const outer = new Set<Socket>()
  let isSwallowing = false
  const pass = (from: Socket, on: Socket): void => {
    from.on('data', (part) => {
      if (!isSwallowing) on.write(part)
    })
    from.on('error', () => undefined)
  }
  const server: Server = createServer((outside) => {
    const inside = dial(to)
    inner.add(inside)
    outer.add(outside)
    inside.on('close', () => inner.delete(inside))
    pass(outside, inside)
    pass(inside, outside)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    swallow: () => {
      isSwallowing = true
    },
    open: () => inner.size,
    end: () => {
      for (const socket of [...inner, ...outer]) socket.destroy()
      server.close()
    },
  }
}

/** Opens WebSockets through it and lets them vanish; answers how many. */
async function vanish(swallower: Swallower, target: Target): Promise<number> {
  const greeted = { count: 0 }
  for (let count = 0; count < OF_EACH; count += 1) {
    const socket = dial(swallower.port)
    socket.write(handshake(target, count % 2 === 0 ? '/rpc' : '/api/v1/worker/socket'))
    socket.once('data', () => (greeted.count += 1))
  }
  await until(() => greeted.count === OF_EACH, 5_000)
  await sleep(50)
  swallower.swallow()
  return greeted.count
}
