import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addConsole } from '../../src/server/console/console.ts'
import { createHttpWorld, problemIn, type HttpWorld } from './support.ts'

const SCRIPT = 'export const one = 1\n'
let directory: string
let app: FastifyInstance
let world: HttpWorld

beforeAll(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-ui-'))
  mkdirSync(path.join(directory, 'assets'))
  mkdirSync(path.join(directory, '.vite'))
  const files = { 'index.html': '<!doctype html><title>Built</title>', 'assets/one-abc123.js': SCRIPT }
  for (const [name, text] of Object.entries({ ...files, '.vite/manifest.json': '{}', 'note.txt': 'not for you' }))
    writeFileSync(path.join(directory, name), text)
  writeFileSync(path.join(directory, 'assets/one-abc123.js.gz'), gzipSync(SCRIPT))
  app = Fastify()
  const nowhere = addConsole(app, directory)
  app.setNotFoundHandler((request, reply) => nowhere(request, reply) ?? reply.code(404).send('nothing'))
  world = await createHttpWorld()
})
afterAll(async () => {
  await app.close()
  await world.close()
  rmSync(directory, { recursive: true, force: true })
})

const get = (url: string, headers: Readonly<Record<string, string>> = {}) => app.inject({ method: 'GET', url, headers })

describe('the console', () => {
  it.each(['/', '/sign-in', '/automation/schedules', '/automation/runs/run_1', '/chat/agent%3Aecho', '/settings/keys'])(
    'answers %s with its document, which is asked for again every time and lets in no script but its own',
    async (url) => {
      const response = await get(url)
      expect([response.statusCode, response.body]).toEqual([200, '<!doctype html><title>Built</title>'])
      expect(response.headers['cache-control']).toBe('no-cache')
      const policy = String(response.headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'; script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
      const again = await get(url, { 'if-none-match': String(response.headers.etag) })
      expect([again.statusCode, again.body]).toEqual([304, ''])
    },
  )

  it('shows somebody with a browser that there is no such page, and tells programs so', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const page = await get('/nowhere', browser)
    expect([page.statusCode, page.body]).toEqual([404, '<!doctype html><title>Built</title>'])
    for (const [url, headers] of [
      ['/nowhere', { accept: '*/*' }],
      ['/api/v1/nowhere', browser],
    ] as const)
      expect((await get(url, headers)).body).toBe('nothing')
  })

  it('lets files with a hash in their name be kept for ever, packed where the browser can unpack', async () => {
    const plain = await get('/assets/one-abc123.js')
    expect([plain.body, plain.headers['content-encoding']]).toEqual([SCRIPT, undefined])
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    const packed = await get('/assets/one-abc123.js', { 'accept-encoding': 'br;q=0, gzip' })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(packed.rawPayload.equals(gzipSync(SCRIPT))).toBe(true)
  })

  it.each([
    ...['/assets/..%2findex.html', '/assets/../../package.json', '/assets/%2e%2e/%2e%2e/package.json'],
    ...['/.vite/manifest.json', '/note.txt', '/assets/', '/assets/one-abc123.js.gz', '/index.html'],
  ])('has nothing at %s', async (url) => {
    const response = await get(url)
    expect(response.statusCode).toBe(404)
    expect(response.body).not.toMatch(/not for you|"name"|Built/)
  })

  it('takes nothing', async () => {
    const posted = await world.ask('POST', '/automation/schedules', { as: null })
    problemIn(posted, 'METHOD_NOT_ALLOWED')
    expect(posted.headers['allow']).toBe('GET, HEAD')
  })

  it('says where it is not built, and leaves the addresses of the API alone', async () => {
    const bare = Fastify()
    addConsole(bare, path.join(directory, 'nowhere'))
    const response = await bare.inject({ method: 'GET', url: '/automation/schedules' })
    expect([response.statusCode, response.body]).toEqual([200, expect.stringContaining('npm run build')])
    await bare.close()
    problemIn(await world.ask('GET', '/api/v1/nothing', { as: null }), 'NOT_FOUND')
    problemIn(await world.ask('GET', '/nothing', { as: null }), 'NOT_FOUND')
  })
})
