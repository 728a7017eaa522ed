import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'

/** Runs what `npm start` runs once the checkout is prepared. */
const SCRIPT = [process.execPath, path.join(ROOT, 'scripts/start.mjs')] as const
/** The same from the beginning. */
const NPM = ['npm', 'start', '--silent', '--'] as const

const NPM_ENDS = [
  [null, 'SIGTERM'],
  [0, null],
]

const bootstrap = (name: string): string => pathToFileURL(path.join(ROOT, `scripts/bootstrap/${name}.mjs`)).href
const { whyBuild } = (await import(bootstrap('build'))) as { readonly whyBuild: (root: string) => string | undefined }
const { whyInstall } = (await import(bootstrap('install'))) as {
  readonly whyInstall: (root: string) => string | undefined
}
// A test does not prepare the checkout it is part of.
const isPrepared = whyInstall(ROOT) === undefined && whyBuild(ROOT) === undefined

function start([command, ...before]: readonly [string, ...string[]], args: readonly string[], variables = {}) {
  const child = spawn(command, [...before, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString('utf8')))
  return { child, out: () => said.out, err: () => said.err, ended: once(child, 'close') }
}

// `npm test` builds first; a bare vitest run in a fresh checkout has nothing to start.
describe.runIf(existsSync(path.join(ROOT, 'dist/cli/main.js')))('npm start', () => {
  it.each([
    { said: 'nothing', by: SCRIPT, args: [], variables: { ESCAPEMENT_SERVER_PORT: '0' }, ends: [[0, null]] },
    // npm dies of the signal with its shell, unless that has become the command. The output is closed when all have ended.
    ...(isPrepared ? [{ said: 'options', by: NPM, args: ['--port', '0'], variables: {}, ends: NPM_ENDS }] : []),
  ])(
    'serves when $said but that is said, on a database of its own, until it is told to end',
    async ({ by, args, variables, ends }) => {
      const data = mkdtempSync(path.join(os.tmpdir(), 'escapement-start-'))
      // As root the embedded server runs as another user, who has to get in.
      chmodSync(data, 0o755)
      const server = start(by, args, { ESCAPEMENT_DATA: data, ...variables })
      await expect.poll(server.out, { timeout: 60_000 }).toMatch(/^Escapement listens on http:\/\/127\.0\.0\.1:\d+\n$/)
      const url = server.out().trim().split(' ').at(-1) ?? ''
      expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' })
      server.child.kill('SIGTERM')
      expect(ends).toContainEqual(await server.ended)
      expect(server.err()).toContain('Escapement has stopped')
      expect(readdirSync(path.join(data, 'servers'))).toEqual([])
      expect(existsSync(path.join(data, 'postgres/data/postmaster.pid'))).toBe(false)
      rmSync(data, { recursive: true, force: true })
    },
    90_000,
  )

  it('is the command line otherwise', async () => {
    const program = start(SCRIPT, ['--version'])
    expect(await program.ended).toEqual([0, null])
    expect(program.out()).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
