import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { isAlive, isServerOf, parsePid } from '../../src/platform/db/embedded/pid-file.ts'
import { makeScratch } from '../support/scratch.ts'
import { makeCheckout } from './checkout.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  /** Resolves as soon as the output contains the text; fails if the program ends without it. */
  readonly printed: (text: string) => Promise<void>
  /** What it has printed so far. */
  readonly output: () => string
  readonly ended: Promise<Ended>
}

export interface StartOptions {
  /** Who runs it; for root only. */
  readonly uid?: number
  /** Another checkout. */
  readonly checkout?: string
  readonly cwd?: string
}

/** A built checkout in a directory that everybody may enter, and the programs a test runs in it. */
export interface ExamplesWorld {
  readonly directory: string
  readonly checkout: string
  /** A data directory that does not exist yet, where files are quick. */
  readonly data: (name: string) => string
  /** Writes a program into the checkout, where it can import the package by its own name. */
  readonly write: (name: string, text: string) => string
  readonly start: (program: string, args?: readonly string[], options?: StartOptions) => Started
  readonly run: (program: string, args?: readonly string[], options?: StartOptions) => Promise<Ended>
  /** Ends everything that was started here and removes every trace. */
  readonly end: () => Promise<void>
}

export function createExamplesWorld(packages: 'borrowed' | 'own' = 'borrowed'): ExamplesWorld {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-examples-'))
  const records = makeScratch('escapement-examples-')
  for (const each of [directory, records]) chmodSync(each, 0o755)
  const checkout = makeCheckout(path.join(directory, 'checkout'), packages)
  const running = new Set<Started>()
  const start: ExamplesWorld['start'] = (program, args = [], options = {}) => {
    const started = startProgram(path.join(options.checkout ?? checkout, program), args, options)
    running.add(started)
    void started.ended.then(() => running.delete(started))
    return started
  }
  return {
    directory,
    checkout,
    data: (name) => path.join(records, name),
    write: (name, text) => {
      writeFileSync(path.join(checkout, name), text)
      return name
    },
    start,
    run: (program, args, options) => start(program, args, options).ended,
    end: async () => {
      for (const { child } of running) child.kill('SIGKILL')
      await Promise.all([...running].map(({ ended }) => ended))
      for (const each of [directory, records]) {
        for (const cluster of clustersBelow(each)) await killServer(cluster)
        rmSync(each, { recursive: true, force: true })
      }
    },
  }
}

/** As root the embedded server says whose it is and where its files are. That is no complaint. */
const REMARKS = /^escapement warn: .*"kind":"(?:account_assumed|files_elsewhere)".*\n/gm

function startProgram(file: string, args: readonly string[], { uid, cwd = '/' }: StartOptions): Started {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  const said = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  let isOver = false
  const hear = (stream: keyof typeof said) => (chunk: Buffer) => {
    said[stream] += chunk.toString('utf8')
    for (const check of [...waiting]) check()
  }
  child.stdout.on('data', hear('stdout'))
  child.stderr.on('data', hear('stderr'))
  child.stdin.on('error', () => undefined)
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      isOver = true
      for (const check of [...waiting]) check()
      resolve({ code, signal, stdout: said.stdout, stderr: said.stderr.replaceAll(REMARKS, '') })
    })
  })
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!said.stdout.includes(text) && !isOver) return
        waiting.delete(check)
        if (said.stdout.includes(text)) resolve()
        else reject(new Error(`ended without "${text}": ${said.stdout}${said.stderr}`))
      }
      waiting.add(check)
      check()
    })
  return { child, printed, output: () => said.stdout, ended }
}

function clustersBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(directory, entry.name)
    if (!entry.isDirectory() || entry.name === 'node_modules') return []
    return existsSync(path.join(place, 'PG_VERSION')) ? [place] : clustersBelow(place)
  })
}

/** Ends the server of a data directory whose last program died without doing so. */
export async function killServer(cluster: string): Promise<void> {
  const file = path.join(cluster, 'postmaster.pid')
  const pid = existsSync(file) ? parsePid(readFileSync(file, 'utf8')) : undefined
  if (pid === undefined || !isAlive(pid) || (await isServerOf(pid, cluster)) !== true) return
  process.kill(pid, 'SIGQUIT')
  while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve))
}
