import type { Command } from 'commander'
import { createClient, type Client } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import { readCommandEnvironment, readServerEnvironment, type CommandEnvironment } from '../../platform/config/config.ts'
import { addAll } from '../../domain/long-lists.ts'
import { lookAtData, lookAtNode } from '../doctor/machine.ts'
import { lookAtServer, PATIENCE } from '../doctor/server.ts'
import { lookAtStart, type StartOptions } from '../doctor/start.ts'
import { trouble, well, type Finding } from '../doctor/troubles.ts'
import { createStyle, type Style } from '../output/style.ts'
import { oneLine } from '../output/text.ts'
import { dataOf, findPlace, isNamed, NoServer, type PlaceOptions, type Surroundings } from '../remote/place.ts'
import { withCommonOptions, type CommonOptions, type Desk } from '../remote/talk.ts'
import { EXIT, isTerminal, write, type ExitCode } from '../terminal.ts'

type DoctorOptions = CommonOptions & StartOptions

/** `escapement doctor`: is everything as it should be, and what to do where it is not. */
export function addDoctor(command: Command, desk: Desk): void {
  command
    .option('--config <file>', 'check this configuration file, as serve would')
    .option('--database-url <url>', 'check this PostgreSQL, as serve would')
    .option('--port <port>', 'check whether serve could listen on this port')
    .option('--host <host>', 'check whether serve could listen on this address')
  withCommonOptions(command).action(async (options: DoctorOptions) => desk.settle(await examine(desk, options)))
}

async function examine({ terminal, version }: Desk, options: DoctorOptions): Promise<ExitCode> {
  const environment = readCommandEnvironment(terminal.variables)
  const surroundings = { environment, cwd: terminal.cwd ?? process.cwd() }
  const reached = await reach(options, surroundings)
  const findings: Finding[] = [lookAtNode(process.versions.node)]
  if (!isNamed(options, environment)) {
    const { variables, secretKey } = readServerEnvironment(terminal.variables)
    const runs = reached.finding.code !== 'server_none'
    findings.push(await lookAtData(dataOf(options, surroundings), runs))
    addAll(findings, await lookAtStart({ options, variables, secretKey, cwd: surroundings.cwd, runs }))
  }
  findings.push(reached.finding)
  if (reached.client !== null)
    addAll(findings, await lookAtServer({ client: reached.client, version, now: terminal.now() }))
  await show({ terminal, environment, json: options.json === true }, findings)
  if (reached.client === null) return EXIT.unreachable
  return findings.some(({ state }) => state === 'bad') ? EXIT.refused : EXIT.ok
}

async function show(
  {
    terminal,
    environment,
    json,
  }: Pick<Desk, 'terminal'> & Readonly<{ environment: CommandEnvironment; json: boolean }>,
  findings: readonly Finding[],
): Promise<void> {
  if (json) {
    await write(terminal.stdout, `${JSON.stringify({ findings }, null, 2)}\n`)
    return
  }
  const style = createStyle(environment.colours && isTerminal(terminal.stdout))
  const bad = findings.filter(({ state }) => state === 'bad').length
  const warnings = findings.filter(({ state }) => state === 'warning').length
  const end = bad + warnings === 0 ? 'All is well.' : `${bad} bad, ${warnings} to know. docs/guides/troubleshoot.md`
  await write(terminal.stdout, `${findings.map((finding) => lineOf(finding, style)).join('')}${end}\n`)
}

function lineOf({ what, state, code, detail, advice }: Finding, style: Style): string {
  const mark = { ok: style.green('ok  '), warning: style.yellow('warn'), bad: style.red('bad ') }[state]
  const told = code === null ? '' : `  (${code})`
  return `${mark}  ${what.padEnd(10)}  ${oneLine(detail)}${told}\n${advice === null ? '' : `      ${advice}\n`}`
}

interface Reached {
  readonly finding: Finding
  readonly client: Client | null
}

async function reach(options: PlaceOptions, surroundings: Surroundings): Promise<Reached> {
  try {
    const place = await findPlace(options, surroundings)
    const client = createClient({ ...place, retries: 0 })
    await client.probes.health(PATIENCE)
    return { client, finding: well('server', place.url) }
  } catch (error) {
    if (error instanceof NoServer) return { client: null, finding: absent(error) }
    if (!(error instanceof EscapementError)) throw error
    return { client: null, finding: silent(error) }
  }
}

const ABSENT = { server: 'server_none', sight: 'server_hidden', key: 'key_missing', address: 'server_silent' } as const

function absent({ message, kind }: NoServer): Finding {
  const [detail = '', ...ways] = message.split('\n')
  // Which key is missing, and where it would be, is known better than the table can say it.
  return kind === 'key'
    ? trouble(ABSENT[kind], detail, ways.map((way) => way.trim()).join('; '))
    : trouble(ABSENT[kind], detail)
}

/** What a proxy says that has nobody to ask. */
const ALONE: ReadonlySet<number | null> = new Set([502, 503, 504])

function silent({ code, status, message }: EscapementError): Finding {
  if (code === 'MISDIRECTED') return trouble('host_refused', message)
  if (code !== 'BAD_ANSWER') return trouble('server_silent', message)
  return trouble(ALONE.has(status) ? 'proxy_alone' : 'server_strange', message)
}
