import { readFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ask, createServeWorld, type Served, type ServeWorld } from './support.ts'

// Streams are reviewed every minute, sockets twice a minute: whoever waits for that is far beyond the patience of these.
const SOON_MS = 10_000
/** Long enough for a busy machine to open what the key is to lose. */
const LIFETIME_MS = 5_000

let world: ServeWorld
let [first, second]: readonly Served[] = []
beforeAll(async () => {
  world = await createServeWorld()
  first = world.serve()
  await first.url
  second = world.serve()
  await second.url
})
afterAll(() => world.end())

type Headers = Readonly<Record<string, string>>

interface Open {
  readonly ended: Promise<unknown>
}

/** Listens for events; answers with what settles when the stream ends. */
async function stream(server: Served, headers: Headers): Promise<Open> {
  const url = new URL('/api/v1/events', await server.url)
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(url, { headers, agent: false }, resolve).once('error', reject)
  })
  expect(response.statusCode).toBe(200)
  response.resume()
  return { ended: new Promise((resolve) => response.once('close', () => resolve('ended'))) }
}

/** The same over a WebSocket. */
async function socket(server: Served, headers: Headers, at = '/rpc'): Promise<Open> {
  const made = new WebSocket(new URL(at, (await server.url).replace('http', 'ws')), { headers })
  const closed = new Promise<number>((resolve) => made.once('close', resolve))
  await new Promise((resolve, reject) => {
    made.once('open', resolve)
    made.once('error', reject)
  })
  return { ended: closed }
}

const soon = ({ ended }: Open): Promise<unknown> =>
  Promise.race([ended, new Promise((resolve) => setTimeout(resolve, SOON_MS, 'still open').unref())])

/** Signs a browser in, and answers with what it sends from then on. */
async function signIn(server: Served, by: object): Promise<{ readonly cookie: string; readonly csrf: string }> {
  const url = await server.url
  const entered = await fetch(`${url}/api/v1/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(by),
  })
  expect(entered.status).toBe(200)
  const { csrf_token: csrf } = (await entered.json()) as { readonly csrf_token: string }
  return { cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '', csrf }
}

describe('a key that expires', () => {
  it('ends its event streams and its sockets when it does, also of browsers that signed in with it', async () => {
    const server = first as Served
    const expires_at = new Date(Date.now() + LIFETIME_MS).toISOString()
    const made = await ask(world, server, { path: '/api/v1/keys', body: { name: 'short', role: 'owner', expires_at } })
    const key = String(made.body['key'])
    const headers = { authorization: `Bearer ${key}` }
    const browser = { cookie: (await signIn(server, { key })).cookie, origin: await server.url }
    const streams = [await stream(server, headers), await stream(server, browser)]
    const worker = await socket(server, headers, '/api/v1/worker/socket')
    const sockets = [await socket(server, headers), await socket(server, browser), worker]
    for (const one of streams) expect(await soon(one)).toBe('ended')
    for (const one of sockets) expect(await soon(one)).toBe(4401)
  })
})

describe('a browser that signs out', () => {
  it('ends its event streams and its sockets, on every node', async () => {
    const [here, there] = [first as Served, second as Served]
    const token = readFileSync(path.join(world.data, 'signin'), 'utf8').trim().split('#signin=')[1] ?? ''
    const url = await here.url
    const { cookie, csrf } = await signIn(here, { token })
    const at = async (server: Served): Promise<Headers> => ({ cookie, origin: await server.url })
    const streams = [await stream(here, await at(here)), await stream(there, await at(there))]
    const sockets = [await socket(here, await at(here)), await socket(there, await at(there))]
    const out = await fetch(`${url}/api/v1/sign-out`, {
      method: 'POST',
      headers: { ...(await at(here)), 'x-csrf-token': csrf },
    })
    expect(out.status).toBe(204)
    for (const one of streams) expect(await soon(one)).toBe('ended')
    for (const one of sockets) expect(await soon(one)).toBe(4401)
  })
})
