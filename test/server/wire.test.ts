import { connect, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BAD_FRAMES, closingCode, frameOf, TEXT } from '../fuzz/connections/frames.ts'
import { BAD_REQUESTS } from '../fuzz/connections/requests.ts'
import { dial, exchange, handshake, hostLine, keyLine, statusesIn, type Place } from '../fuzz/connections/wire.ts'
import { createHttpWorld, USUAL_SETTINGS, type HttpWorld } from './support.ts'

// What comes over the wire byte by byte, also what no client would send.

let world: HttpWorld
let place: Place
beforeAll(async () => {
  world = await createHttpWorld()
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  place = { port: (world.app.server.address() as AddressInfo).port, key: 'owner' }
})
afterAll(() => world.close())

const CALL = '{"jsonrpc":"2.0","id":1,"method":"cron.status"}'

const connected = (): Promise<number> =>
  new Promise((resolve, reject) => {
    world.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })

it('is answered once for each request, in order, and hung up on where nobody knows where the next one begins', async () => {
  const seen = await Promise.all(
    BAD_REQUESTS.map(async ({ name, bytes, statuses, half = false, closed }) => {
      const until = (text: string): boolean => !closed && statusesIn(text).length >= statuses.length
      return [name, await exchange(place, bytes(place), { half, until })] as const
    }),
  )
  for (const [index, [name, { text, closed }]] of seen.entries()) {
    const expected = BAD_REQUESTS[index]
    expect([statusesIn(text), closed], name).toEqual([expected?.statuses, expected?.closed])
    if (expected?.code !== undefined) expect(text, name).toContain(`"code":"${expected.code}"`)
  }
  expect(world.logged).toEqual([])
})

describe('a WebSocket', () => {
  it('is closed with the code for what is wrong with a frame', async () => {
    const codes = await Promise.all(
      BAD_FRAMES.map(async ({ name, bytes }) => {
        const sent = Buffer.concat([Buffer.from(handshake(place)), bytes])
        const { text } = await exchange(place, sent, { until: (said) => closingCode(said) !== null })
        return [name, closingCode(text)]
      }),
    )
    expect(codes).toEqual(BAD_FRAMES.map(({ name, code }) => [name, code]))
  })

  it('begins after what was asked before on the same connection has been answered', async () => {
    const asked = `GET /api/v1/schedules HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}\r\n`
    const sent = Buffer.concat([Buffer.from(asked + handshake(place)), frameOf({ opcode: TEXT, payload: CALL })])
    const { text } = await exchange(place, sent, { until: (said) => said.includes('"result"') })
    expect(statusesIn(text)).toEqual([200, 101])
    expect(text.indexOf('next_cursor')).toBeLessThan(text.indexOf(' 101 '))
    expect(text).toContain('"result"')
  })

  it('is refused with a problem, and hung up on although the other side stays', async () => {
    await expect.poll(connected).toBe(0)
    const refusals = [
      [(text: string) => text.replace(/Sec-WebSocket-Key.*\r\n/, ''), 400, 'MALFORMED'],
      [(text: string) => text.replace('Version: 13', 'Version: 12'), 400, 'MALFORMED'],
      [(text: string) => text.replace(/Authorization.*\r\n/, ''), 401, 'UNAUTHENTICATED'],
    ] as const
    const asked = refusals.map(([change]) => change(handshake(place)))
    const socketsOf = ['no HTTP\r\n\r\n', ...asked].map((bytes) => {
      // One that goes on when the other side has said all it has to say.
      const socket = connect({ port: place.port, host: '127.0.0.1', allowHalfOpen: true })
      const said: string[] = []
      socket.on('data', (part: Buffer) => said.push(part.toString()))
      socket.on('error', () => undefined)
      socket.write(bytes)
      return { socket, said }
    })
    await expect.poll(() => socketsOf.every(({ said }) => said.join('').endsWith('}')), { interval: 5 }).toBe(true)
    expect(await connected()).toBe(4)
    for (const [index, [, status, code]] of [[null, 400, 'MALFORMED'] as const, ...refusals].entries()) {
      const text = socketsOf[index]?.said.join('') ?? ''
      expect([statusesIn(text), text]).toEqual([[status], expect.stringContaining(`"code":"${code}"`)])
    }
    await expect.poll(connected, { timeout: 3_000 }).toBe(0)
    for (const { socket } of socketsOf) socket.destroy()
  })

  it('of a worker that does not read is not read from', async () => {
    const socket = dial(place.port)
    socket.write(handshake(place, '/api/v1/worker/socket'))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    const one = frameOf({ opcode: TEXT, payload: `{"id":"${'i'.repeat(60_000)}","call":"none"}` })
    // Answers have the ids: all of them together would be 60 MB.
    for (let count = 0; count < 1_000; count += 1) socket.write(one)
    await sleep(600)
    // What is left waiting here was not taken by the server.
    expect(socket.writableLength).toBeGreaterThan(30_000_000)
    socket.destroy()
  })
})

it('what is no HTTP behind a stream of events is not answered in the middle of the stream', async () => {
  const asked = `GET /api/v1/events HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}\r\n`
  const socket = dial(place.port)
  let text = ''
  socket.on('data', (part: Buffer) => (text += part.toString()))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(asked)
  await expect.poll(() => text, { interval: 5 }).toContain('retry:')
  socket.write('\0\0\0\0')
  await closed
  expect(statusesIn(text)).toEqual([200])
})

it('somebody who sends requests without end is hung up on, and leaves room for others', async () => {
  let requests = 0
  const count = (): void => void (requests += 1)
  world.app.server.on('request', count)
  const socket = dial(place.port)
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(`GET /health HTTP/1.1\r\n${hostLine(place)}\r\n`.repeat(20_000))
  await closed
  world.app.server.off('request', count)
  expect(requests).toBeLessThan(6_000)
})

describe('with as many connections as there may be', () => {
  it('those who are idle go, probes are answered, and others are told to come back', async () => {
    const idle = dial(place.port)
    idle.write(`GET /health HTTP/1.1\r\n${hostLine(place)}\r\n`)
    await new Promise((resolve) => idle.once('data', resolve))
    const gone = new Promise((resolve) => idle.once('close', resolve))
    const busy = dial(place.port)
    busy.write('GET /health HTTP/1.1\r\n')
    await expect.poll(connected).toBeGreaterThanOrEqual(2)
    world.set({ limits: { ...USUAL_SETTINGS.limits, connections: 1 } })
    try {
      const ask = (path: string): Promise<{ readonly text: string }> =>
        exchange(place, `GET ${path} HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}\r\n`, { withinMs: 300 })
      const [refused, probe, upgrade] = await Promise.all([
        ask('/api/v1/schedules'),
        ask('/health'),
        exchange(place, handshake(place), { withinMs: 300 }),
      ])
      expect(refused.text).toContain('"code":"TOO_MANY_CONNECTIONS"')
      expect(refused.text).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 2\r\n/)
      expect(statusesIn(upgrade.text)).toEqual([503])
      expect(statusesIn(probe.text)).toEqual([200])
      await gone
    } finally {
      world.set({ limits: USUAL_SETTINGS.limits })
      busy.destroy()
    }
    expect(world.logged.splice(0)).toMatchObject([
      { level: 'warn', message: 'Connection limit reached; some connections are rejected' },
    ])
  })
})
