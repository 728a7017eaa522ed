import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Abuse, Scenario } from './abuse.ts'
import { frameOf, PING, TEXT } from './frames.ts'
import { until } from './target.ts'
import { dial, handshake, hostLine, keyLine, type Place } from './wire.ts'

const CLAIM = '{"agents":["nobody"],"capacity":1,"wait_seconds":20}'

/** Where somebody may be when they go. */
const STATES: Readonly<Record<string, (place: Place) => string | Buffer>> = {
  'before a word': () => '',
  'in the middle of the headers': (place) => `GET /api/v1/runs HTTP/1.1\r\n${hostLine(place)}Author`,
  'in the middle of a body': (place) =>
    `POST /rpc HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}Content-Type: application/json\r\nContent-Length: 90\r\n\r\n{"js`,
  'before the answer to a handshake': (place) => handshake(place),
  'in the middle of a frame': (place) =>
    Buffer.concat([
      Buffer.from(handshake(place)),
      frameOf({ opcode: TEXT, payload: 'x'.repeat(900) }).subarray(0, 300),
    ]),
  'with calls unanswered': (place) =>
    Buffer.concat([
      Buffer.from(handshake(place)),
      ...Array<Buffer>(40).fill(frameOf({ opcode: TEXT, payload: '{"jsonrpc":"2.0","id":1,"method":"cron.list"}' })),
    ]),
  'while a worker waits': (place) =>
    `POST /api/v1/worker/claim HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}Content-Type: application/json\r\n` +
    `Content-Length: ${CLAIM.length}\r\n\r\n${CLAIM}`,
  'while a worker waits at a socket': (place) =>
    Buffer.concat([
      Buffer.from(handshake(place, '/api/v1/worker/socket')),
      frameOf({ opcode: TEXT, payload: `{"id":1,"call":"claim","body":${CLAIM}}` }),
    ]),
  'while listening': (place) => `GET /api/v1/events HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}\r\n`,
  'while waiting for a run': (place) => {
    const body = '{"text":"hello"}'
    return (
      `POST /api/v1/sessions/fuzz%3Agone/messages?wait=30 HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    )
  },
}

const AT_ONCE = 20

/** Clients that go in every state, politely or not. */
export const leavers: Scenario = async ({ target, random, note }, seconds) => {
  const states = Object.entries(STATES)
  const deadline = performance.now() + seconds * 1_000
  let tried = 0
  while (performance.now() < deadline) {
    const going = Array.from({ length: AT_ONCE }, async () => {
      const [name, bytes] = random.one(states)
      const [wait, isPolite] = [random.int(0, 40), random.chance(0.5)]
      note('leavers', { name, wait, isPolite })
      const socket = dial(target.port)
      socket.resume()
      socket.write(bytes(target))
      await sleep(wait)
      if (isPolite) socket.end()
      else socket.resetAndDestroy()
      await sleep(20)
      socket.destroy()
    })
    await Promise.all(going)
    tried += AT_ONCE
  }
  return tried
}

const CHUNK = 64 * 1_024
/** So much is offered to a server by somebody who takes nothing. */
const OFFERED = 48 * 1_048_576
const MOST_GROWTH_MB = 160

/** Those who send and send and read nothing: what is kept for them must not grow. */
export const deafSenders: Scenario = async (abuse) => {
  const call = frameOf({ opcode: TEXT, payload: '{"jsonrpc":"2.0","id":1,"method":"cron.list"}' })
  const claim = frameOf({ opcode: TEXT, payload: `{"id":"${'i'.repeat(2_000)}","call":"nothing"}` })
  const ping = frameOf({ opcode: PING, payload: 'x'.repeat(125) })
  const { target } = abuse
  const asked = Buffer.from(`GET /api/v1/config HTTP/1.1\r\n${hostLine(target)}${keyLine(target)}\r\n`)
  await deaf(abuse, 'calls', { hello: handshake(target), again: call })
  await deaf(abuse, 'a worker', { hello: handshake(target, '/api/v1/worker/socket'), again: claim })
  await deaf(abuse, 'pings', { hello: handshake(target), again: ping })
  await deaf(abuse, 'requests', { hello: '', again: asked })
  return 4
}

interface Flood {
  readonly hello: string
  readonly again: Buffer
}

async function deaf({ target, find, note }: Abuse, name: string, { hello, again }: Flood): Promise<void> {
  note('deaf senders', name)
  const before = target.uses().megabytes
  const socket = dial(target.port)
  socket.pause()
  if (hello !== '') socket.write(hello)
  const chunk = Buffer.concat(Array<Buffer>(Math.ceil(CHUNK / again.length)).fill(again))
  let most = 0
  const look = (): void => {
    most = Math.max(most, target.uses().megabytes - before)
  }
  await until(() => {
    look()
    return socket.destroyed || !push(socket, chunk)
  }, 4_000)
  await sleep(300)
  look()
  socket.destroy()
  if (most > MOST_GROWTH_MB) find({ where: `deaf senders: ${name}`, message: `the server grew by ${most} MB` })
}

/** Sends some more; false when enough has been sent, or nothing is taken any more. */
function push(socket: Socket, chunk: Buffer): boolean {
  if (socket.bytesWritten > OFFERED || socket.writableLength > 4 * 1_048_576) return false
  for (let count = 0; count < 16; count += 1) socket.write(chunk)
  return true
}
