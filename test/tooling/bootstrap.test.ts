import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DECLARE_PROCESS, makeSmallCheckout, type Ended, type SmallCheckout } from './small-checkout.ts'

const MAIN = 'dist/cli/main.js'
const PLAIN_COMMAND = 'npm ci && npm run build'

/** What `npm run build` does to the sources. */
function build(checkout: SmallCheckout): Promise<Ended> {
  checkout.write(
    'build.mjs',
    `import { build } from './scripts/bootstrap/build.mjs'
await build(process.cwd()).catch(({ message }) => {
  console.error(message)
  process.exitCode = 1
})`,
  )
  return checkout.start([], { script: 'build.mjs' }).ended
}

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

  it('is started whatever its types are, which the build checks', async () => {
    checkout().write('src/typed.ts', "export const n: number = 'one'\n")
    expect((await checkout().run([MAIN])).code).toBe(7)
    const refused = await build(checkout())
    expect(refused.stderr).toContain(
      "src/typed.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.",
    )
    expect([refused.code, refused.stderr.includes('npm run build')]).toEqual([1, true])
    checkout().remove('src/typed.ts')
    expect((await build(checkout())).code).toBe(0)
    const has = (file: string): boolean => existsSync(path.join(checkout().directory, file))
    expect([has(MAIN), has('dist/cli/main.d.ts'), has('dist/typed.js')]).toEqual([true, true, false])
    // What a build has made is good for a start; declarations of other sources are not kept.
    expect((await checkout().run([MAIN])).stderr).toBe('')
    checkout().write('src/other.ts', 'export const other = 1\n')
    expect((await checkout().run([MAIN])).code).toBe(7)
    expect([has('dist/other.js'), has('dist/cli/main.d.ts')]).toEqual([true, false])
    checkout().remove('src/other.ts')
  })

  it('stops with a sentence when a source cannot be read, and leaves what is built as it is', async () => {
    await checkout().run([MAIN])
    checkout().write('src/broken.ts', 'export const n = \n')
    checkout().write('src/a.ts', 'export const a = 1\n')
    const { code, stdout, stderr } = await checkout().run([MAIN])
    for (const file of ['src/broken.ts', 'src/a.ts']) checkout().remove(file)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('src/broken.ts cannot be transpiled: ')
    expect(existsSync(path.join(checkout().directory, 'dist/a.js'))).toBe(false)
    expect(await checkout().run([MAIN])).toMatchObject({ code: 7, stderr: '' })
  })

  it('is built again after a build that was killed, also for the sources before', async () => {
    checkout().remove('dist/.sources.sha256')
    expect((await checkout().run([MAIN])).stderr).toContain('build dist/ (sources changed)')
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
    expect(both.filter(({ stderr }) => stderr.includes('Escapement prepares this checkout'))).toHaveLength(1)
  })
})

describe('without a network', () => {
  const checkout = withCheckout()
  const cache = mkdtempSync(path.join(os.tmpdir(), 'escapement-cache-'))
  const env = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cache: cache, npm_config_fetch_retries: '0' }
  afterAll(() => rmSync(cache, { recursive: true, force: true }))

  it('a checkout whose lockfile does not fit is refused in the words of npm', async () => {
    checkout().write('local/package.json', JSON.stringify({ name: 'local', version: '1.0.0' }))
    checkout().write('package.json', JSON.stringify({ dependencies: { local: 'file:local' } }))
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
    expect(stderr).not.toContain('npm error')
    expect(stderr.trimEnd().endsWith(PLAIN_COMMAND)).toBe(true)
  })

  it('a checkout that had packages has them as before', async () => {
    const fresh = makeSmallCheckout()
    fresh.write(
      'package-lock.json',
      fresh.read('package-lock.json').replaceAll(/"version":"[^"]*"/g, '"version":"0.0.1"'),
    )
    const { stderr } = await fresh.run([MAIN], { env })
    expect(stderr).toContain('install packages (package-lock.json changed)')
    expect(existsSync(path.join(fresh.directory, 'node_modules/rolldown/package.json'))).toBe(true)
    expect(readdirSync(fresh.directory)).not.toContain('node_modules.before')
    fresh.remove('.')
  })
})

describe('packages of tests and checks', () => {
  const checkout = withCheckout()
  /** An npm that writes down what it was asked for and ends as it is told. */
  const npm = (code: number, says = ''): Readonly<Record<string, string>> => {
    const text = `require('node:fs').writeFileSync('asked.txt', process.argv.slice(2).join(' ')); console.error(${JSON.stringify(says)}); process.exitCode = ${code}`
    checkout().write('fake/npm-cli.cjs', text)
    return { npm_execpath: path.join(checkout().directory, 'fake/npm-cli.cjs') }
  }

  it('are not needed by a start', async () => {
    const { packages, ...lock } = JSON.parse(checkout().read('package-lock.json')) as {
      readonly packages: Readonly<Record<string, { readonly dev?: true }>>
    }
    const linked = {
      'node_modules/linked': { resolved: 'linked', link: true },
      linked: { version: '1.0.0', dev: true },
    }
    checkout().write('package-lock.json', JSON.stringify({ ...lock, packages: { ...packages, ...linked } }))
    const lean = Object.fromEntries(Object.entries(packages).filter(([, { dev }]) => dev !== true))
    checkout().write('node_modules/.package-lock.json', JSON.stringify({ ...lock, packages: lean }))
    checkout().remove('node_modules/typescript-7')
    const { code, stderr } = await checkout().run(['--omit=dev', MAIN])
    expect(code).toBe(7)
    expect(stderr).not.toContain('install')
  })

  it('are added to those of a start by every other command', async () => {
    await checkout().run([MAIN], { env: npm(0) })
    expect(checkout().read('asked.txt')).toMatch(/^install --no-save --include=dev /)
  })

  it('are left out when a start finds none at all', async () => {
    const modules = path.join(checkout().directory, 'node_modules')
    renameSync(modules, `${modules}.aside`)
    await checkout().run(['--omit=dev', MAIN], { env: npm(1, 'npm error code ENOSPC') })
    expect(checkout().read('asked.txt')).toMatch(/^ci --omit=dev /)
    renameSync(`${modules}.aside`, modules)
  })

  it('that fill the disk are one sentence', async () => {
    const { code, stderr } = await checkout().run([MAIN], { env: npm(1, 'npm error code ENOSPC') })
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('The disk is full. Make room and run the command again.')
    expect(stderr).not.toContain('npm error')
  })
})

describe('a disk that is too full', () => {
  const checkout = withCheckout()
  const pretend = `import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
fs.statfsSync = () => ({ bavail: 10_000, bsize: 1_000 })
syncBuiltinESMExports()`
  const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]

  it.each([
    ['build dist/', 50, 'dist'],
    ['install the packages', 800, 'node_modules'],
  ])('to %s is refused with a sentence, before anything is written', async (what, needed, folder) => {
    checkout().remove(folder)
    const { code, stdout, stderr } = await checkout().run([MAIN], { nodeArgs })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.trimEnd().split('\n').slice(1)).toEqual([
      `The disk is too full to ${what}: that needs ${needed} MB, and 10 MB are free. Make room and run the command again.`,
    ])
    expect(readdirSync(checkout().directory)).not.toContain(folder)
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
