import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import path from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { paintState } from '../../cli/output/style.ts'
import type { Column } from '../../cli/output/table.ts'
import { relativeTimeText } from '../../cli/output/times.ts'
import { type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { number } from '../../cli/remote/fields.ts'
import { showList } from '../../cli/remote/show.ts'
import { EXIT, type ExitCode, write } from '../../cli/terminal.ts'
import type { WorkerHandler, WorkerLogEntry } from '../../client/worker/attempts.ts'
import { startWorker } from '../../client/worker/worker.ts'
import { createLines, logEvent } from '../../domain/run/log-entry.ts'
import { createStopRequests } from '../../domain/session/stop.ts'
import type { WorkerView } from './schema.ts'

/** Maximum output of a program; more is a failure. */
const MAX_BYTES = 1_048_576
const MAX_STDERR_LENGTH = 8_192
/** How long a program may take to end after SIGTERM, before it is killed. */
const KILL_AFTER_MS = 2_000

/**
 * Runs each attempt as a program: the attempt is JSON on its stdin, the output is its stdout, parsed as JSON if possible.
 * The program inherits the environment, because the user of this machine chose it.
 */
const programHandler =
  (program: string, args: readonly string[]): WorkerHandler =>
  (attempt, { signal, progress }) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, [...args], { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
      const kill = (by: 'SIGTERM' | 'SIGKILL'): void => {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, by)
        } catch {
          // The program has already ended.
        }
      }
      let killTimer: NodeJS.Timeout | undefined
      const stop = (): void => {
        kill('SIGTERM')
        killTimer = setTimeout(() => {
          kill('SIGKILL')
        }, KILL_AFTER_MS)
      }
      signal.addEventListener('abort', stop, { once: true })
      const captured = captureOutput(child, progress, () => {
        kill('SIGKILL')
      })
      child.stdin.on('error', () => undefined)
      child.stdin.end(`${JSON.stringify(attempt)}\n`)
      child.once('error', (error) => {
        reject(attemptError(`cannot start ${program}: ${error.message}`, false))
      })
      child.once('close', (code, by) => {
        clearTimeout(killTimer)
        signal.removeEventListener('abort', stop)
        const how = code === null ? `was ended by ${by ?? 'a signal'}` : `ended with exit code ${code}`
        if (captured.isTooLarge())
          reject(attemptError(`${program} wrote more than ${MAX_BYTES} bytes`, false, 'answer_too_large'))
        else if (code === 0) resolve(parsedOutput(captured.output()))
        else reject(attemptError(`${program} ${how}${captured.complaint() === '' ? '' : `: ${captured.complaint()}`}`))
      })
    })

const attemptError = (message: string, retryable = true, code = 'command_failed'): Error =>
  Object.assign(new Error(message), { code, retryable })

function captureOutput(
  child: { readonly stdout: NodeJS.ReadableStream; readonly stderr: NodeJS.ReadableStream },
  progress: (event: unknown) => void,
  overflow: () => void,
): { readonly output: () => string; readonly complaint: () => string; readonly isTooLarge: () => boolean } {
  const chunks: Buffer[] = []
  let bytes = 0
  let stderrText = ''
  const decoder = new StringDecoder('utf8')
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_BYTES) {
      overflow()
      return
    }
    chunks.push(chunk)
    const text = decoder.write(chunk)
    if (text !== '') progress(text)
  })
  const stderrDecoder = new StringDecoder('utf8')
  const stderrLines = createLines((line) => progress(logEvent('info', line, { source: 'stderr' })))
  child.stderr.on('data', (chunk: Buffer) => {
    const text = stderrDecoder.write(chunk)
    stderrText = (stderrText + text).slice(-MAX_STDERR_LENGTH)
    stderrLines.push(text)
  })
  child.stderr.on('end', stderrLines.end)
  return {
    output: () => Buffer.concat(chunks).toString('utf8'),
    complaint: () => stderrText.trim(),
    isTooLarge: () => bytes > MAX_BYTES,
  }
}

