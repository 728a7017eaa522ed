import type { Command } from 'commander'
import { createClient, type Client } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import { readCommandEnvironment, readServerEnvironment, type CommandEnvironment } from '../../platform/config/config.ts'
import { addAll } from '../../domain/long-lists.ts'
import { checkApi, CHECK_TIMEOUT } from './server.ts'
import { checkBeforeStart, type StartOptions } from './start.ts'
import { problemText, okFinding, type Finding } from './problems.ts'
import { createStyle, type Style } from '../output/style.ts'
import { oneLine } from '../output/text.ts'
import {
  dataOf,
  findServer,
  isGivenByAddress,
  NoServerError,
  type ServerSelection,
  type CommandSurroundings,
} from '../remote/server.ts'
import { withCommonOptions, type CommonOptions, type CliContext } from '../remote/call.ts'
import { EXIT, isTerminal, write, type ExitCode } from '../terminal.ts'
import { access, constants, readFile, stat, statfs } from 'node:fs/promises'
import path from 'node:path'

const MIN_NODE_VERSION = [20, 19] as const

/** Checks that this version of Node is supported. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isFine = major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  return isFine ? okFinding('node', `Node ${version}`) : problemText('node_old', `Node ${version}`)
}

/** Files that only the owner of the process may read. */
const PRIVATE_FILES = ['owner.key', 'secret.key', 'postgres.password'] as const

/** Checks that keys are private and the directory is writable. A running server does not need the key file. */
async function checkDataDirectory(data: string, isRunning: boolean): Promise<Finding> {
  for (const name of PRIVATE_FILES) {
    const file = path.join(data, name)
    const found = await stat(file).catch(() => null)
    if (found !== null && (found.mode & 0o077) !== 0)
      return problemText(
        'key_exposed',
        `Other users can read ${file}`,
        `Run chmod 600 ${file}, and create a new key if another user may have read it.`,
      )
  }
  const obstacle = await findUnwritable(data)
  if (obstacle !== null)
    return problemText(
      'data_unwritable',
      `This user cannot write to ${obstacle}`,
      `If another user runs a server there, run doctor as that user: sudo -u USER escapement doctor. Otherwise give the directory to the user that runs Escapement (chown -R USER ${obstacle}), or choose another one: --data DIRECTORY`,
    )
  for (const directory of [data, await databaseHomeOf(data)]) {
    const spaceFinding = await checkDiskSpace(directory)
    if (spaceFinding !== null) return spaceFinding
  }
  const hasKey = await stat(path.join(data, 'owner.key')).then(
    () => true,
    () => false,
  )
  return hasKey || isRunning
    ? okFinding('data', data)
    : problemText('data_missing', `${path.join(data, 'owner.key')} does not exist`)
}

const MEGABYTE = 1_000_000

/** With less free space PostgreSQL cannot write its write-ahead log. */
const MIN_FREE_BYTES = 100 * MEGABYTE

/** Reports a file system that is almost full; null: enough space is free. */
export async function checkDiskSpace(
  directory: string,
  ask: (directory: string) => Promise<{ readonly bavail: number; readonly bsize: number }> = statfs,
): Promise<Finding | null> {
  // The directory may not exist yet, and some file systems do not report free space.
  const told = await ask(directory).catch(() => null)
  if (told === null || told.bavail * told.bsize >= MIN_FREE_BYTES) return null
  return problemText(
    'disk_full',
    `${Math.floor((told.bavail * told.bsize) / MEGABYTE)} MB are free on the disk of ${directory}`,
  )
}

/** Where the embedded database lies: as root maybe outside the data directory, as `postgres.json` says. */
async function databaseHomeOf(data: string): Promise<string> {
  try {
    const saved = JSON.parse(await readFile(path.join(data, 'postgres.json'), 'utf8')) as Readonly<
      Record<string, unknown>
    >
    return saved['data'] === data && typeof saved['home'] === 'string' ? saved['home'] : data
  } catch {
    return data
  }
}

/** The directory that prevents writing to this one, which may not exist yet; null: none does. */
async function findUnwritable(directory: string): Promise<string | null> {
  try {
    await access(directory, constants.W_OK | constants.X_OK)
    return (await stat(directory)).isDirectory() ? null : directory
  } catch (error) {
    const parent = path.dirname(directory)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === directory) return directory
    return findUnwritable(parent)
  }
}

type DoctorOptions = CommonOptions & StartOptions

