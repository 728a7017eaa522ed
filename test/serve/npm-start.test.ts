import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

const SCRIPT = path.join(ROOT, 'scripts/start.mjs')

/** Runs what `npm start` runs once the checkout is prepared. */
function start(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
  child.stderr.resume()
  return { child, out: () => out, ended: once(child, 'close') }
}

// `npm test` builds first; a bare vitest run in a fresh checkout has nothing to start.
describe.runIf(existsSync(path.join(ROOT, 'dist/cli/main.js')))('npm start', () => {
  it.each([
    ['nothing', [], { ESCAPEMENT_SERVER_PORT: '0' }],
    ['options', ['--port', '0'], {}],
  ])(
    'serves when %s but that is said, on a database of its own, until it is told to end',
    async (_, args, more) => {
      const data = mkdtempSync(path.join(os.tmpdir(), 'escapement-start-'))
      // As root the embedded server runs as another user, who has to get in.
      chmodSync(data, 0o755)
      const server = start(args, { ESCAPEMENT_DATA: data, ...more })
      await expect.poll(server.out, { timeout: 60_000 }).toMatch(/^Escapement listens on http:\/\/127\.0\.0\.1:\d+\n$/)
      const url = server.out().trim().split(' ').at(-1) ?? ''
      expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' })
      server.child.kill('SIGTERM')
      expect(await server.ended).toEqual([0, null])
      rmSync(data, { recursive: true, force: true })
    },
    90_000,
  )

  it('is the command line otherwise', async () => {
    const program = start(['--version'])
    expect(await program.ended).toEqual([0, null])
    expect(program.out()).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
