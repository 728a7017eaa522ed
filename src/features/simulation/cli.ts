import type { Command } from 'commander'
import { EscapementError } from '../../client/errors.ts'
import { Refusal, REFUSAL_TITLES } from '../../api/refusals.ts'
import type { SimulateAnswer, SimulateInput, SimulationProgress } from './schema.ts'
import { namesOf, number, withFields } from '../../cli/remote/fields.ts'
import {
  runAction,
  withOutputFormat,
  openCliCall,
  withCommonOptions,
  type CommonOptions,
  type CliContext,
  type Screen,
} from '../../cli/remote/call.ts'
import type { FieldNames } from '../../cli/remote/refused.ts'
import { csvOf, differenceText, headText, rowsTable, totalFacts } from './cli-output.ts'
import { gantt } from './cli-gantt.ts'
import { renderFacts } from '../../cli/output/table.ts'
import type { Terminal } from '../../cli/terminal.ts'
import { SCHEDULE_FIELDS } from '../schedules/cli-show.ts'
import type { SimulateOptions } from './cli-input.ts'

interface Options extends SimulateOptions, CommonOptions {
  readonly csv?: boolean
  readonly rows?: string
}

const DEFAULT_ROWS = 100

/** Option names by JSON pointer of the request. */
const NAMES: FieldNames = {
  ...Object.fromEntries(Object.entries(namesOf(SCHEDULE_FIELDS)).map(([at, name]) => [`/schedules/0${at}`, name])),
  ...{ '/ids': '--schedule', '/all': '--all', '/from': '--from', '/to': '--to', '/window_seconds': '--for' },
  ...{ '/assume': '--takes, --fails, --tokens, --cost', '/outages': '--stall, --outage', '/changes': '--set' },
  ...{ '/against': '--against', '/replay': '--replay', '/seed': '--seed', '/agent_id': '--agent' },
}

/** `escapement simulate`: simulates schedules; needs a server only for stored schedules and history. */
export function addSimulate(command: Command, cli: CliContext): void {
  command
    .option('-f, --file <file>', 'read one schedule or a list as JSON or YAML from a file, or - for stdin')
    .option('--schedule <id...>', 'simulate these stored schedules')
    .option('--all', 'simulate all active schedules; with --agent, those of one agent')
    .option('--from <time>', 'start of the window (default now)')
    .option('--to <time>', 'end of the window')
    .option('--for <duration>', 'length of the window (default 24h)')
    .option('--takes <duration>', 'duration of an attempt, or a range: 5s..20s')
    .option('--fails <what>', 'status of every attempt (500), or failure rate (20%)')
    .option('--tokens <n>', 'tokens used by an attempt')
    .option('--cost <amount>', 'cost of an attempt')
    .option('--stall <for@when...>', 'stall the scheduler for a duration at an offset into the window: 60s@2m')
    .option('--outage <for@when...>', 'take all nodes down; active runs are lost')
    .option('--agent-outage <for@when...>', 'make agents unreachable, so that attempts fail')
    .option('--set <field=value...>', 'override policies of the schedules')
    .option('--against <field=value...>', 'compare with these policies')
    .option('--replay', 'replay attempts and outages from the history of a past window')
    .option('--seed <n>', 'random seed (default 1)')
    .option('--rows <n>', `maximum number of occurrences shown (default ${DEFAULT_ROWS})`)
    .option('--csv', 'print the occurrences as CSV')
  withCommonOptions(withFields(command, SCHEDULE_FIELDS)).action(async (options: Options) => {
    cli.settle(await runAction(cli, NAMES, (screen) => simulate(screen, options)))
  })
}

async function simulate(screenBase: Omit<Screen, 'json'>, options: Options): Promise<void> {
  const isText = options.csv !== true && options.json !== true
  const screen = withOutputFormat(screenBase, !isText)
  const { simulateInputOf } = await import('./cli-input.ts')
  const input = await simulateInputOf(screenBase.terminal, options)
  const bar = progressBar(screen)
  const answer = await (needsServer(options)
    ? simulateOnServer(screen, { options, input, bar })
    : simulateLocally(input, bar, screenBase.terminal))
  await bar.clear()
  if (options.csv === true) await screen.print(csvOf(answer))
  else if (options.json === true) await screen.print(`${JSON.stringify(answer, null, 2)}\n`)
  else await screen.print(report(answer, screen, rowsOf(options, screenBase.terminal)))
}

/** Stored schedules and history need a server; everything else is computed locally. */
const needsServer = ({ schedule, all, replay, url }: Options): boolean =>
  schedule !== undefined || all === true || replay === true || url !== undefined

const rowsOf = ({ rows }: Options, terminal: Terminal): number =>
  rows === undefined ? DEFAULT_ROWS : (number(rows, { option: '--rows', now: terminal.now() }) as number)

interface ServerSimulation {
  readonly options: Options
  readonly input: SimulateInput
  readonly bar: ProgressBar
}

async function simulateOnServer(screen: Screen, { options, input, bar }: ServerSimulation): Promise<SimulateAnswer> {
  const { client } = await openCliCall(screen, options)
  return client.simulate(input, { onProgress: bar.show })
}

/** Loads the simulator on use, so that other commands start faster. */
async function simulateLocally(input: SimulateInput, bar: ProgressBar, terminal: Terminal): Promise<SimulateAnswer> {
  const { simulateOffline } = await import('../../serve/simulate.ts')
  try {
    return simulateOffline(input, { now: terminal.now(), progress: bar.show })
  } catch (error) {
    throw error instanceof Refusal ? asApiError(error) : error
  }
}

/** Converts a local error to an API error, so that both print the same. */
function asApiError({ code, message, flaws }: Refusal): EscapementError {
  const errors = flaws.map((flaw) => ({
    pointer: `/${flaw.field.split('.').join('/')}`,
    message: flaw.position === undefined ? flaw.message : `${flaw.message} at position ${flaw.position + 1}`,
    ...(flaw.allowed === undefined ? {} : { allowed: flaw.allowed }),
  }))
  return new EscapementError(message, { code, title: REFUSAL_TITLES[code], errors })
}

function report(answer: SimulateAnswer, screen: Screen, maxRows: number): string {
  const parts = [headText(answer, screen), rowsTable(answer, screen, maxRows), gantt(answer, screen)]
  const totals = renderFacts(totalFacts(answer.totals), screen)
  const diffText = answer.diff === null ? [] : [differenceText(answer, answer.diff, { screen, maxRows })]
  return [...parts, totals, ...diffText].join('\n')
}

interface ProgressBar {
  readonly show: (progress: SimulationProgress) => void
  readonly clear: () => Promise<void>
}

const BAR_WIDTH = 30

/** The progress bar, on a terminal only. */
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
