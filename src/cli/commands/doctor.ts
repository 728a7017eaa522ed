import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { Command } from 'commander'
import { createClient, type Client } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import { readCommandEnvironment } from '../../config.ts'
import { createStyle, type Style } from '../output/style.ts'
import { oneLine } from '../output/text.ts'
import { lengthText } from '../output/times.ts'
import { dataOf, findPlace, NoServer, type PlaceOptions, type Surroundings } from '../remote/place.ts'
import { withCommonOptions, type CommonOptions, type Desk } from '../remote/talk.ts'
import { EXIT, isTerminal, write, type ExitCode } from '../terminal.ts'
import { commandOf } from './group.ts'

/** One thing that was looked at. */
interface Finding {
  readonly what: string
  readonly state: 'ok' | 'warning' | 'bad'
  readonly detail: string
  /** What to do about it. */
  readonly advice?: string
}

/** `escapement doctor`: is everything as it should be, and what to do where it is not. */
export function addDoctor(program: Command, desk: Desk): void {
  const command = commandOf(program, 'doctor', 'look at everything that can be wrong, and say what to do about it')
  withCommonOptions(command).action(async (options: CommonOptions) => desk.settle(await examine(desk, options)))
}

async function examine({ terminal, version }: Desk, options: CommonOptions): Promise<ExitCode> {
  const environment = readCommandEnvironment(terminal.variables)
  const surroundings = { environment, cwd: terminal.cwd ?? process.cwd() }
  const findings = [nodeVersion(), ...(await dataDirectory(dataOf(options, surroundings)))]
  const reached = await reach(options, surroundings)
  findings.push(reached.finding)
  if (reached.client !== null) findings.push(...(await askServer(reached.client, version, terminal.now())))
  if (options.json === true) await write(terminal.stdout, `${JSON.stringify({ findings }, null, 2)}\n`)
  else {
    const style = createStyle(environment.colours && isTerminal(terminal.stdout))
    await write(terminal.stdout, findings.map((finding) => lineOf(finding, style)).join(''))
  }
  if (reached.client === null) return EXIT.unreachable
  return findings.some(({ state }) => state === 'bad') ? EXIT.refused : EXIT.ok
}

function lineOf({ what, state, detail, advice }: Finding, style: Style): string {
  const mark = { ok: style.green('ok  '), warning: style.yellow('warn'), bad: style.red('bad ') }[state]
  return `${mark}  ${what.padEnd(10)}  ${oneLine(detail)}\n${advice === undefined ? '' : `      ${advice}\n`}`
}

const NEEDED = [20, 19] as const

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isFine = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
  const detail = `Node ${process.versions.node}`
  return isFine
    ? { what: 'node', state: 'ok', detail }
    : { what: 'node', state: 'bad', detail, advice: `Install Node ${NEEDED.join('.')} or newer.` }
}

/** The key must be readable to us and to nobody else. */
async function dataDirectory(data: string): Promise<readonly Finding[]> {
  const file = path.join(data, 'owner.key')
  const found = await stat(file).catch(() => null)
  if (found === null)
    return [
      {
        what: 'data',
        state: 'warning',
        detail: `${file} is not there`,
        advice: 'Fine when the server runs elsewhere: ESCAPEMENT_URL and ESCAPEMENT_KEY name it.',
      },
    ]
  if ((found.mode & 0o077) !== 0)
    return [
      {
        what: 'data',
        state: 'bad',
        detail: `Others can read ${file}`,
        advice: `chmod 600 ${file}, and make another key if others were there.`,
      },
    ]
  return [{ what: 'data', state: 'ok', detail: data }]
}

interface Reached {
  readonly finding: Finding
  readonly client: Client | null
}

async function reach(options: PlaceOptions, surroundings: Surroundings): Promise<Reached> {
  try {
    const place = await findPlace(options, surroundings)
    const client = createClient(place)
    await client.probes.health()
    return { client, finding: { what: 'server', state: 'ok', detail: place.url } }
  } catch (error) {
    if (!(error instanceof EscapementError || error instanceof NoServer)) throw error
    const [detail = '', ...advice] = error.message.split('\n')
    const more = advice.length === 0 ? 'Start it: escapement serve' : advice.map((line) => line.trim()).join('\n      ')
    return { client: null, finding: { what: 'server', state: 'bad', detail, advice: more } }
  }
}

async function askServer(client: Client, ownVersion: string, now: number): Promise<readonly Finding[]> {
  return [
    await finding('version', async () => {
      const { version } = await client.probes.version()
      if (version === ownVersion) return { state: 'ok', detail: version }
      return {
        state: 'warning',
        detail: `the server is ${version}, this command is ${ownVersion}`,
        advice: 'Use the same version for both.',
      }
    }),
    await finding('ready', async () => {
      const { ready, database, draining } = await client.probes.ready()
      const detail = `database ${database}${draining ? ', draining' : ''}`
      if (ready) return { state: 'ok', detail }
      return { state: 'bad', detail, advice: 'It takes no new work. Its log says why.' }
    }),
    await finding('key', async () => {
      const { role, org, permissions } = await client.auth.me()
      return { state: 'ok', detail: `${role} of ${org.id}, ${permissions.length} permissions` }
    }),
    await finding('nodes', async () => nodesFinding(client, now)),
    await finding('lanes', async () => lanesFinding(client)),
  ]
}

type Found = Omit<Finding, 'what'>

async function finding(what: string, look: () => Promise<Found>): Promise<Finding> {
  try {
    return { what, ...(await look()) }
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    // Somebody who may not look is not ill.
    if (error.code === 'FORBIDDEN') return { what, state: 'ok', detail: 'not to be seen with this key' }
    return { what, state: 'bad', detail: error.message }
  }
}

/** Clocks that differ by more make "now" mean two things: a lease or a schedule looks late that is not. */
const CLOCK_SLACK_MS = 60_000

async function nodesFinding(client: Client, now: number): Promise<Found> {
  const { items } = await client.nodes.list()
  const alive = items.filter((node) => node.alive)
  if (alive.length === 0) return { state: 'bad', detail: 'no node is alive', advice: 'Start one: escapement serve' }
  const newest = Math.max(...alive.map(({ lease_until }) => Date.parse(lease_until)))
  const behind = now - newest
  if (behind > CLOCK_SLACK_MS)
    return {
      state: 'warning',
      detail: `the clock of this machine is ${lengthText(behind)} ahead of the database`,
      advice: 'Set both by NTP; schedules follow the clock of the database.',
    }
  return {
    state: 'ok',
    detail: `${alive.length} alive${alive.some(({ draining }) => draining) ? ', some draining' : ''}`,
  }
}

async function lanesFinding(client: Client): Promise<Found> {
  const { items } = await client.lanes.list()
  const full = items.filter(({ active, concurrency, pending }) => active >= concurrency && pending > 0)
  if (full.length === 0) return { state: 'ok', detail: items.map(({ name }) => name).join(', ') }
  const names = full.map(({ name, pending }) => `${name} (${pending} wait)`).join(', ')
  return { state: 'warning', detail: `full: ${names}`, advice: 'More slots: escapement lanes set NAME SIZE' }
}