/** The output of a program: parsed if it is JSON, otherwise a string. */
function parsedOutput(text: string): unknown {
  if (text.trim() === '') return null
  if (/^\s*[[{]/.test(text))
    try {
      return JSON.parse(text) as unknown
    } catch {
      // Not JSON: returned as a string below.
    }
  return text.replace(/\r?\n$/, '')
}

interface WorkerCommandOptions {
  readonly agent?: readonly string[]
  readonly module?: string
  readonly capacity?: string
  readonly name?: string
  readonly drain?: string
}

const USAGE = [
  'Pass an agent, and either a program or a module:',
  '  escapement worker --agent AGENT -- PROGRAM ARGUMENTS…',
  '  escapement worker --agent AGENT --module FILE',
].join('\n')

/** `escapement worker`: executes attempts outside of the nodes. */
export function addWorker(command: Command, cli: CliContext): void {
  command
    .option('--agent <id...>', 'agent to work for; repeatable')
    .option('--module <file>', 'module whose default export is a handler, or an object with one per agent')
    .option('--capacity <n>', 'concurrent attempts (default 1)')
    .option('--name <name>', 'name of the worker (default the host name)')
    .option('--drain <seconds>', 'how long active attempts may continue after SIGTERM (default 30)')
  remote<WorkerCommandOptions>(cli, command, {
    names: { '/agents': '--agent', '/capacity': '--capacity', '/name': '--name' },
    work: (call, program, options) => runWorker(call, program, options),
  })
}

/** `escapement workers`: lists connected workers. */
export function addWorkers(command: Command, cli: CliContext): void {
  remote(cli, command, {
    work: async (call) => {
      await showList(call, await call.client.workers.list(), { columns: columnsOf(call), none: 'No workers.' })
    },
  })
}

async function runWorker(call: CliCall, program: readonly string[], options: WorkerCommandOptions): Promise<ExitCode> {
  const { terminal } = call
  const handler = await handlerOf(call, program, options)
  const ids = options.agent ?? []
  const readNumber = (text: string | undefined, option: string): number | undefined =>
    text === undefined ? undefined : (number(text, { option, now: terminal.now() }) as number)
  const worker = startWorker({
    ...{ url: call.url, key: call.key, name: options.name ?? hostname() },
    agents: Object.fromEntries(ids.map((id) => [id, handler(id)])),
    ...{ capacity: readNumber(options.capacity, '--capacity'), drainSeconds: readNumber(options.drain, '--drain') },
    log: (entry) => void write(terminal.stderr, lineOf(call, entry)),
  })
  const nextStop = createStopRequests()
  terminal.signals?.listen((signal) => {
    if (signal !== 'SIGTERM' && signal !== 'SIGINT') return
    const how = nextStop(signal, performance.now())
    if (how !== null) void worker.stop(how)
  })
  await worker.ended
  return EXIT.ok
}

/** The handler of each agent. */
async function handlerOf(
  { terminal }: CliCall,
  program: readonly string[],
  { agent = [], module: file }: WorkerCommandOptions,
): Promise<(agent: string) => WorkerHandler> {
  const [name, ...args] = program
  if (agent.length === 0 || (name === undefined) === (file === undefined)) throw new UsageError(USAGE)
  if (name !== undefined) return () => programHandler(name, args)
  const found = await loadDefaultExport(path.resolve(terminal.cwd ?? process.cwd(), file ?? ''))
  return (id) => {
    const candidate: unknown =
      typeof found === 'object' && found !== null ? (found as Readonly<Record<string, unknown>>)[id] : found
    if (typeof candidate === 'function') return candidate as WorkerHandler
    throw new UsageError(
      `${file ?? ''} has no function for ${id}. The default export must be a function, or an object with one per agent.`,
    )
  }
}

async function loadDefaultExport(file: string): Promise<unknown> {
  try {
    const loaded = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
    return loaded.default
  } catch (error) {
    throw new UsageError(`Cannot load ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A log line: JSON with `--json`, otherwise text. */
function lineOf({ json, style }: CliCall, { level, message, facts }: WorkerLogEntry): string {
  if (json) return `${JSON.stringify({ level, message, ...facts })}\n`
  const fieldTexts = Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`)
  const text = level === 'info' ? message : style.yellow(message)
  return `${text}${fieldTexts.length === 0 ? '' : ` ${style.dim(fieldTexts.join(' '))}`}\n`
}

const columnsOf = ({ now, style }: CliCall): readonly Column<WorkerView>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'STATE', value: stateOf, paint: (text) => paintState(style, text) },
  { title: 'AGENTS', value: ({ agents }) => agents.join(', '), flexible: true },
  { title: 'SLOTS', value: ({ held, capacity }) => `${held}/${capacity}`, right: true },
  { title: 'CONNECTED', value: ({ connected_at }) => relativeTimeText(connected_at, now) },
]

const stateOf = ({ alive, draining }: WorkerView): string => (alive ? (draining ? 'draining' : 'alive') : 'gone')
