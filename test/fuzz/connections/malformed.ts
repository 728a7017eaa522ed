import type { Random } from '../../simulation/random.ts'
import type { Abuse, Scenario } from './abuse.ts'
import { BAD_FRAMES, closingCode, frameOf } from './frames.ts'
import { BAD_REQUESTS } from './requests.ts'
import { exchange, handshake, hostLine, keyLine, statusesIn, type Heard, type Place } from './wire.ts'

const SOCKETS = ['/rpc', '/ws', '/api/v1/worker/socket'] as const

/** Every request and every frame of which it is known what has to come back. */
export const knownBad: Scenario = async ({ target, find, note }) => {
  for (const bad of BAD_REQUESTS) {
    const { name, bytes, statuses, closed, code, half = false } = bad
    note('requests', name)
    const until = (text: string): boolean => !closed && statusesIn(text).length >= statuses.length
    const heard = await exchange(target, bytes(target), { half, until, withinMs: 5_000 })
    const isRight = String(statusesIn(heard.text)) === String(statuses) && heard.closed === closed
    if (!isRight || (code !== undefined && !heard.text.includes(`"code":"${code}"`)))
      find({
        where: name,
        message: `got ${shown(heard)} instead of ${String(statuses)}${closed ? ' and the end' : ''}`,
      })
  }
  for (const path of SOCKETS)
    for (const { name, bytes, code } of BAD_FRAMES) {
      note('frames', { path, name })
      const sent = Buffer.concat([Buffer.from(handshake(target, path)), bytes])
      const { text } = await exchange(target, sent, { until: (said) => closingCode(said) !== null, withinMs: 5_000 })
      if (closingCode(text) !== code)
        find({ where: `${path}: ${name}`, message: `closed with ${String(closingCode(text))} instead of ${code}` })
    }
  return BAD_REQUESTS.length + SOCKETS.length * BAD_FRAMES.length
}

const shown = ({ text, closed }: Heard): string =>
  `${statusesIn(text).join(' ') || 'nothing'}${closed ? ' and the end' : ''}`

/** Bytes that are sent on a connection of their own, as the corpus keeps them: one letter for each. */
export interface SentBytes {
  readonly bytes: string
}

/** Stands for where a server is and for its key: both are others the next time. */
const SOMEWHERE: Place = { port: 0, key: '<key>' }