/** `escapement doctor`: finds problems and shows how to fix them. */
export function addDoctor(command: Command, cli: CliContext): void {
  command
    .option('--config <file>', 'check this configuration file the way serve reads it')
    .option('--database-url <url>', 'check this PostgreSQL the way serve opens it')
    .option('--port <port>', 'check whether serve can listen on this port')
    .option('--host <host>', 'check whether serve can listen on this address')
  withCommonOptions(command).action(async (options: DoctorOptions) => cli.settle(await runDoctor(cli, options)))
}

async function runDoctor({ terminal, version }: CliContext, options: DoctorOptions): Promise<ExitCode> {
  const environment = readCommandEnvironment(terminal.variables)
  const surroundings = { environment, cwd: terminal.cwd ?? process.cwd() }
  const reached = await reachServer(options, surroundings)
  const findings: Finding[] = [checkNode(process.versions.node)]
  if (!isGivenByAddress(options, environment)) {
    const { variables, secretKey } = readServerEnvironment(terminal.variables)
    const runs = reached.finding.code !== 'server_none'
    findings.push(await checkDataDirectory(dataOf(options, surroundings), runs))
    addAll(findings, await checkBeforeStart({ options, variables, secretKey, cwd: surroundings.cwd, runs }))
  }
  findings.push(reached.finding)
  if (reached.client !== null)
    addAll(findings, await checkApi({ client: reached.client, version, now: terminal.now() }))
  await printFindings({ terminal, environment, json: options.json === true }, findings)
  if (reached.client === null) return EXIT.unreachable
  return findings.some(({ state }) => state === 'bad') ? EXIT.refused : EXIT.ok
}

async function printFindings(
  {
    terminal,
    environment,
    json,
  }: Pick<CliContext, 'terminal'> & Readonly<{ environment: CommandEnvironment; json: boolean }>,
  findings: readonly Finding[],
): Promise<void> {
  if (json) {
    await write(terminal.stdout, `${JSON.stringify({ findings }, null, 2)}\n`)
    return
  }
  const style = createStyle(environment.colours && isTerminal(terminal.stdout))
  const bad = findings.filter(({ state }) => state === 'bad').length
  const warnings = findings.filter(({ state }) => state === 'warning').length
  const end =
    bad + warnings === 0
      ? 'No problems found.'
      : `${counted(bad, 'problem')}, ${counted(warnings, 'warning')}. See docs/guides/troubleshoot.md`
  await write(terminal.stdout, `${findings.map((finding) => findingLine(finding, style)).join('')}${end}\n`)
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

function findingLine({ what, state, code, detail, advice }: Finding, style: Style): string {
  const stateText = { ok: style.green('ok  '), warning: style.yellow('warn'), bad: style.red('fail') }[state]
  const codeText = code === null ? '' : `  (${code})`
  return `${stateText}  ${what.padEnd(10)}  ${oneLine(detail)}${codeText}\n${advice === null ? '' : `      ${advice}\n`}`
}

interface ReachedServer {
  readonly finding: Finding
  readonly client: Client | null
}

async function reachServer(options: ServerSelection, surroundings: CommandSurroundings): Promise<ReachedServer> {
  try {
    const server = await findServer(options, surroundings)
    const client = createClient({ ...server, retries: 0 })
    await client.probes.health(CHECK_TIMEOUT)
    return { client, finding: okFinding('server', server.url) }
  } catch (error) {
    if (error instanceof NoServerError) return { client: null, finding: missingServer(error) }
    if (!(error instanceof EscapementError)) throw error
    return { client: null, finding: unreachableServer(error) }
  }
}

const MISSING_SERVER_CODES = {
  server: 'server_none',
  sight: 'server_hidden',
  key: 'key_missing',
  address: 'server_silent',
} as const

function missingServer({ message, kind }: NoServerError): Finding {
  const [detail = '', ...ways] = message.split('\n')
  // The error names the missing key and its file, which the table of problems cannot know.
  return kind === 'key'
    ? problemText(MISSING_SERVER_CODES[kind], detail, ways.map((way) => way.trim()).join('; '))
    : problemText(MISSING_SERVER_CODES[kind], detail)
}

/** Statuses of a proxy that reaches no node. */
const PROXY_ERROR_STATUSES: ReadonlySet<number | null> = new Set([502, 503, 504])

function unreachableServer({ code, status, message }: EscapementError): Finding {
  if (code === 'MISDIRECTED') return problemText('host_refused', message)
  if (code !== 'BAD_ANSWER') return problemText('server_silent', message)
  return problemText(PROXY_ERROR_STATUSES.has(status) ? 'proxy_alone' : 'server_strange', message)
}
