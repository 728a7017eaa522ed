import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import type { ServeOptions } from '../../../src/cli/serve.ts'
import type { Remote, World } from '../../http-scenarios/world.ts'
import { json, startPeer } from '../../platform/outbound/peer.ts'
import { eventually } from '../../scenarios/support.ts'
import type { Served } from '../../serve/support.ts'
import type { Effects } from './effect.ts'

/** Starts a server for which the file decides what the flags of tests say otherwise. */
function serveAs({ data, serve }: World, config: object, ...flags: readonly (keyof ServeOptions)[]): Served {
  const file = path.join(data, 'settings.yaml')
  writeFileSync(file, JSON.stringify(config))
  const unset = Object.fromEntries(flags.map((flag) => [flag, undefined])) as Partial<ServeOptions>
  return serve({ ...unset, config: file, cwd: data })
}

/** What so many requests at once are answered with. */
const statuses = async ({ raw }: Remote, count: number): Promise<readonly number[]> =>
  (await Promise.all(Array.from({ length: count }, () => raw('GET', '/api/v1/lanes')))).map(({ status }) => status)

/** Plays while streams of events are open, and answers with the status of one more request. */
async function whileStreaming(node: Remote, target: string): Promise<number> {
  const listening = new AbortController()
  const ask = (path: string): Promise<Response> =>
    fetch(`${node.url}${path}`, { headers: { authorization: `Bearer ${node.key}` }, signal: listening.signal })
  try {
    expect((await ask('/api/v1/events')).status).toBe(200)
    return (await ask(target)).status
  } finally {
    listening.abort()
  }
}

const limitsStreams =
  (limit: string) =>
  async ({ start }: World): Promise<void> => {
    const node = await start({ server: { limits: { [limit]: 1 } } })
    expect(await whileStreaming(node, '/api/v1/events')).toBeGreaterThanOrEqual(429)
  }

/** The status that a WebSocket is opened or refused with. */
const statusOfSocket = ({ url, key }: Remote, sockets: WebSocket[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc`, { headers: { authorization: `Bearer ${key}` } })
    sockets.push(socket)
    socket.on('open', () => resolve(101))
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
    socket.on('error', reject)
  })

const limitsSockets =
  (limit: string) =>
  async ({ start }: World): Promise<void> => {
    const node = await start({ server: { limits: { [limit]: 1 } } })
    const sockets: WebSocket[] = []
    expect(await statusOfSocket(node, sockets)).toBe(101)
    expect(await statusOfSocket(node, sockets)).toBeGreaterThanOrEqual(429)
    for (const socket of sockets) socket.terminate()
  }

/** One server whose directory, database and schema are those of its file. */
const takesPlaces = async (world: World): Promise<void> => {
  const data = path.join(world.data, 'elsewhere')
  const database = { url: world.databaseUrl, schema: 'clock', pool: 3 }
  const served = serveAs(world, { data, database }, 'data', 'databaseUrl')
  await served.url
  expect(existsSync(path.join(data, 'owner.key'))).toBe(true)
  expect(await world.database.outside('select id from clock.node')).toHaveLength(1)
}

export const SERVER_EFFECTS: Effects = {
  'server.host': async (world) => {
    const served = serveAs(world, { server: { host: '0.0.0.0' } })
    expect(await served.ended).toBe(1)
    expect(served.stderr()).toContain('ESCAPEMENT_OWNER_KEY=')
  },
  'server.port': async (world) => {
    const peer = await startPeer((_, response) => json(response, 200, {}))
    const served = serveAs(world, { server: { port: peer.port } }, 'port')
    expect(await served.ended).toBe(1)
    expect(served.stderr()).toContain(String(peer.port))
    await peer.close()
  },
  'server.public_url': async (world) => {
    const served = serveAs(world, { server: { public_url: 'https://clock.example.org' } })
    expect(await served.url).toBe('https://clock.example.org')
  },
  'server.allowed_hosts': [
    'test/http-scenarios/door.test.ts',
    'the door, on a real socket › hosts that the operator has named are let in, and without a key hardly anything answers',
  ],
  'server.rate_limit.per_second': async ({ start }) => {
    const node = await start({ server: { rate_limit: { per_second: 1 } } })
    expect(await statuses(node, 12)).toContain(429)
  },
  'server.rate_limit.burst': async ({ start }) => {
    const node = await start({ server: { rate_limit: { per_second: 1, burst: 100 } } })
    expect(await statuses(node, 12)).not.toContain(429)
  },
  'server.limits.connections': async ({ start }) => {
    const node = await start({ server: { limits: { connections: 1 } } })
    await eventually(async () => expect(await whileStreaming(node, '/api/v1/lanes')).toBe(503))
  },
  'server.limits.streams': limitsStreams('streams'),
  'server.limits.streams_per_org': limitsStreams('streams_per_org'),
  'server.limits.sockets': limitsSockets('sockets'),
  'server.limits.sockets_per_org': limitsSockets('sockets_per_org'),
  'server.drain_grace_seconds': [
    'test/serve/signals.test.ts',
    'SIGTERM and SIGINT › aborts what has not ended within the grace',
  ],
  data: takesPlaces,
  'database.url': takesPlaces,
  'database.schema': takesPlaces,
  'database.pool': async (world) => {
    // Two connections for requests; the default has six, and this many requests would use them.
    const node = await world.join(serveAs(world, { database: { pool: 2 } }))
    expect(await statuses(node, 50)).not.toContain(500)
    const [row] = await world.database.outside(
      `select count(*)::int as open from pg_stat_activity
        where datname = current_database() and application_name = 'escapement'`,
    )
    expect(row?.['open']).toBeLessThanOrEqual(2)
  },
  'metrics.unprefixed_names': [
    'test/http-scenarios/metrics.test.ts',
    '39: after 1 success, 1 failure and 1 timeout › /metrics shows 3 triggers, one of each ending, and how long they took',
  ],
  'tracing.otlp_endpoint': [
    'test/serve/trace-export.test.ts',
    'a collector › receives the spans of a run, with the headers of the configuration',
  ],
  'tracing.otlp_headers': [
    'test/serve/trace-export.test.ts',
    'a collector › receives the spans of a run, with the headers of the configuration',
  ],
  'tracing.sample_ratio': ['test/serve/trace-export.test.ts', 'a collector › receives nothing at a ratio of 0'],
  'log.level': [
    'test/serve/reload.test.ts',
    'settings that are hot › change what the door lets in, and what is logged',
  ],
}
