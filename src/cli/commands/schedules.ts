import type { Command } from 'commander'
import type { Column } from '../output/table.ts'
import { bodyOf, moment, namesOf, number, withBody, withFields, valuesOf, type FieldOption } from '../remote/fields.ts'
import { printJson, readPages, showDone, showList, showOne, withPages, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { DAYS } from './budgets.ts'
import { showExplained } from './explain-look.ts'
import { showDraftForecast } from './forecast-look.ts'
import { explainOccurrence, showPreview } from './schedule-answers.ts'
import { SCHEDULE_FIELDS, TIMING_FIELDS } from './schedule-fields.ts'
import { scheduleColumns, scheduleFacts } from './schedule-look.ts'
import { addBackfill } from './backfill.ts'
import { addParse, refuseWithoutTime, withWhen, withWords } from './schedule-words.ts'
import { commandOf, groupOf } from './group.ts'
import { addProbe, withProbe, withProbeIn, type ProbeOptions } from './probe-options.ts'
import { addApproving } from './schedule-approval.ts'
import { ifMatch, withVersion, type VersionOptions } from './versions.ts'
import { RUN_FILTER, showRuns } from './run-look.ts'
import { followRun } from './run-follow.ts'

const FILTER: readonly FieldOption[] = [
  { flags: '--state <state>', field: 'state', about: 'active, paused, finished, failed or pending_approval' },
  { flags: '--agent <id>', field: 'agent_id', about: 'of this agent' },
  { flags: '--kind <kind>', field: 'kind', about: 'at, every, cron or rrule' },
  { flags: '-q, --q <text>', field: 'q', about: 'a part of name or description' },
  { flags: '--failing', field: 'failing', stands: true, about: 'whose last run failed, or that were given up' },
  {
    flags: '--sort <order>',
    field: 'sort',
    about: 'created_at, name or next_run_at, - in front for descending; or -failure_streak',
  },
]

const PREVIEW_FIELDS: readonly FieldOption[] = [
  ...TIMING_FIELDS,
  { flags: '--count <n>', field: 'count', read: number, about: 'how many moments (default 5)' },
  { flags: '--from <time>', field: 'from', read: moment, about: 'from when on (default now)' },
]

/** `escapement schedules …`: the life of a schedule. */
export function addSchedules(program: Command, desk: Desk): void {
  const group = groupOf(program, 'schedules', 'make, see and change schedules')
  addReading(group, desk)
  addOutcomes(group, desk)
  addChanging(group, desk)
  addSwitching(group, desk)
  addApproving(group, desk)
  addAsking(group, desk)
  addForecast(group, desk)
  addParse(group, desk)
  addBackfill(group, desk)
  addProbe(group, desk)
}

function addReading(group: Command, desk: Desk): void {
  remote<PageOptions>(desk, withPages(withFields(commandOf(group, 'list', 'list schedules'), FILTER)), {
    names: namesOf(FILTER),
    work: async (talk, _, options) => {
      const filter = valuesOf(FILTER, options, talk.terminal.now())
      const page = await readPages(talk, options, (asked) => talk.client.schedules.list({ ...filter, ...asked }))
      const none = 'No schedules. Make one: escapement schedules create --name … --every 30m'
      await showList(talk, page, { columns: scheduleColumns(talk), none })
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show a schedule'), {
    work: async (talk, [id = '']) => {
      const schedule = await talk.client.schedules.get(id)
      await showOne(talk, schedule, () => scheduleFacts(talk, schedule))
    },
  })
  const runs = withPages(withFields(commandOf(group, 'runs <id>', 'list what became of its moments'), RUN_FILTER))
  remote<PageOptions>(desk, runs, {
    names: namesOf(RUN_FILTER),
    work: async (talk, [id = ''], options) => {
      const filter = valuesOf(RUN_FILTER, options, talk.terminal.now())
      await showRuns(
        talk,
        await readPages(talk, options, (asked) => talk.client.schedules.runs(id, { ...filter, ...asked })),
      )
    },
  })
}

const OUTCOMES: readonly FieldOption[] = [
  { flags: '--last <n>', field: 'limit', read: number, about: 'how many runs of each, 1 to 50 (default 20)' },
]

function addOutcomes(group: Command, desk: Desk): void {
  const command = commandOf(group, 'outcomes <ids...>', 'show how the last runs of schedules went, newest first')
  remote(desk, withFields(command, OUTCOMES), {
    names: namesOf(OUTCOMES),
    work: async (talk, ids, options) => {
      const asked = valuesOf(OUTCOMES, options, talk.terminal.now())
      const { items } = await talk.client.schedules.outcomes({ ids: ids.join(','), ...asked })
      const columns: readonly Column<(typeof items)[number]>[] = [
        { title: 'ID', of: (one) => one.schedule_id },
        { title: 'LAST RUNS', of: ({ runs }) => runs.map(({ status }) => status).join(' ') || '-', flexible: true },
      ]
      await showList(talk, { items, next_cursor: null }, { columns, none: 'There are no such schedules.' })
    },
  })
}

function addChanging(group: Command, desk: Desk): void {
  const names = namesOf(SCHEDULE_FIELDS)
  const create = withBody(commandOf(group, 'create', 'make a schedule'), SCHEDULE_FIELDS, 'new')
  remote<{ readonly when?: string; readonly file?: string } & ProbeOptions>(desk, withProbe(withWhen(create)), {
    names: { ...names, '/text': '--when', '/probe': '--probe' },
    work: async (talk, _, options) => {
      const given = await bodyOf(talk.terminal, SCHEDULE_FIELDS, options)
      const body = withProbeIn(given, options, talk.terminal)
      if (options.when === undefined && options.file === undefined) refuseWithoutTime(body)
      const made = await talk.client.schedules.create(await withWords(talk, options.when, body))
      await showOne(talk, made, () => scheduleFacts(talk, made))
    },
  })
  const update = withBody(commandOf(group, 'update <id>', 'change a schedule'), SCHEDULE_FIELDS, 'change')
  remote<VersionOptions & ProbeOptions>(desk, withProbe(withVersion(update)), {
    names: { ...names, '/probe': '--probe' },
    work: async (talk, [id = ''], options) => {
      const given = await bodyOf(talk.terminal, SCHEDULE_FIELDS, options)
      const body = withProbeIn(given, options, talk.terminal)
      const changed = await talk.client.schedules.update(id, body, ifMatch(options))
      await showOne(talk, changed, () => scheduleFacts(talk, changed))
    },
  })
  const remove = commandOf(group, 'delete <id>', 'delete a schedule; what runs goes on, and its history stays')
  remote<VersionOptions>(desk, withVersion(remove), {
    work: async (talk, [id = ''], options) => {
      await talk.client.schedules.delete(id, ifMatch(options))
      await showDone(talk, { id, deleted: true }, `${id} is deleted.`)
    },
  })
}

function addSwitching(group: Command, desk: Desk): void {
  remote(desk, commandOf(group, 'enable <id>', 'switch a schedule on'), {
    work: async (talk, [id = '']) => {
      const schedule = await talk.client.schedules.enable(id)
      const next = schedule.next_run_at === null ? '' : ` Next run: ${schedule.next_run_at}`
      await showDone(talk, schedule, `${id} is ${schedule.state}.${next}`)
    },
  })
  remote(desk, commandOf(group, 'disable <id>', 'switch a schedule off; what runs goes on'), {
    work: async (talk, [id = '']) => {
      const schedule = await talk.client.schedules.disable(id)
      await showDone(talk, schedule, `${id} is ${schedule.state}.`)
    },
  })
  const run = commandOf(group, 'run <id>', 'make a run of a schedule now')
    .option('--due', 'only if one is due')
    .option('--wait', 'follow it to its end; the exit code is 1 unless it succeeds')
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
  const fields = [...SCHEDULE_FIELDS, DAYS]
  const about = 'say what a schedule would use before it is made, or with its id what a change would do'
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
  remote(desk, withFields(commandOf(group, 'preview', 'say what a schedule would do'), PREVIEW_FIELDS), {
    names: namesOf(PREVIEW_FIELDS),
    work: async (talk, _, options) => {
      const preview = await talk.client.schedules.preview(valuesOf(PREVIEW_FIELDS, options, talk.terminal.now()))
      await (talk.json ? printJson(talk, preview) : showPreview(talk, preview))
    },
  })
  remote(desk, commandOf(group, 'explain <id> <at>', 'say what became of a moment, or will, and why'), {
    names: { '/at': 'AT' },
    work: async (talk, [id = '', at = '']) => {
      const explanation = await talk.client.schedules.explain(id, { at })
      await showExplained(talk, explanation, () => explainOccurrence(talk, explanation))
    },
  })
}
