import type { Command } from 'commander'
import { scheduleForecastInput } from '../../features/forecast/schema.ts'
import { runFilter } from '../../features/runs/schema.ts'
import { outcomesFilter } from '../../contract/schedule-outcome.ts'
import { previewInput } from '../../contract/schedule-preview.ts'
import { scheduleFilter, scheduleInput, type ScheduleView } from '../../contract/schedule.ts'
import type { Column } from '../output/table.ts'
import { bodyOf, namesOf, withBody, withFields, valuesOf } from '../remote/fields.ts'
import { filtersOf, only, optionsOf } from '../remote/schema-options.ts'
import { printJson, showDone, showList } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { addAction, addList, addResource } from '../resource.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { addBackfill } from './backfill.ts'
import { showExplained } from './explain-look.ts'
import { showDraftForecast } from './forecast-look.ts'
import { addProbe, withProbe, withProbeIn, type ProbeOptions } from '../../features/probes/cli-options.ts'
import { ABOUT_WAIT, followRun } from './run-follow.ts'
import { NO_RUNS, runColumns } from './run-look.ts'
import { explainOccurrence, showPreview } from './schedule-answers.ts'
import { addApproving, stateText } from './schedule-approval.ts'
import { SCHEDULE_FLAGS, TIMING } from './schedule-fields.ts'
import { scheduleColumns, scheduleFacts } from './schedule-look.ts'
import { addParse, refuseWithoutTime, withWhen, withWords } from './schedule-words.ts'

/** `escapement schedules …`: the life of a schedule. */
export function addSchedules(group: Command, desk: Desk): void {
  addPlain(group, desk)
  addOutcomes(group, desk)
  addSwitching(group, desk)
  addApproving(group, desk)
  addAsking(group, desk)
  addForecast(group, desk)
  addParse(group, desk)
  addBackfill(group, desk)
  addProbe(group, desk)
}

type WriteOptions = { readonly when?: string; readonly file?: string } & ProbeOptions

function addPlain(group: Command, desk: Desk): void {
  addResource<ScheduleView, ScheduleView, WriteOptions>(group, desk, {
    one: 'a schedule',
    input: scheduleInput,
    patch: scheduleInput,
    flags: SCHEDULE_FLAGS,
    isVersioned: true,
    operations: ({ schedules }) => schedules,
    filter: filtersOf(scheduleFilter, { q: '-q, --q <text>' }),
    extra: {
      options: (command, kind) => withProbe(kind === 'new' ? withWhen(command) : command),
      names: { '/text': '--when', '/probe': '--probe' },
      body: async (talk, given, { changed, options }) => {
        const body = withProbeIn(given, options, talk.terminal)
        if (changed !== null) return body
        if (options.when === undefined && options.file === undefined) refuseWithoutTime(body)
        return withWords(talk, options.when, body)
      },
    },
    none: 'No schedules. Make one: escapement schedules create --name … --every 30m',
    about: { delete: 'delete a schedule; active runs continue, and its history stays' },
    columns: scheduleColumns,
    facts: scheduleFacts,
  })
  addList(desk, commandOf(group, 'runs <id>', 'list the runs of a schedule, newest first'), {
    filter: only(filtersOf(runFilter), 'status', 'trigger', 'from', 'to'),
    columns: runColumns,
    none: NO_RUNS,
    read: (talk, query, [id = '']) => talk.client.schedules.runs(id, query),
  })
}

const OUTCOMES = filtersOf(outcomesFilter, { ids: null, limit: '--last <n>' })

function addOutcomes(group: Command, desk: Desk): void {
  const command = commandOf(group, 'outcomes <ids...>', 'show the outcomes of the last runs of schedules, newest first')
  remote(desk, withFields(command, OUTCOMES), {
    names: namesOf(OUTCOMES),
    work: async (talk, ids, options) => {
      const asked = valuesOf(OUTCOMES, options, talk.now)
      const { items } = await talk.client.schedules.outcomes({ ids: ids.join(','), ...asked })
      const columns: readonly Column<(typeof items)[number]>[] = [
        { title: 'ID', of: (one) => one.schedule_id },
        { title: 'LAST RUNS', of: ({ runs }) => runs.map(({ status }) => status).join(' ') || '-', flexible: true },
      ]
      await showList(talk, { items, next_cursor: null }, { columns, none: 'There are no such schedules.' })
    },
  })
}

function addSwitching(group: Command, desk: Desk): void {
  addAction(desk, commandOf(group, 'enable <id>', 'enable a schedule'), {
    call: (talk, [id = '']) => talk.client.schedules.enable(id),
    say: stateText,
  })
  addAction(desk, commandOf(group, 'disable <id>', 'disable a schedule; active runs continue'), {
    call: (talk, [id = '']) => talk.client.schedules.disable(id),
    say: ({ state }, id) => `${id} is ${state}.`,
  })
  const run = commandOf(group, 'run <id>', 'run a schedule now')
    .option('--due', 'only if an occurrence is due')
    .option('--wait', ABOUT_WAIT)
  remote<{ readonly due?: boolean; readonly wait?: boolean }>(desk, run, {
    work: (talk, [id = ''], { due, wait }) =>
      runNow(talk, id, { mode: due === true ? 'due' : 'force', wait: wait === true }),
  })
}

async function runNow(
  talk: Talk,
  id: string,
  how: { readonly mode: 'due' | 'force'; readonly wait: boolean },
): Promise<ExitCode> {
  const answer = await talk.client.schedules.runNow(id, { mode: how.mode })
  if (answer.run_id !== undefined && how.wait) return followRun(talk, answer.run_id)
  const sentence = answer.ran
    ? `${answer.run_id ?? 'A run'} is made.`
    : `Nothing was run: ${answer.reason ?? 'not due'}.`
  await showDone(talk, answer, sentence)
  return EXIT.ok
}

function addForecast(group: Command, desk: Desk): void {
  const fields = optionsOf(scheduleForecastInput, { ...SCHEDULE_FLAGS, id: null })
  const about = 'forecast the usage of a new schedule, or with an id of a changed one'
  remote(desk, withBody(commandOf(group, 'forecast [id]', about), fields, 'new'), {
    names: namesOf(fields),
    work: async (talk, [id], options) => {
      const body = await bodyOf(talk.terminal, fields, options)
      const asked = id === undefined || id === '' ? body : { ...body, id }
      await showDraftForecast(talk, await talk.client.schedules.forecast(asked))
    },
  })
}

function addAsking(group: Command, desk: Desk): void {
  const fields = only(optionsOf(previewInput, SCHEDULE_FLAGS), ...TIMING, 'count', 'from')
  remote(desk, withFields(commandOf(group, 'preview', 'show when a schedule would fire'), fields), {
    names: namesOf(fields),
    work: async (talk, _, options) => {
      const preview = await talk.client.schedules.preview(valuesOf(fields, options, talk.now))
      await (talk.json ? printJson(talk, preview) : showPreview(talk, preview))
    },
  })
  remote(desk, commandOf(group, 'explain <id> <at>', 'explain what became of an occurrence, or will, and why'), {
    names: { '/at': 'AT' },
    work: async (talk, [id = '', at = '']) => {
      const explanation = await talk.client.schedules.explain(id, { at })
      await showExplained(talk, explanation, () => explainOccurrence(talk, explanation))
    },
  })
}
