import { request } from 'node:http'
import { describe, expect } from 'vitest'
import { scenario, type Remote } from './world.ts'

/** What a browser could be made to send, byte by byte; `fetch` would put its own Host in. */
function sendAs(
  node: Remote,
  headers: Readonly<Record<string, string>>,
  { path = '/api/v1/schedules', method = 'GET', key = node.key } = {},
): Promise<readonly [status: number, code: unknown]> {
  const { hostname, port } = new URL(node.url)
  return new Promise((resolve, reject) => {
    const asked = request(
      { hostname, port, path, method, headers: { authorization: `Bearer ${key}`, ...headers } },
      (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
        answer.on('end', () => {
          const body = JSON.parse(text === '' ? '{}' : text) as Readonly<Record<string, unknown>>
          resolve([answer.statusCode ?? 0, body['code']])
        })
      },
    )
    asked.on('error', reject)
    asked.end(method === 'POST' ? '{"name":"evil","cron":"* * * * *"}' : undefined)
  })
}

describe.concurrent('the door, on a real socket', () => {
  scenario('a name that was made to point at this machine (DNS rebinding) is answered with 421', async (world) => {
    const node = await world.start()
    const { port } = new URL(node.url)
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      '127.0.0.1:1',
      `127.0.0.1.evil.example:${port}`,
    ]
    for (const host of foreign)
      for (const path of ['/api/v1/schedules', '/health', '/openapi.json', '/api/v1/events', '/nothing'])
        expect(await sendAs(node, { host }, { path }), `${host} ${path}`).toEqual([421, 'MISDIRECTED'])
    expect(
      await sendAs(node, { host: 'evil.example', 'content-type': 'application/json' }, { method: 'POST' }),
    ).toEqual([...[421, 'MISDIRECTED']])
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect(await sendAs(node, { host }), host).toEqual([200, undefined])
    expect((await node.schedules.list()).items).toEqual([])
  })

  scenario('a page from elsewhere is answered with 403, and changes nothing', async (world) => {
    const node = await world.start()
    const { port, host } = new URL(node.url)
    const json = { 'content-type': 'application/json' }
    for (const origin of [
      'https://evil.example',
      'null',
      `http://localhost:${port}1`,
      `https://${host}`,
      'http://127.0.0.1',
    ])
      for (const method of ['GET', 'POST'])
        expect(await sendAs(node, { origin, ...json }, { method }), `${method} ${origin}`).toEqual([
          403,
          'FOREIGN_ORIGIN',
        ])
    const allowed = await fetch(`${node.url}/api/v1/schedules`, {
      ...{ method: 'OPTIONS', headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' } },
    })
    expect(allowed.ok).toBe(false)
    expect([...allowed.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    expect(await sendAs(node, { origin: `http://${host}` })).toEqual([200, undefined])
    expect((await node.schedules.list()).items).toEqual([])
  })

  scenario('hosts that the operator has named are let in, and without a key hardly anything answers', async (world) => {
    const node = await world.start({ server: { allowed_hosts: ['inside.example', 'outside.example'] } })
    for (const host of ['inside.example', 'inside.example:8443', 'outside.example'])
      expect(await sendAs(node, { host }), host).toEqual([200, undefined])
    expect(await sendAs(node, { host: 'outside.example', origin: 'https://outside.example' })).toEqual([200, undefined])
    expect(await sendAs(node, { host: 'outside.example', origin: 'https://inside.example' })).toEqual([
      ...[403, 'FOREIGN_ORIGIN'],
    ])
    const local = { host: 'inside.example' }
    for (const path of ['/api/v1/schedules', '/api/v1/runs', '/api/v1/config', '/api/v1/events', '/api/v1/stats'])
      expect(await sendAs(node, local, { path, key: 'esc_wrong' }), path).toEqual([401, 'UNAUTHENTICATED'])
    for (const path of ['/health', '/ready', '/api/v1/version'])
      expect((await sendAs(node, local, { path, key: 'esc_wrong' }))[0], path).toBe(200)
  })
})
