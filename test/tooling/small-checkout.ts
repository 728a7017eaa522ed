import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { ROOT } from './root.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  /** Resolves as soon as the output contains the text. */
  readonly printed: (text: string) => Promise<void>
  readonly ended: Promise<Ended>
}

/**
 * A checkout in a temporary directory with the real bootstrap and as little else as it needs: two packages (the
 * transpiler and, for development, the compiler, borrowed from this checkout), one source, one entry point.
 */
export interface SmallCheckout {
  readonly directory: string
  readonly write: (file: string, text: string) => void
  readonly read: (file: string) => string
  readonly remove: (file: string) => void
  readonly start: (args: readonly string[], options?: StartOptions) => Started
  readonly run: (args: readonly string[], options?: StartOptions) => Promise<Ended>
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly nodeArgs?: readonly string[]
  /** A script of the checkout instead of the bootstrap. */
  readonly script?: string
  /** Runs `npm start` instead, which knows its script itself, in a process group of its own. */
  readonly npm?: boolean
}

const versionOf = (name: string): string =>
  (
    JSON.parse(readFileSync(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as {
      readonly version: string
    }
  ).version

const MANIFEST = {
  dependencies: { rolldown: versionOf('rolldown') },
  devDependencies: { 'typescript-7': `npm:typescript@${versionOf('typescript-7')}` },
}

const PACKAGES = {
  'node_modules/rolldown': { version: versionOf('rolldown') },
  'node_modules/typescript-7': { version: versionOf('typescript-7'), dev: true },
}

const LOCK = { name: 'small', lockfileVersion: 3 }

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2023', lib: ['es2023'], types: [], skipLibCheck: true },
    ...{ module: 'nodenext', rootDir: 'src', outDir: 'dist' },
    ...{ incremental: true, declaration: true, tsBuildInfoFile: 'dist/.tsbuildinfo' },
  },
  include: ['src'],
}

export const DECLARE_PROCESS =
  'declare const process: { argv: string[]; exitCode: number; pid: number; kill(pid: number, signal: string): void; ' +
  'on(event: string, act: () => void): void; exit(code: number): void; stdout: { write(text: string): void } }\n' +
  'declare function setInterval(act: () => void, ms: number): unknown\n'

export function makeSmallCheckout(): SmallCheckout {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-checkout-'))
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true })
    writeFileSync(path.join(directory, file), text)
  }
  const read = (file: string): string => readFileSync(path.join(directory, file), 'utf8')
  const remove = (file: string): void => rmSync(path.join(directory, file), { recursive: true, force: true })
  const start = (args: readonly string[], options?: StartOptions): Started => startBootstrap(directory, args, options)

  cpSync(path.join(ROOT, 'scripts'), path.join(directory, 'scripts'), { recursive: true })
  const scripts = { start: 'node scripts/bootstrap.mjs dist/cli/main.js' }
  write('package.json', JSON.stringify({ type: 'module', scripts, ...MANIFEST }))
  write('package-lock.json', JSON.stringify({ ...LOCK, packages: { '': { name: 'small', ...MANIFEST }, ...PACKAGES } }))
  write('node_modules/.package-lock.json', JSON.stringify({ ...LOCK, packages: PACKAGES }))
  for (const place of Object.keys(PACKAGES)) symlinkSync(path.join(ROOT, place), path.join(directory, place))
  write('tsconfig.json', JSON.stringify(TSCONFIG))
  write('tsconfig.build.json', JSON.stringify({ extends: './tsconfig.json' }))
  write(
    'src/cli/main.ts',
    `${DECLARE_PROCESS}process.stdout.write(JSON.stringify(process.argv.slice(2)) + '\\n')\nprocess.exitCode = 7\nexport {}\n`,
  )
  return { directory, write, read, remove, start, run: (args, options) => start(args, options).ended }
}

function startBootstrap(directory: string, args: readonly string[], options: StartOptions = {}): Started {
  const { npm = false, nodeArgs = [], script = 'scripts/bootstrap.mjs' } = options
  const [command, before] = npm ? ['npm', ['start', '--']] : [process.execPath, [...nodeArgs, script]]
  const child = spawn(command, [...before, ...args], {
    cwd: directory,
    detached: npm,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...withoutNpm(process.env), ...options.env },
  })
  const text = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const collect = (stream: 'stdout' | 'stderr') => (chunk: Buffer) => {
    text[stream] += chunk.toString('utf8')
    for (const check of waiting) check()
  }
  child.stdout.on('data', collect('stdout'))
  child.stderr.on('data', collect('stderr'))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...text }))
  })
  const printed = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!(text.stdout + text.stderr).includes(wanted)) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
      void ended.then((result) => reject(new Error(`ended before it printed ${wanted}: ${JSON.stringify(result)}`)))
    })
  return { child, printed, ended }
}

/** The test run itself is started by npm; what npm tells its children must not leak into the checkout under test. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)))
}
