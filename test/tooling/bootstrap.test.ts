import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DECLARE_PROCESS, makeSmallCheckout, type SmallCheckout } from './small-checkout.ts'

const MAIN = 'dist/cli/main.js'
const PLAIN_COMMAND = 'npm ci && npm run build'

function withCheckout(): () => SmallCheckout {
  let checkout: SmallCheckout | undefined
  beforeAll(() => {
    checkout = makeSmallCheckout()
  })
  afterAll(() => checkout?.remove('.'))
  return () => {
    if (checkout === undefined) throw new Error('the checkout is made before the tests run')
    return checkout
  }
}

describe('a checkout whose packages are installed', () => {
  const checkout = withCheckout()

  it('is built when dist is missing, says so, and hands over arguments and exit code', async () => {
    const { code, stdout, stderr } = await checkout().run([MAIN, 'cron', '--tz', 'Europe/Berlin'])
    expect(stderr).toContain('Escapement prepares this checkout: build dist/ (dist is missing).')
    expect(stdout).toBe('["cron","--tz","Europe/Berlin"]\n')
    expect(code).toBe(7)
  })

  it('is used as it is when nothing changed, without a word and at once', async () => {
    const { stderr, stdout } = await checkout().run([MAIN])
    expect([stdout, stderr]).toEqual(['[]\n', ''])
    const options = { cwd: checkout().directory }
    const best = (args: readonly string[]): number =>
      Math.min(
        ...[1, 2, 3, 4, 5].map(() => {
          const started = performance.now()
          spawnSync(process.execPath, args, options)
          return performance.now() - started
        }),
      )
    expect(best(['scripts/bootstrap.mjs', MAIN]) - best([MAIN])).toBeLessThan(750)
  })

  it('is built again when a source changed, and forgets a source that is gone', async () => {
    checkout().write('src/extra.ts', 'export const extra = 1\n')
    expect((await checkout().run([MAIN])).stderr).toContain('build dist/ (sources changed)')
    expect(existsSync(path.join(checkout().directory, 'dist/extra.js'))).toBe(true)
    checkout().remove('src/extra.ts')
    expect((await checkout().run([MAIN])).stderr).toContain('build dist/ (sources changed)')
    expect(existsSync(path.join(checkout().directory, 'dist/extra.js'))).toBe(false)
  })

  it('is built again when its output was deleted by hand', async () => {
    checkout().remove('dist/cli/main.js')
    const { code, stderr } = await checkout().run([MAIN])
    expect(stderr).toContain('build dist/ (dist is missing)')
    expect(code).toBe(7)
  })

  it('stops with what the compiler says when a source does not compile', async () => {
    checkout().write('src/broken.ts', "export const n: number = 'one'\n")
    const { code, stdout, stderr } = await checkout().run([MAIN])
    checkout().remove('src/broken.ts')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain("src/broken.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.")
    expect(stderr).toContain('npm run build')
  })

  it('goes on after a preparation that was killed, whose lock is still there', async () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    checkout().write('.bootstrap.lock/owner.json', JSON.stringify({ pid, host: os.hostname() }))
    checkout().write('src/after.ts', 'export const after = 1\n')
    const { code } = await checkout().run([MAIN])
    expect(code).toBe(7)
    expect(existsSync(path.join(checkout().directory, '.bootstrap.lock'))).toBe(false)
  })
})

describe('two commands at once in one checkout', () => {
  const checkout = withCheckout()

  it('prepare it once', async () => {
    const both = await Promise.all([checkout().run([MAIN, 'a']), checkout().run([MAIN, 'b'])])
    expect(both.map(({ code }) => code)).toEqual([7, 7])
    expect(both.map(({ stdout }) => stdout)).toEqual(['["a"]\n', '["b"]\n'])
    expect(both.filter(({ stderr }) => stderr.includes('Building (tsc): done'))).toHaveLength(1)
  })
})

