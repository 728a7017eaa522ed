import type { Command } from 'commander'
import { createClient, type Client } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import { readCommandEnvironment, readServerEnvironment, type CommandEnvironment } from '../../platform/config/config.ts'
import { addAll } from '../../domain/long-lists.ts'
import { checkDataDirectory, checkNode } from './machine.ts'
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
