import type { Command } from 'commander'
import { EscapementError } from '../../client/errors.ts'
import { Refusal, REFUSAL_TITLES } from '../../api/refusals.ts'
import type { SimulateAnswer, SimulateInput, SimulationProgress } from './schema.ts'
import { namesOf, number, withFields } from '../../cli/remote/fields.ts'
import {
  carryOut,
  readBy,
  startTalk,
  withCommonOptions,
  type CommonOptions,
  type Desk,
  type Screen,
} from '../../cli/remote/talk.ts'
import type { FieldNames } from '../../cli/remote/refused.ts'
import { csvOf } from '../../cli/simulation/csv.ts'
import { differenceText } from '../../cli/simulation/difference.ts'
import { gantt } from './cli-gantt.ts'
import { headText } from '../../cli/simulation/head.ts'
import { rowsTable } from '../../cli/simulation/rows.ts'
import { totalFacts } from '../../cli/simulation/words.ts'
import { renderFacts } from '../../cli/output/table.ts'
import type { Terminal } from '../../cli/terminal.ts'
import { SCHEDULE_FIELDS } from '../../cli/commands/schedule-fields.ts'
import type { SimulateOptions } from './cli-input.ts'

interface Options extends SimulateOptions, CommonOptions {
  readonly csv?: boolean
  readonly rows?: string
}

const USUAL_ROWS = 100

/** What the fields of the request are called here. */
const NAMES: FieldNames = {
  ...Object.fromEntries(Object.entries(namesOf(SCHEDULE_FIELDS)).map(([at, name]) => [`/schedules/0${at}`, name])),
  ...{ '/ids': '--schedule', '/all': '--all', '/from': '--from', '/to': '--to', '/window_seconds': '--for' },
  ...{ '/assume': '--takes, --fails, --tokens, --cost', '/outages': '--stall, --outage', '/changes': '--set' },
  ...{ '/against': '--against', '/replay': '--replay', '/seed': '--seed', '/agent_id': '--agent' },
}

/** `escapement simulate`: what would happen, without a server where everything is in a file or in options. */
export function addSimulate(command: Command, desk: Desk): void {
  command
    .option('-f, --file <file>', 'schedules as JSON or YAML, one or a list, from a file or - for stdin')
    .option('--schedule <id...>', 'stored schedules')
    .option('--all', 'all active schedules; with --agent, those of one agent')
    .option('--from <time>', 'start of the window (default now)')
    .option('--to <time>', 'end of the window')
    .option('--for <duration>', 'length of the window (default 24h)')
    .option('--takes <duration>', 'duration of an attempt, or a range: 5s..20s')
    .option('--fails <what>', 'status of every attempt (500), or share of failures (20%)')
    .option('--tokens <n>', 'tokens of an attempt')
    .option('--cost <amount>', 'cost of an attempt')
    .option('--stall <for@when...>', 'nothing fires for a time, from an offset into the window: 60s@2m')
    .option('--outage <for@when...>', 'no node works, and active runs are lost')
    .option('--agent-outage <for@when...>', 'attempts fail, because agents cannot be reached')
    .option('--set <field=value...>', 'change policies of the schedules')
    .option('--against <field=value...>', 'compare with these policies')
    .option('--replay', 'take attempts and outages from the history of a past window')
    .option('--seed <n>', 'seed of the random numbers (default 1)')
    .option('--rows <n>', `maximum number of occurrences shown (default ${USUAL_ROWS})`)
    .option('--csv', 'print the occurrences as CSV')
  withCommonOptions(withFields(command, SCHEDULE_FIELDS)).action(async (options: Options) => {
    desk.settle(await carryOut(desk, NAMES, (screen) => simulate(screen, options)))
  })
}

async function simulate(bare: Omit<Screen, 'json'>, options: Options): Promise<void> {
  const isFree = options.csv !== true && options.json !== true
  const screen = readBy(bare, !isFree)
  const { simulateInputOf } = await import('./cli-input.ts')
  const input = await simulateInputOf(bare.terminal, options)
  const bar = progressBar(screen)
  const answer = await (needsServer(options)
    ? ask(screen, { options, input, bar })
    : compute(input, bar, bare.terminal))
  await bar.clear()
  if (options.csv === true) await screen.print(csvOf(answer))
  else if (options.json === true) await screen.print(`${JSON.stringify(answer, null, 2)}\n`)
  else await screen.print(report(answer, screen, rowsOf(options, bare.terminal)))
}

/** What is on record is known to a server; everything else is computed where it is asked for. */
const needsServer = ({ schedule, all, replay, url }: Options): boolean =>
  schedule !== undefined || all === true || replay === true || url !== undefined

const rowsOf = ({ rows }: Options, terminal: Terminal): number =>
  rows === undefined ? USUAL_ROWS : (number(rows, { option: '--rows', now: terminal.now() }) as number)

interface Asking {
  readonly options: Options
  readonly input: SimulateInput
  readonly bar: ProgressBar
}

async function ask(screen: Screen, { options, input, bar }: Asking): Promise<SimulateAnswer> {
  const { client } = await startTalk(screen, options)
  return client.simulate(input, { onProgress: bar.show })
}

/** Loads the simulator only when it is asked for: the other commands begin without it. */
async function compute(input: SimulateInput, bar: ProgressBar, terminal: Terminal): Promise<SimulateAnswer> {
  const { simulateOffline } = await import('../../serve/simulate.ts')
  try {
    return simulateOffline(input, { now: terminal.now(), progress: bar.show })
  } catch (error) {
    throw error instanceof Refusal ? asRefused(error) : error
  }
}

/** What was refused here is told as what a server refuses. */
function asRefused({ code, message, flaws }: Refusal): EscapementError {
  const errors = flaws.map((flaw) => ({
    pointer: `/${flaw.field.split('.').join('/')}`,
    message: flaw.position === undefined ? flaw.message : `${flaw.message} at position ${flaw.position + 1}`,
    ...(flaw.allowed === undefined ? {} : { allowed: flaw.allowed }),
  }))
  return new EscapementError(message, { code, title: REFUSAL_TITLES[code], errors })
}

function report(answer: SimulateAnswer, screen: Screen, most: number): string {
  const parts = [headText(answer, screen), rowsTable(answer, screen, most), gantt(answer, screen)]
  const totals = renderFacts(totalFacts(answer.totals), screen)
  const other = answer.diff === null ? [] : [differenceText(answer, answer.diff, { screen, most })]
  return [...parts, totals, ...other].join('\n')
}

interface ProgressBar {
  readonly show: (progress: SimulationProgress) => void
  readonly clear: () => Promise<void>
}

const BAR_WIDTH = 30

/** How far it is, for a person who waits; a pipe stays quiet. */
function progressBar(screen: Screen): ProgressBar {
  let shown = -1
  return {
    show: ({ done, total }) => {
      const share = total === 0 ? 1 : Math.min(1, done / total)
      const percent = Math.floor(share * 100)
      if (percent === shown) return
      shown = percent
      const full = Math.round(share * BAR_WIDTH)
      void screen.note(`\rSimulating [${'='.repeat(full)}${' '.repeat(BAR_WIDTH - full)}] ${percent} %`)
    },
    clear: () => (shown === -1 ? Promise.resolve() : screen.note('\r\u001b[K')),
  }
}
