// Many guests of one server in a process of their own, which can be stopped. Told what to do in JSON lines.
import { Agent, get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import { dial } from './wire.ts'

/** What the process is told. */
export type GuestCommand =
  | { readonly do: 'begin'; readonly port: number; readonly key: string }
  | { readonly do: 'open'; readonly streams: number; readonly sockets: number; readonly idle: number }
  | { readonly do: 'report' }
  | { readonly do: 'leave' }

/** What it says. */
export interface GuestReport {
  readonly said: 'opened' | 'report' | 'left'
  readonly streams: number
  readonly sockets: number
  readonly idle: number
  /** Refusals, as `429 RATE_LIMITED with Retry-After`. */
  readonly refused: Readonly<Record<string, number>>
  /** Of all streams: the fewest ends of runs that one has heard of, and how many have heard of one twice. */
  readonly fewest: number
  readonly doubled: number
  readonly reconnected: number
  /** Milliseconds that the slowest probe took since the last report, and how many failed. */
  readonly slowestProbe: number
  readonly failedProbes: number
}

interface Stream {
  readonly ends: Set<string>
  doubled: boolean
  lastId: string
  response: IncomingMessage | null
}

const state = {
  ...{ port: 0, key: '', leaving: false, reconnected: 0, slowestProbe: 0, failedProbes: 0 },
  streams: new Set<Stream>(),
  sockets: new Set<WebSocket>(),
  idle: new Set<ReturnType<typeof dial>>(),
  refused: new Map<string, number>(),
}

const say = (said: GuestReport['said']): void => {
  const { streams, sockets, idle, refused, reconnected, slowestProbe, failedProbes } = state
  const all = [...streams]
  const report: GuestReport = {
    ...{ said, streams: streams.size, sockets: sockets.size, idle: idle.size, refused: Object.fromEntries(refused) },
    fewest: all.length === 0 ? 0 : Math.min(...all.map(({ ends }) => ends.size)),
    doubled: all.filter(({ doubled }) => doubled).length,
    ...{ reconnected, slowestProbe: Math.round(slowestProbe), failedProbes },
  }
  Object.assign(state, { slowestProbe: 0, failedProbes: 0 })
  process.stdout.write(`${JSON.stringify(report)}\n`)
}

const headers = (): { readonly authorization: string } => ({ authorization: `Bearer ${state.key}` })

async function refusedBy(response: IncomingMessage): Promise<void> {
  let text = ''
  for await (const part of response) text += String(part)
  const { code = '?' } = JSON.parse(text === '' ? '{}' : text) as { readonly code?: string }
  const retry = response.headers['retry-after'] === undefined ? 'without' : 'with'
  const name = `${response.statusCode ?? 0} ${code} ${retry} Retry-After`
  state.refused.set(name, (state.refused.get(name) ?? 0) + 1)
}

/** Listens to how runs end, and comes back where it was when it is cut off. */
function listen(stream: Stream, settled: () => void): void {
  const after = stream.lastId === '' ? {} : { 'last-event-id': stream.lastId }
  const path = '/api/v1/events?kinds=run.changed'
  const request = get({ host: '127.0.0.1', port: state.port, path, agent: false, headers: { ...headers(), ...after } })
  const again = (): void => {
    if (state.leaving || !state.streams.has(stream)) return
    state.reconnected += 1
    setTimeout(() => {
      listen(stream, () => undefined)
    }, 100)
  }
  request.on('error', () => {
    settled()
    again()
  })
  request.on('response', (response) => {
    if (response.statusCode !== 200) {
      void refusedBy(response).finally(settled)
      return
    }
    state.streams.add(stream)
    stream.response = response
    let rest = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      const blocks = (rest + part).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) hear(stream, block)
    })
    response.on('error', () => undefined)
    response.on('close', again)
    settled()
  })
}

function hear(stream: Stream, block: string): void {
  stream.lastId = /^id: (.*)$/m.exec(block)?.[1] ?? stream.lastId
  const data = /^data: (.*)$/m.exec(block)?.[1]
  if (data === undefined || !data.includes('"status":"success"')) return
  const run = /"run_[^"]+"/.exec(data)?.[0] ?? data
  if (stream.ends.has(run)) stream.doubled = true
  stream.ends.add(run)
}

const openStream = (): Promise<void> =>
  new Promise((resolve) => {
    listen({ ends: new Set(), doubled: false, lastId: '', response: null }, resolve)
  })

const openSocket = (path: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${state.port}${path}`, { headers: headers() })
    socket.on('open', () => {
      state.sockets.add(socket)
      resolve()
    })
    socket.on('unexpected-response', (_request, response) => void refusedBy(response).finally(resolve))
    socket.on('close', () => state.sockets.delete(socket))
    socket.on('error', () => {
      resolve()
    })
  })

const openIdle = (): Promise<void> =>
  new Promise((resolve) => {
    const socket = dial(state.port)
    socket.write(`GET /health HTTP/1.1\r\nHost: 127.0.0.1:${state.port}\r\n\r\n`)
    socket.once('data', () => {
      state.idle.add(socket)
      resolve()
    })
    socket.on('close', () => {
      state.idle.delete(socket)
      resolve()
    })
  })

/** So many are on their way at once: a server's queue for those who knock is not what is tried here. */
const AT_ONCE = 100

async function open(count: number, one: (index: number) => Promise<void>): Promise<void> {
  for (let begun = 0; begun < count; begun += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - begun) }, (_, index) => one(begun + index)))
}

const PROBE_EVERY_MS = 200
const probes = new Agent({ keepAlive: false })

/** Asks again and again whether the server lives, each time over a connection of its own. */
function probe(): void {
  const began = performance.now()
  const done = (isWell: boolean): void => {
    state.slowestProbe = Math.max(state.slowestProbe, performance.now() - began)
    if (!isWell && !state.leaving) state.failedProbes += 1
    setTimeout(probe, PROBE_EVERY_MS)
  }
  const request = get({ host: '127.0.0.1', port: state.port, path: '/health', agent: probes, timeout: 10_000 })
  request.on('response', (response) => {
    response.resume()
    response.on('end', () => {
      done(response.statusCode === 200)
    })
  })
  request.on('timeout', () => request.destroy(new Error('timeout')))
  request.on('error', () => {
    done(false)
  })
}

function leave(): void {
  state.leaving = true
  for (const { response } of state.streams) response?.destroy()
  for (const socket of state.sockets) socket.terminate()
  for (const socket of state.idle) socket.destroy()
  state.streams.clear()
  say('left')
}

async function obey(command: GuestCommand): Promise<void> {
  switch (command.do) {
    case 'begin':
      Object.assign(state, { port: command.port, key: command.key })
      probe()
      return
    case 'open':
      await open(command.streams, openStream)
      await open(command.sockets, (index) => openSocket(index % 2 === 0 ? '/rpc' : '/api/v1/worker/socket'))
      await open(command.idle, openIdle)
      say('opened')
      return
    case 'report':
      say('report')
      return
    case 'leave':
      leave()
  }
}

let last = Promise.resolve()
createInterface({ input: process.stdin })
  .on('line', (line) => {
    last = last.then(() => obey(JSON.parse(line) as GuestCommand))
  })
  .on('close', () => process.exit(0))
