import { hostname } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { WorkerHandler, WorkerLogEntry } from '../../client/worker/handler.ts'
import { startWorker } from '../../client/worker/worker.ts'
import type { WorkerView } from '../../features/workers/schema.ts'
import { createStopRequests } from '../../core/stop-requests.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { agoText } from '../output/times.ts'
import { number } from '../remote/fields.ts'
import { showList } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { EXIT, write, type ExitCode } from '../terminal.ts'
import { programHandler } from '../worker-program.ts'

interface WorkerCommand {
  readonly agent?: readonly string[]
  readonly module?: string
  readonly capacity?: string
  readonly name?: string
  readonly drain?: string
}

const USAGE = [
  'Say what does the work, and of whom:',
  '  escapement worker --agent AGENT -- PROGRAM ARGUMENTS…',
  '  escapement worker --agent AGENT --module FILE',
].join('\n')

/** `escapement worker`: work that is done elsewhere than on a node. */
export function addWorker(command: Command, desk: Desk): void {
  command
    .option('--agent <id...>', 'agent whose work it does; may be repeated')
    .option('--module <file>', 'module that exports a handler by default, or one for each agent')
    .option('--capacity <n>', 'concurrent attempts (default 1)')
    .option('--name <name>', 'name of the worker (default the host name)')
    .option('--drain <seconds>', 'how long active attempts may continue after SIGTERM (default 30)')
  remote<WorkerCommand>(desk, command, {
    names: { '/agents': '--agent', '/capacity': '--capacity', '/name': '--name' },
    work: (talk, program, options) => work(talk, program, options),
  })
}

/** `escapement workers`: those that are connected. */
export function addWorkers(command: Command, desk: Desk): void {
  remote(desk, command, {
    work: async (talk) => {
      await showList(talk, await talk.client.workers.list(), { columns: columnsOf(talk), none: 'No workers.' })
    },
  })
}

async function work(talk: Talk, program: readonly string[], options: WorkerCommand): Promise<ExitCode> {
  const { terminal } = talk
  const handler = await handlerOf(talk, program, options)
  const ids = options.agent ?? []
  const whole = (text: string | undefined, option: string): number | undefined =>
    text === undefined ? undefined : (number(text, { option, now: terminal.now() }) as number)
  const worker = startWorker({
    ...{ url: talk.url, key: talk.key, name: options.name ?? hostname() },
    agents: Object.fromEntries(ids.map((id) => [id, handler(id)])),
    ...{ capacity: whole(options.capacity, '--capacity'), drainSeconds: whole(options.drain, '--drain') },
    log: (entry) => void write(terminal.stderr, lineOf(talk, entry)),
  })
  const requested = createStopRequests()
  terminal.signals?.listen((signal) => {
    if (signal !== 'SIGTERM' && signal !== 'SIGINT') return
    const how = requested(signal, performance.now())
    if (how !== null) void worker.stop(how)
  })
  await worker.ended
  return EXIT.ok
}

/** Who does the work of an agent. */
async function handlerOf(
  { terminal }: Talk,
  program: readonly string[],
  { agent = [], module: file }: WorkerCommand,
): Promise<(agent: string) => WorkerHandler> {
  const [name, ...args] = program
  if (agent.length === 0 || (name === undefined) === (file === undefined)) throw new UsageError(USAGE)
  if (name !== undefined) return () => programHandler(name, args)
  const found = await load(path.resolve(terminal.cwd ?? process.cwd(), file ?? ''))
  return (id) => {
    const own: unknown =
      typeof found === 'object' && found !== null ? (found as Readonly<Record<string, unknown>>)[id] : found
    if (typeof own === 'function') return own as WorkerHandler
    throw new UsageError(
      `${file ?? ''} has no function for ${id}. Its default export is one function, or one per agent.`,
    )
  }
}

async function load(file: string): Promise<unknown> {
  try {
    const loaded = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
    return loaded.default
  } catch (error) {
    throw new UsageError(`${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A program reads JSON; a person reads a line. */
function lineOf({ json, style }: Talk, { level, message, facts }: WorkerLogEntry): string {
  if (json) return `${JSON.stringify({ level, message, ...facts })}\n`
  const told = Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`)
  const text = level === 'info' ? message : style.yellow(message)
  return `${text}${told.length === 0 ? '' : ` ${style.dim(told.join(' '))}`}\n`
}

const columnsOf = ({ now, style }: Talk): readonly Column<WorkerView>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name, flexible: true },
  { title: 'STATE', of: stateOf, paint: (text) => paintState(style, text) },
  { title: 'AGENTS', of: ({ agents }) => agents.join(', '), flexible: true },
  { title: 'HOLDS', of: ({ held, capacity }) => `${held}/${capacity}`, right: true },
  { title: 'CONNECTED', of: ({ connected_at }) => agoText(connected_at, now) },
]

const stateOf = ({ alive, draining }: WorkerView): string => (alive ? (draining ? 'draining' : 'alive') : 'gone')
