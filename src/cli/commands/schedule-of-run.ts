import type { Command } from 'commander'
import type { RunDetail } from '../../features/runs/schema.ts'
import type { DraftInput } from '../../contract/schedule-draft.ts'
import type { ScheduleInput, ScheduleView } from '../../contract/schedule.ts'
import { manyLines } from '../output/text.ts'
import { list, namesOf, valuesOf, withFields, type FieldOption, type FieldValues } from '../remote/fields.ts'
import { printJson, showOne } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { followRun } from './run-follow.ts'
import { SCHEDULE_FIELDS } from './schedule-fields.ts'
import { scheduleFacts } from './schedule-look.ts'
import { NOBODY_SAYS_WHEN, showComposed, type Composed } from './schedule-of-run-look.ts'
import { replyText } from './sessions.ts'

const CHOICES: readonly FieldOption[] = [
  { flags: '--when <words>', field: 'when', about: 'time in natural language: "every weekday at 9 in Berlin"' },
  {
    flags: '--keep <ids>',
    field: 'requirements',
    read: list,
    about: 'requirements of the output, as --dry-run names them',
  },
  { flags: '--output <text>', field: 'output', about: 'requirement of the output, in place of all others' },
  {
    ...{ flags: '--in-conversation', field: 'session', stands: 'conversation' },
    about: 'continue the conversation instead of starting a new one each time',
  },
]

/** What is taken over as it is given, beside the choices. */
const FIELDS = SCHEDULE_FIELDS.filter(({ field }) => field !== 'executor')
const NAMES = { ...namesOf(FIELDS), ...namesOf(CHOICES), '/session': '--in-conversation' }

interface Options {
  readonly dryRun?: boolean
  readonly try?: boolean
}

const DRY = { untimed: NOBODY_SAYS_WHEN, then: 'Nothing was made.' }

/** `escapement runs schedule`: a schedule that does what a run did. */
export function addScheduleOfRun(group: Command, desk: Desk): void {
  const command = commandOf(
    group,
    'schedule <id>',
    'create a schedule from a run, or from the last success of a session, by its key',
  )
  withFields(withFields(command, CHOICES), FIELDS)
    .option('--dry-run', 'show the schedule and the choices, and create nothing')
    .option('--try', 'run it once and compare the answers')
  remote<Options>(desk, command, {
    names: NAMES,
    work: async (talk, [id = ''], options) => {
      const now = talk.now
      const run = await chosenRun(talk, id)
      const decided = { choices: valuesOf(CHOICES, options, now), given: valuesOf(FIELDS, options, now) }
      const composed = await compose(talk, run, decided)
      if (options.dryRun === true) {
        await (talk.json ? printJson(talk, composed) : showComposed(talk, composed, DRY))
        return EXIT.ok
      }
      const made = await make(talk, composed)
      await showOne(talk, made, () => scheduleFacts(talk, made))
      return options.try === true ? tryOut(talk, run, made) : EXIT.ok
    },
  })
}

/** A run by its id, or the last one of a session that went well. */
export async function chosenRun(talk: Talk, id: string): Promise<string> {
  if (id.startsWith('run_') || !id.includes(':')) return id
  const { items } = await talk.client.sessions.messages(id, { limit: 50 })
  const good = items.find(({ status, text }) => status === 'success' && text !== null)
  if (good === undefined) throw new UsageError(`Nothing in ${id} was answered well; name a run`)
  return good.run_id
}

const WHEN = ['cron', 'every_seconds', 'at', 'rrule'] as const
const TIMING = [...WHEN, 'anchor', 'starts_at', 'ends_at', 'max_fires', 'exclude'] as const

/** What somebody has decided: about the proposal, and in fields of the schedule, which win. */
interface Decided {
  readonly choices: DraftInput
  readonly given: FieldValues
}

/** Puts together what the run proposes and what was decided. */
export async function compose(talk: Talk, runId: string, { choices, given }: Decided): Promise<Composed> {
  const says = WHEN.filter((name) => given[name] !== undefined)
  if (says.length > 0 && choices.when !== undefined)
    throw new UsageError('--when says it in words; give one of --when, --cron, --every, --at and --rrule')
  const zone = typeof given['timezone'] === 'string' ? { timezone: given['timezone'] } : {}
  const [proposal, drafted] = await Promise.all([
    talk.client.runs.proposal(runId),
    talk.client.runs.schedule(runId, { ...choices, ...zone }),
  ])
  const draft = says.length === 0 ? drafted : without(drafted, TIMING)
  const schedule: ScheduleInput = { ...draft, ...given }
  const isTimed = WHEN.some((name) => schedule[name] !== undefined)
  return { proposal, schedule, preview: isTimed ? await talk.client.schedules.preview(schedule) : null }
}

const without = (fields: object, names: readonly string[]): ScheduleInput =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

/** Makes the schedule; refused where nobody has said when. */
export async function make(talk: Talk, { proposal, schedule, preview }: Composed): Promise<ScheduleView> {
  if (preview === null) throw new UsageError(NOBODY_SAYS_WHEN)
  return talk.client.schedules.create(schedule, { query: { from_run: proposal.run_id } })
}

/** Runs it once, and shows both answers. */
async function tryOut(talk: Talk, from: string, { id }: ScheduleView): Promise<ExitCode> {
  const { run_id: run } = await talk.client.schedules.runNow(id)
  if (run === undefined) throw new Error('what is run by hand has a run')
  if (!talk.json) {
    const original: RunDetail = await talk.client.runs.get(from)
    await talk.print(`\nIts answer then (${from}):\n${manyLines(replyText(talk, original))}\n\nIts answer now:\n`)
  }
  return followRun(talk, run)
}
