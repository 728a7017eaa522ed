import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openProxy, type Proxy } from './proxy.ts'
import { cutAfterBytes, cutBehindCommit, loseCommitted } from './trap.ts'
import { CLEAR, DIRECTIONS } from './weather.ts'

const COMMIT = Buffer.from('Q\0\0\0\u000bcommit\0', 'latin1')
const COMMITTED = Buffer.from('C\0\0\0\u000bCOMMIT\0', 'latin1')

let directory: string
let server: Server
let proxy: Proxy
/** What reached the server, by connection. */
let heard: string[]
let answering: (said: string) => string | Buffer

beforeEach(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-road-'))
  const here: string[] = []
  heard = here
  answering = (said) => `you said ${said}`
  server = createServer({ allowHalfOpen: true }, (socket) => {
    const index = here.push('') - 1
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      here[index] = `${here[index] ?? ''}${chunk.toString('latin1')}`
      socket.write(answering(chunk.toString('latin1')))
    })
    socket.on('end', () => {
      here[index] = `${here[index] ?? ''}.`
      socket.end()
    })
  })
  const socket = path.join(directory, 'socket')
  await new Promise<void>((resolve) => {
    server.listen(socket, resolve)
  })
  proxy = await openProxy({ path: socket })
})
afterEach(async () => {
  await proxy.close()
  server.close()
  rmSync(directory, { recursive: true, force: true })
})

interface Caller {
  readonly socket: Socket
  readonly answer: () => string
  readonly fate: () => string
}

function call(): Promise<Caller> {
  return new Promise((resolve) => {
    const socket = createConnection({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true })
    let answer = ''
    let fate = 'open'
    const caller = { socket, answer: () => answer, fate: () => fate }
    socket.on('connect', () => resolve(caller))
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fate = error.code ?? 'error'
      // Who is turned away may hear of it before of being connected.
      resolve(caller)
    })
    socket.on('end', () => (fate = 'goodbye'))
  })
}

const soon = { timeout: 5_000, interval: 5 }

describe('the road between a node and the server', () => {
  it('carries bytes and goodbyes both ways', async () => {
    const { socket, answer, fate } = await call()
    socket.end('hello')
    await vi.waitFor(() => expect([answer(), fate()]).toEqual(['you said hello', 'goodbye']), soon)
    expect(heard).toEqual(['hello.'])
    await vi.waitFor(() => expect(proxy.connections()).toBe(0), soon)
  })

  it('can end connections without a goodbye, and turn new ones away', async () => {
    const { socket, answer, fate } = await call()
    socket.write('hello')
    await vi.waitFor(() => expect(answer()).not.toBe(''), soon)
    proxy.weather({ kind: 'refusing' })
    expect(proxy.reset()).toBe(1)
    await vi.waitFor(() => expect(fate()).toBe('ECONNRESET'), soon)
    const turnedAway = await call()
    await vi.waitFor(() => expect(turnedAway.fate()).toBe('ECONNRESET'), soon)
    proxy.weather(CLEAR)
    const welcome = await call()
    welcome.socket.write('again')
    await vi.waitFor(() => expect(welcome.answer()).toBe('you said again'), soon)
  })

  it.each([
    ['both directions', DIRECTIONS, ''],
    ['the direction of the server', ['to_server'], ''],
    ['the direction of the node', ['to_node'], 'hello'],
  ] as const)('can be silent in %s, and goes on late and whole', async (_, directions, arrived) => {
    const { socket, answer, fate } = await call()
    proxy.weather({ kind: 'silent', directions })
    socket.write('hello')
    await sleep(60)
    expect([answer(), heard.join('')]).toEqual(['', arrived])
    proxy.weather(CLEAR)
    await vi.waitFor(() => expect(answer()).toBe('you said hello'), soon)
    expect(fate()).toBe('open')
  })

  it('can forget connections for ever, and nobody is told', async () => {
    const { socket, answer, fate } = await call()
    await vi.waitFor(() => expect(heard).toHaveLength(1), soon)
    expect(proxy.forget()).toBe(1)
    proxy.weather(CLEAR)
    socket.write('hello')
    const other = await call()
    other.socket.write('me')
    await vi.waitFor(() => expect(other.answer()).toBe('you said me'), soon)
    expect([answer(), fate(), heard[0]]).toEqual(['', 'open', ''])
  })

  it('can be slow and narrow', async () => {
    answering = () => ''
    const { socket } = await call()
    proxy.weather({ kind: 'slow', delayMs: () => 40, bytesPerSecond: 200 })
    const from = performance.now()
    socket.write('x'.repeat(31))
    await vi.waitFor(() => expect(heard[0]).toBe('x'.repeat(31)), soon)
    // One delay, and three slices of a twentieth of a second before the last byte.
    expect(performance.now() - from).toBeGreaterThan(180)
  })

  it.each([
    ['to_node', 'goodbye', 'hello'],
    ['to_server', 'open', '.'],
  ] as const)('can say goodbye %s alone', async (direction, near, far) => {
    answering = () => ''
    const { socket, fate } = await call()
    await vi.waitFor(() => expect(heard).toHaveLength(1), soon)
    expect(proxy.halfClose(direction)).toBe(1)
    socket.write('hello')
    // The server here answers a goodbye with its own, which a node then hears.
    await vi.waitFor(() => expect([fate() === near || direction === 'to_server', heard[0]]).toEqual([true, far]), soon)
  })

  it('can cut a message in two', async () => {
    const snapped = proxy.trap(cutAfterBytes(7, 'to_server'), 5_000)
    const { socket, fate } = await call()
    socket.write('hello')
    await vi.waitFor(() => expect(heard[0]).toBe('hello'), soon)
    socket.write('world')
    expect(await snapped).toBe(true)
    await vi.waitFor(() => expect([fate(), heard[0]?.slice(0, 7)]).toEqual(['ECONNRESET', 'hellowo']), soon)
  })

  it('can lose what follows COMMIT, or the answer to it', async () => {
    answering = () => COMMITTED
    const behind = proxy.trap(cutBehindCommit(), 5_000)
    const first = await call()
    first.socket.write(Buffer.concat([Buffer.from('insert'), COMMIT, Buffer.from('rest')]))
    expect(await behind).toBe(true)
    await vi.waitFor(() => expect(first.fate()).toBe('ECONNRESET'), soon)
    // The server hears a goodbye at some time; nothing comes before it.
    expect(heard[0]?.replace('.', '')).toBe(`insert${COMMIT.toString('latin1')}`)
    const answer = proxy.trap(loseCommitted(), 5_000)
    const second = await call()
    second.socket.write(COMMIT)
    expect(await answer).toBe(true)
    await vi.waitFor(() => expect(second.fate()).toBe('ECONNRESET'), soon)
    expect([heard[1]?.replace('.', ''), second.answer()]).toEqual([COMMIT.toString('latin1'), ''])
  })

  it('forgets a trap that nothing fell into', async () => {
    expect(await proxy.trap(loseCommitted(), 20)).toBe(false)
    answering = () => COMMITTED
    const { socket, answer } = await call()
    socket.write('hello')
    await vi.waitFor(() => expect(answer()).toBe(COMMITTED.toString('latin1')), soon)
  })
})