describe('without a network', () => {
  const checkout = withCheckout()
  const cache = mkdtempSync(path.join(os.tmpdir(), 'escapement-cache-'))
  const env = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cache: cache, npm_config_fetch_retries: '0' }
  afterAll(() => rmSync(cache, { recursive: true, force: true }))

  it('a checkout whose lockfile does not fit is refused in the words of npm', async () => {
    checkout().write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages: { '': {} } }))
    const { code, stderr } = await checkout().run([MAIN], { env })
    expect(code).toBe(1)
    expect(stderr).toContain('install packages (package-lock.json changed), then build dist/ (dist is missing).')
    expect(stderr).toContain('npm error')
    expect(stderr).toContain(PLAIN_COMMAND)
  })

  it('a checkout without packages stops with the reason and the plain command', async () => {
    const fresh = makeSmallCheckout()
    fresh.remove('node_modules')
    const { code, stdout, stderr } = await fresh.run([MAIN], { env })
    fresh.remove('.')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('install packages (node_modules is missing or incomplete)')
    expect(stderr).toContain('the npm registry cannot be reached')
    expect(stderr.trimEnd().endsWith(PLAIN_COMMAND)).toBe(true)
  })
})

describe('a running command', () => {
  const checkout = withCheckout()
  const SIGNALS = ['SIGUSR1', 'SIGUSR2', 'SIGHUP', 'SIGTERM', 'SIGINT'] as const

  it('gets every signal that the bootstrap gets', async () => {
    checkout().write(
      'src/cli/main.ts',
      `${DECLARE_PROCESS}
for (const signal of ${JSON.stringify(SIGNALS)}) process.on(signal, () => {
  process.stdout.write('got ' + signal + '\\n')
  if (signal === 'SIGINT') process.exit(5)
})
setInterval(() => {}, 1000)
process.stdout.write('ready\\n')
export {}
`,
    )
    const { child, printed, ended } = checkout().start([MAIN])
    await printed('ready')
    for (const signal of SIGNALS) {
      child.kill(signal)
      await printed(`got ${signal}`)
    }
    const { code, stderr } = await ended
    expect(code).toBe(5)
    expect(stderr).not.toContain('Debugger')
  })

  it('that dies of a signal lets the bootstrap die of the same', async () => {
    checkout().write(
      'src/cli/main.ts',
      `${DECLARE_PROCESS}process.kill(process.pid, 'SIGTERM')\nsetInterval(() => {}, 1000)\n`,
    )
    expect(await checkout().run([MAIN])).toMatchObject({ code: null, signal: 'SIGTERM' })
  })
})

describe('a command that npm runs', () => {
  const checkout = withCheckout()
  /** Says which signals it gets. After a hang-up it stays long enough for everybody to notice that npm is gone. */
  const PROGRAM = `${DECLARE_PROCESS}
declare function setTimeout(act: () => void, ms: number): unknown
process.on('SIGTERM', () => {
  process.stdout.write('got SIGTERM\\n')
  process.exit(0)
})
process.on('SIGHUP', () => setTimeout(() => process.exit(0), 900))
setInterval(() => {}, 1000)
process.stdout.write('ready\\n')
export {}
`
  const started = async () => {
    checkout().write('src/cli/main.ts', PROGRAM)
    const program = checkout().start([], { npm: true })
    await program.printed('ready')
    return program
  }

  // The output is closed when the last one who could write to it has ended.
  it('is told once when npm is told to end, and ends', async () => {
    const { child, ended } = await started()
    child.kill('SIGTERM')
    const { stdout } = await ended
    expect(stdout.match(/got SIGTERM/g)).toHaveLength(1)
  })

  it('survives a hang-up that npm does not, when there is no terminal that could have been closed', async () => {
    const { child, ended } = await started()
    process.kill(-Number(child.pid), 'SIGHUP')
    const { signal, stdout } = await ended
    expect(signal).toBe('SIGHUP')
    expect(stdout).not.toContain('got SIGTERM')
  })
})

describe('an old Node', () => {
  const checkout = withCheckout()

  it('is refused with a sentence', async () => {
    const pretend = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.3' } })"
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
    const { code, stdout, stderr } = await checkout().run([MAIN], { nodeArgs })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('Escapement needs Node 20.19 or newer; this is Node 20.18.3.')
  })
})
