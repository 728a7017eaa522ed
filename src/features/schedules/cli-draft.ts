import type { Command } from 'commander'
import { renderFacts } from '../../cli/output/table.ts'
import { manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { durationText } from '../../cli/output/times.ts'
import { commandOf, type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { type FieldOption, type FieldValues, list, namesOf, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { type Facts, printJson, showOne } from '../../cli/remote/show.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'
import { largest } from '../../domain/long-lists.ts'
import { figuresText } from '../forecast/cli-show.ts'
import { followRun } from '../runs/cli-show.ts'
import type { RunDetail } from '../runs/schema.ts'
import { SCHEDULE_FIELDS, scheduleFacts, showPreview } from './cli-show.ts'
import type { ScheduleInput, ScheduleView } from './schema.ts'
import type { DraftInput, PreviewView, ProposedRequirement, ScheduleProposal } from './views-schema.ts'
import { replyText } from '../runs/cli-show.ts'

/** A schedule draft and the proposal it is based on. */
export interface ComposedSchedule {
  readonly proposal: ScheduleProposal
  readonly schedule: ScheduleInput
  /** Null: the draft has no timing. */
  readonly preview: PreviewView | null
}

/** The error for a draft without timing. */
const NO_TIMING_ANYWHERE =
  'The schedule has no time. Pass --when "every weekday at 9 in Berlin", --cron, --every, --at or --rrule'

/** Prints the draft of a schedule with the available choices; ends with the hint `then`. */
export async function showComposed(
  call: CliCall,
  { proposal, schedule, preview }: ComposedSchedule,
  { untimed: noTimeText, then: nextStep }: { readonly untimed: string; readonly then: string },
): Promise<void> {
  await call.print(renderFacts(factsOf(proposal, schedule), call))
  if (proposal.requirements.length > 0)
    await call.print(
      `\nRequirements (choose with --keep):\n${requirementLines(proposal.requirements, schedule).join('\n')}\n`,
    )
  await call.print('\n')
  if (preview === null) await call.print(`${noTimeText}.\n`)
  else {
    await showPreview(call, preview)
    const { figures } = await call.client.schedules.forecast(schedule)
    await call.print(`\nExpected in the next 30 days: ${figuresText(figures)}\n`)
  }
  await call.print(`${nextStep}\n`)
}

function factsOf(proposal: ScheduleProposal, schedule: ScheduleInput): Facts {
  const { prompt, output, context } = asPrompt(schedule.payload)
  const { conversation, observed, target, timing } = proposal
  const { tokens, took: durationMs } = { tokens: tokensIn(proposal), took: observed.duration_ms }
  return [
    ['name', oneLine(schedule.name ?? '')],
    ['agent', schedule.agent_id ?? 'the default agent'],
    ['prompt', manyLines(prompt)],
    [
      '',
      proposal.prompt_run_id === proposal.run_id
        ? null
        : `from the message of ${proposal.prompt_run_id}; this run only asked for a different form of its answer`,
    ],
    ['context', context],
    ['output', output],
    ['time from', timing === null ? null : `"${oneLine(timing.words)}" (${timing.run_id})`],
    ['session', schedule.session ?? 'isolated: each run starts without history'],
    [
      '',
      (schedule.session ?? null) === null && conversation !== null && conversation.earlier > 0
        ? `it does not see the ${conversation.earlier} earlier messages; --in-conversation continues ${conversation.key}`
        : null,
    ],
    ['deliver to', deliveryText(proposal, schedule, target)],
    ['timeout', (schedule.timeout_seconds ?? null) === null ? null : `${String(schedule.timeout_seconds)} s`],
    [
      'last duration',
      durationMs === null ? null : `${durationText(durationMs)}${tokens === null ? '' : `, ${tokens} tokens`}`,
    ],
  ]
}

function deliveryText(
  { conversation }: ScheduleProposal,
  { delivery }: ScheduleInput,
  target: ScheduleProposal['target'],
): string | null {
  if ((delivery ?? null) !== null)
    return target !== null && delivery?.target_id === target.id
      ? `${target.name} (${target.id})`
      : (delivery?.target_id ?? null)
  const channel = conversation?.channel ?? null
  return channel === null
    ? null
    : `nowhere: no target delivers to the channel ${channel}; create one, or pass --deliver-to`
}

function tokensIn({ observed: { usage } }: ScheduleProposal): number | null {
  const [input, output] = [usage?.input_tokens, usage?.output_tokens]
  return input === undefined && output === undefined ? null : (input ?? 0) + (output ?? 0)
}

function asPrompt(payload: unknown): {
  readonly prompt: string
  readonly output: string | null
  readonly context: string | null
} {
  if (typeof payload !== 'object' || payload === null || !('prompt' in payload))
    return { prompt: valueText(payload), output: null, context: null }
  const { prompt, output, context } = payload as Readonly<Record<string, unknown>>
  const shown = (value: unknown): string | null => (value === undefined ? null : oneLine(valueText(value)))
  return { prompt: valueText(prompt), output: shown(output), context: shown(context) }
}

function requirementLines(requirements: readonly ProposedRequirement[], { payload }: ScheduleInput): readonly string[] {
  const { output } = asPrompt(payload)
  const widest = largest(requirements.map(({ id }) => id.length))
  return requirements.map(({ id, text, said }) => {
    const checkbox = output?.includes(text) === true ? '[x]' : '[ ]'
    const quote = said === null ? '' : `   said: "${oneLine(said)}"`
    return `  ${checkbox} ${id.padEnd(widest)}  ${oneLine(text)}${quote}`
  })
}

const CHOICES: readonly FieldOption[] = [
  { flags: '--when <words>', field: 'when', about: 'time in natural language: "every weekday at 9 in Berlin"' },
  {
    flags: '--keep <ids>',
    field: 'requirements',
    read: list,
    about: 'ids of the output requirements to keep, as shown by --dry-run',
  },
  { flags: '--output <text>', field: 'output', about: 'output requirement that replaces all others' },
  {
    ...{ flags: '--in-conversation', field: 'session', stands: 'conversation' },
    about: 'continue the session instead of starting a new one for each run',
  },
]

/** Schedule fields that override the draft. */
const OVERRIDE_FIELDS = SCHEDULE_FIELDS.filter(({ field }) => field !== 'executor')
const NAMES = { ...namesOf(OVERRIDE_FIELDS), ...namesOf(CHOICES), '/session': '--in-conversation' }

interface Options {
  readonly dryRun?: boolean
  readonly try?: boolean
}

const DRY_RUN_TEXTS = { untimed: NO_TIMING_ANYWHERE, then: 'Nothing was created.' }

/** `escapement runs schedule`: creates a schedule from a run. */
export function addScheduleOfRun(group: Command, cli: CliContext): void {
  const command = commandOf(
    group,
    'schedule <id>',
    "create a schedule from a run or, by session key, from the session's last successful run",
  )
  withFields(withFields(command, CHOICES), OVERRIDE_FIELDS)
    .option('--dry-run', 'show the schedule and the choices without creating it')
    .option('--try', 'run the schedule once and compare the replies')
  remote<Options>(cli, command, {
    names: NAMES,
    work: async (call, [id = ''], options) => {
      const now = call.now
      const run = await resolveRun(call, id)
      const decisions = { choices: valuesOf(CHOICES, options, now), given: valuesOf(OVERRIDE_FIELDS, options, now) }
      const composed = await composeSchedule(call, run, decisions)
      if (options.dryRun === true) {
        await (call.json ? printJson(call, composed) : showComposed(call, composed, DRY_RUN_TEXTS))
        return EXIT.ok
      }
      const created = await createFromDraft(call, composed)
      await showOne(call, created, () => scheduleFacts(call, created))
      return options.try === true ? runOnceAndCompare(call, run, created) : EXIT.ok
    },
  })
}

/** The id of a run, given by its id or as the last successful run of a session. */
export async function resolveRun(call: CliCall, id: string): Promise<string> {
  if (id.startsWith('run_') || !id.includes(':')) return id
  const { items } = await call.client.sessions.messages(id, { limit: 50 })
  const good = items.find(({ status, text }) => status === 'success' && text !== null)
  if (good === undefined) throw new UsageError(`No successful run in session ${id}. Pass a run id instead`)
  return good.run_id
}

const WHEN = ['cron', 'every_seconds', 'at', 'rrule'] as const
const TIMING = [...WHEN, 'anchor', 'starts_at', 'ends_at', 'max_fires', 'exclude'] as const

/** The choices on the proposal, and schedule fields that override them. */
interface DraftDecisions {
  readonly choices: DraftInput
  readonly given: FieldValues
}

/** Builds the draft from the proposal and the choices. */
export async function composeSchedule(
  call: CliCall,
  runId: string,
  { choices, given }: DraftDecisions,
): Promise<ComposedSchedule> {
  const timings = WHEN.filter((name) => given[name] !== undefined)
  if (timings.length > 0 && choices.when !== undefined)
    throw new UsageError('Only one of --when, --cron, --every, --at and --rrule is allowed')
  const zone = typeof given['timezone'] === 'string' ? { timezone: given['timezone'] } : {}
  const [proposal, drafted] = await Promise.all([
    call.client.runs.proposal(runId),
    call.client.runs.schedule(runId, { ...choices, ...zone }),
  ])
  const draft = timings.length === 0 ? drafted : without(drafted, TIMING)
  const schedule: ScheduleInput = { ...draft, ...given }
  const isTimed = WHEN.some((name) => schedule[name] !== undefined)
  return { proposal, schedule, preview: isTimed ? await call.client.schedules.preview(schedule) : null }
}

const without = (fields: object, names: readonly string[]): ScheduleInput =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

/** Creates the schedule; fails if the draft has no time. */
export async function createFromDraft(
  call: CliCall,
  { proposal, schedule, preview }: ComposedSchedule,
): Promise<ScheduleView> {
  if (preview === null) throw new UsageError(NO_TIMING_ANYWHERE)
  return call.client.schedules.create(schedule, { query: { from_run: proposal.run_id } })
}

/** Runs the schedule once and prints both replies. */
async function runOnceAndCompare(call: CliCall, from: string, { id }: ScheduleView): Promise<ExitCode> {
  const { run_id: run } = await call.client.schedules.runNow(id)
  if (run === undefined) throw new Error('run-now returned no run id')
  if (!call.json) {
    const original: RunDetail = await call.client.runs.get(from)
    await call.print(`\nReply of ${from}:\n${manyLines(replyText(call, original))}\n\nReply of the schedule:\n`)
  }
  return followRun(call, run)
}
