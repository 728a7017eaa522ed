import type { Command } from 'commander'
import type { Column } from '../../cli/output/table.ts'
import { oneLine, valueText } from '../../cli/output/text.ts'
import { commandOf, type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { bodyOf, type FieldValues, namesOf, valuesOf, withBody, withFields } from '../../cli/remote/fields.ts'
import { filtersOf, only, optionsOf } from '../../cli/remote/schema-options.ts'
import { printJson, showResult, showList } from '../../cli/remote/show.ts'
import { addAction, addList, addResource } from '../../cli/resource.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'
import { addBackfill } from '../backfill/cli-show.ts'
import { showExplained } from '../explain/cli-show.ts'
import { showDraftForecast } from '../forecast/cli-show.ts'
import { scheduleForecastInput } from '../forecast/schema.ts'
import { addProbe, type ProbeOptions, withProbe, withProbeIn } from '../probes/cli-options.ts'
import { WAIT_DESCRIPTION, followRun, NO_RUNS, runColumns } from '../runs/cli-show.ts'
import { runFilter } from '../runs/schema.ts'
import {
  addApproving,
  explainOccurrence,
  SCHEDULE_FLAGS,
  scheduleColumns,
  scheduleFacts,
  showPreview,
  stateText,
  TIMING,
} from './cli-show.ts'
import { scheduleFilter, scheduleInput, type ScheduleView } from './schema.ts'
import { outcomesFilter, previewInput, wordsInput, type WordsView } from './views-schema.ts'

const PARSE_FIELDS = optionsOf(wordsInput, { text: null })

/** `escapement schedules parse`: parses a time in natural language. */
function addParse(group: Command, cli: CliContext): void {
  const command = commandOf(
    group,
    'parse <text>',
    'parse a time in natural language and show its fields and next occurrences',
  )
  remote(cli, withFields(command, PARSE_FIELDS), {
    names: { ...namesOf(PARSE_FIELDS), '/text': 'TEXT' },
    work: async (call, [text = ''], options) => {
      const words = await call.client.schedules.parse({ text, ...valuesOf(PARSE_FIELDS, options, call.now) })
      await (call.json ? printJson(call, words) : showParsedTime(call, words))
    },
  })
}

async function showParsedTime(call: CliCall, words: WordsView): Promise<void> {
  await showPreview(call, words)
  const fields = Object.entries(words.fields).map(([name, value]) => `  ${name}: ${oneLine(valueText(value))}`)
  const rest = words.rest === null ? [] : ['', `Payload: ${oneLine(words.rest)}`]
  await call.print(['', ...notesOf(words), 'Fields:', ...fields, ...rest, ''].join('\n'))
}

const notesOf = ({ notes }: WordsView): readonly string[] =>
  notes.length === 0 ? [] : ['Interpretation:', ...notes.map((note) => `  ${oneLine(note)}`), '']

/** Adds `--when`. */
const withWhen = (command: Command): Command =>
  command.option(
    '--when <words>',
    'time in natural language: "every weekday at 9 in Berlin"; text after a colon is the payload',
  )

const TIMES = ['cron', 'every_seconds', 'at', 'rrule']

/** Fails without a timing option, because the error of the server would name fields instead of options. */
function refuseWithoutTime(body: FieldValues): void {
  if (TIMES.some((field) => body[field] !== undefined)) return
  throw new UsageError(
    'The schedule has no time. Pass --when "every weekday at 9 in Berlin", --cron "0 9 * * 1-5" with --tz, --every ' +
      '30m, --at or --rrule',
  )
}

/** Adds the fields parsed from `--when`; other options override them. Prints the notes of the parser. */
async function withParsedTime(call: CliCall, when: string | undefined, body: FieldValues): Promise<FieldValues> {
  if (when === undefined) return body
  const { timezone } = body
  const zone = typeof timezone === 'string' ? { timezone } : {}
  const words = await call.client.schedules.parse({ text: when, ...zone })
  for (const note of words.notes) await call.note(`${oneLine(note)}\n`)
  return { ...words.fields, ...(words.rest === null ? {} : { payload: words.rest }), ...body }
}

/** `escapement schedules …`: schedules and their runs. */
export function addSchedules(group: Command, cli: CliContext): void {
  addResourceCommands(group, cli)
  addOutcomes(group, cli)
  addEnableCommands(group, cli)
  addApproving(group, cli)
  addPreviewCommands(group, cli)
  addForecast(group, cli)
  addParse(group, cli)
  addBackfill(group, cli)
  addProbe(group, cli)
}

type WriteOptions = { readonly when?: string; readonly file?: string } & ProbeOptions

function addResourceCommands(group: Command, cli: CliContext): void {
  addResource<ScheduleView, ScheduleView, WriteOptions>(group, cli, {
    singular: 'a schedule',
    input: scheduleInput,
    patch: scheduleInput,
    flags: SCHEDULE_FLAGS,
    isVersioned: true,
    operations: ({ schedules }) => schedules,
    filter: filtersOf(scheduleFilter, { q: '-q, --q <text>' }),
    extra: {
      options: (command, kind) => withProbe(kind === 'new' ? withWhen(command) : command),
      names: { '/text': '--when', '/probe': '--probe' },
      body: async (call, input, { changed, options }) => {
        const body = withProbeIn(input, options, call.terminal)
        if (changed !== null) return body
        if (options.when === undefined && options.file === undefined) refuseWithoutTime(body)
        return withParsedTime(call, options.when, body)
      },
    },
    none: 'No schedules. Create one: escapement schedules create --name … --every 30m',
    descriptions: { delete: 'delete a schedule; active runs continue, and the history is kept' },
    columns: scheduleColumns,
    facts: scheduleFacts,
  })
  addList(cli, commandOf(group, 'runs <id>', 'list the runs of a schedule, newest first'), {
    filter: only(filtersOf(runFilter), 'status', 'trigger', 'from', 'to'),
    columns: runColumns,
    none: NO_RUNS,
    read: (call, query, [id = '']) => call.client.schedules.runs(id, query),
  })
}

const OUTCOME_FIELDS = filtersOf(outcomesFilter, { ids: null, limit: '--last <n>' })

function addOutcomes(group: Command, cli: CliContext): void {
  const command = commandOf(group, 'outcomes <ids...>', 'show recent run outcomes of schedules, newest first')
  remote(cli, withFields(command, OUTCOME_FIELDS), {
    names: namesOf(OUTCOME_FIELDS),
    work: async (call, ids, options) => {
      const asked = valuesOf(OUTCOME_FIELDS, options, call.now)
      const { items } = await call.client.schedules.outcomes({ ids: ids.join(','), ...asked })
      const columns: readonly Column<(typeof items)[number]>[] = [
        { title: 'ID', value: (one) => one.schedule_id },
        { title: 'LAST RUNS', value: ({ runs }) => runs.map(({ status }) => status).join(' ') || '-', flexible: true },
      ]
      await showList(call, { items, next_cursor: null }, { columns, none: 'No such schedules.' })
    },
  })
}

function addEnableCommands(group: Command, cli: CliContext): void {
  addAction(cli, commandOf(group, 'enable <id>', 'enable a schedule'), {
    call: (call, [id = '']) => call.client.schedules.enable(id),
    resultText: stateText,
  })
  addAction(cli, commandOf(group, 'disable <id>', 'disable a schedule; active runs continue'), {
    call: (call, [id = '']) => call.client.schedules.disable(id),
    resultText: ({ state }, id) => `${id} is ${state}.`,
  })
  const run = commandOf(group, 'run <id>', 'run a schedule now')
    .option('--due', 'only if an occurrence is due')
    .option('--wait', WAIT_DESCRIPTION)
  remote<{ readonly due?: boolean; readonly wait?: boolean }>(cli, run, {
    work: (call, [id = ''], { due, wait }) =>
      runNow(call, id, { mode: due === true ? 'due' : 'force', wait: wait === true }),
  })
}

async function runNow(
  call: CliCall,
  id: string,
  how: { readonly mode: 'due' | 'force'; readonly wait: boolean },
): Promise<ExitCode> {
  const answer = await call.client.schedules.runNow(id, { mode: how.mode })
  if (answer.run_id !== undefined && how.wait) return followRun(call, answer.run_id)
  const sentence = answer.ran
    ? `Created ${answer.run_id ?? 'a run'}.`
    : `No run created: ${answer.reason ?? 'not due'}.`
  await showResult(call, answer, sentence)
  return EXIT.ok
}

function addForecast(group: Command, cli: CliContext): void {
  const fields = optionsOf(scheduleForecastInput, { ...SCHEDULE_FLAGS, id: null })
  const about = 'forecast the usage of a new schedule or, by id, of a changed schedule'
  remote(cli, withBody(commandOf(group, 'forecast [id]', about), fields, 'new'), {
    names: namesOf(fields),
    work: async (call, [id], options) => {
      const body = await bodyOf(call.terminal, fields, options)
      const asked = id === undefined || id === '' ? body : { ...body, id }
      await showDraftForecast(call, await call.client.schedules.forecast(asked))
    },
  })
}

function addPreviewCommands(group: Command, cli: CliContext): void {
  const fields = only(optionsOf(previewInput, SCHEDULE_FLAGS), ...TIMING, 'count', 'from')
  remote(cli, withFields(commandOf(group, 'preview', 'show when a schedule would fire'), fields), {
    names: namesOf(fields),
    work: async (call, _, options) => {
      const preview = await call.client.schedules.preview(valuesOf(fields, options, call.now))
      await (call.json ? printJson(call, preview) : showPreview(call, preview))
    },
  })
  remote(cli, commandOf(group, 'explain <id> <at>', 'explain the outcome of a past or future occurrence'), {
    names: { '/at': 'AT' },
    work: async (call, [id = '', at = '']) => {
      const explanation = await call.client.schedules.explain(id, { at })
      await showExplained(call, explanation, () => explainOccurrence(call, explanation))
    },
  })
}