/** The bytes for a server. */
const forPlace = ({ bytes }: SentBytes, { port, key }: Place): Buffer =>
  Buffer.from(bytes.replaceAll('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll('<key>', key), 'latin1')

/** What changed requests are made from. */
function originals(): readonly string[] {
  const body = '{"jsonrpc":"2.0","id":1,"method":"cron.list","params":{"limit":3}}'
  const place = SOMEWHERE
  const head = `${hostLine(place)}${keyLine(place)}Content-Type: application/json\r\n`
  return [
    `GET /health HTTP/1.1\r\n${hostLine(place)}\r\n`,
    `GET /api/v1/runs?limit=2&status=success HTTP/1.1\r\n${head}\r\n`,
    `POST /rpc HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
    `POST /rpc HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    `GET /api/v1/events?kinds=run.changed HTTP/1.1\r\n${head}Last-Event-ID: 3-1\r\n\r\n`,
    `GET /health HTTP/1.1\r\n${hostLine(place)}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    handshake(place) + frameOf({ opcode: 1, payload: body }).toString('latin1'),
    handshake(place, SOCKETS[1]) + frameOf({ opcode: 1, payload: '{"id":1,"call":"renew"}' }).toString('latin1'),
  ]
}

const PIECES = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  '\u001b[31m',
  '\u0085',
  '%00',
  '%',
  '0',
  '-',
  ',',
  '{',
]
const LINES = ['Content-Length: 7\r\n', 'Transfer-Encoding: chunked\r\n', 'Expect: 100-continue\r\n', 'Upgrade: x\r\n']

/** Text that is like another one, but not quite. */
function changedBytes(random: Random, texts: readonly string[]): string {
  let text = random.one(texts)
  for (let left = random.int(1, 4); left > 0; left -= 1) {
    const at = random.int(0, text.length)
    const end = Math.min(text.length, at + random.int(1, 12))
    const line = Math.max(0, text.indexOf('\r\n', at)) + 2
    const changes = [
      () => text.slice(0, at) + text.slice(end),
      () => text.slice(0, end) + text.slice(at),
      () => text.slice(0, at) + random.one(PIECES) + text.slice(at),
      () => text.slice(0, at) + String.fromCharCode(random.int(0, 255)) + text.slice(at + 1),
      () => text.slice(0, line) + random.one(LINES) + text.slice(line),
      () => text.slice(0, at),
      () => text + random.one(texts),
    ]
    text = random.one(changes)()
  }
  return text
}

/** Sends bytes and looks at what comes back: nothing but answers that say whose mistake it was. */
export async function tryBytes({ target, find }: Pick<Abuse, 'target' | 'find'>, sent: SentBytes): Promise<Heard> {
  const heard = await exchange(target, forPlace(sent, target), { half: true, withinMs: 400 })
  // A socket that speaks otherwise may say anything after its 101.
  const [http = ''] = heard.text.split(/(?<=HTTP\/1\.1 101 )/, 1)
  const broken = statusesIn(http).find((status) => status >= 500 && status !== 503)
  if (broken !== undefined)
    find({ where: 'changed requests', kind: '5xx', message: `answered with ${broken}`, input: sent })
  return heard
}

const AT_ONCE = 24

/** Requests and handshakes with a few bytes changed, doubled, cut out or put in. */
export const changedRequests: Scenario = async (abuse, seconds) => {
  const { random, note } = abuse
  const texts = originals()
  const deadline = performance.now() + seconds * 1_000
  let tried = 0
  while (performance.now() < deadline) {
    const sent = Array.from({ length: AT_ONCE }, () => ({ bytes: changedBytes(random, texts) }))
    note('changed requests', sent)
    await Promise.all(sent.map((one) => tryBytes(abuse, one)))
    tried += sent.length
  }
  return tried
}

/** Frames of every kind, most of them wrong, in any order. */
export const changedFrames: Scenario = async (abuse, seconds) => {
  const { random, note } = abuse
  const deadline = performance.now() + seconds * 1_000
  let tried = 0
  while (performance.now() < deadline) {
    const sent = Array.from({ length: AT_ONCE }, () => {
      const frames = Array.from({ length: random.int(1, 6) }, () => anyFrame(random))
      return { bytes: handshake(SOMEWHERE, random.one(SOCKETS)) + Buffer.concat(frames).toString('latin1') }
    })
    note('changed frames', sent)
    await Promise.all(sent.map((one) => tryBytes(abuse, one)))
    tried += sent.length
  }
  return tried
}

const PAYLOADS = [
  '',
  '{}',
  '[]',
  '[1]',
  '{"id":1,"call":"claim"}',
  '{"jsonrpc":"2.0","method":"cron.list"}',
  '\u00ff\u0000',
]

function anyFrame(random: Random): Buffer {
  const deep = '['.repeat(random.int(1, 3_000))
  const batch = `[${Array<string>(random.int(1, 3_000)).fill('{}').join(',')}]`
  return frameOf({
    ...{ opcode: random.one([1, 1, 1, 0, 2, 8, 9, 10, random.int(0, 15)]), fin: random.chance(0.8) },
    ...{ reserved: random.chance(0.1) ? random.int(0, 7) : 0, masked: random.chance(0.95) },
    payload: Buffer.from(random.one([...PAYLOADS, deep, batch]), random.chance(0.5) ? 'latin1' : 'utf8'),
    ...(random.chance(0.1) ? { length: BigInt(random.int(0, 100_000)) } : {}),
  })
}
