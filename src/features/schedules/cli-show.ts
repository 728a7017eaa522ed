import type { Command } from 'commander'
import { paintState } from '../../cli/output/style.ts'
import type { Column } from '../../cli/output/table.ts'
import { manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import { commandOf, type CliContext, type CliCall } from '../../cli/remote/call.ts'
import { json, type OptionReader, seconds, textOrJson } from '../../cli/remote/fields.ts'
import { optionsOf, type Overrides } from '../../cli/remote/schema-options.ts'
import type { Facts } from '../../cli/remote/show.ts'
import { addAction, ifMatch, type VersionOptions, withVersion } from '../../cli/resource.ts'
import { EXECUTOR } from '../agents/cli-executor.ts'
import { whyFacts } from '../explain/cli-show.ts'
import type { OccurrenceExplanation } from '../explain/schema.ts'
import { probeFacts } from '../probes/cli-options.ts'
import { scheduleInput, type ScheduleView } from './schema.ts'
import type { SchedulePreview } from './views-schema.ts'

/** `escapement schedules approve|reject`: schedules proposed with restricted keys. */
export function addApproving(group: Command, cli: CliContext): void {
  addAction<ScheduleView, VersionOptions>(
    cli,
    withVersion(commandOf(group, 'approve <id>', 'approve a proposed schedule')),
    {
      call: (call, [id = ''], options) => call.client.schedules.approve(id, ifMatch(options)),
      resultText: stateText,
    },
  )
  const reject = commandOf(group, 'reject <id>', 'reject a proposed schedule').requiredOption('--reason <text>', 'why')
  addAction<ScheduleView, VersionOptions & { readonly reason: string }>(cli, withVersion(reject), {
    call: (call, [id = ''], { reason, ...options }) => call.client.schedules.reject(id, { reason }, ifMatch(options)),
    resultText: ({ state }, id) => `${id} is ${state}.`,
  })
}

/** The state and next run of a schedule. */
export const stateText = ({ state, next_run_at: next }: ScheduleView, id: string): string =>
  `${id} is ${state}.${next === null ? '' : ` Next run: ${next}`}`

/** The owner of a schedule, and its proposal or rejection. */
function approvalFacts({ approval, owner, created_by_run: run }: ScheduleView): Facts {
  const made: Facts = [
    ['owner', owner],
    ['created by run', run],
  ]
  if (approval === null) return made
  const { changes, rejected } = approval
  const changeTexts = Object.entries(changes ?? {}).map(
    ([name, { before, after }]) => `${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
  )
  return [
    ...made,
    [
      'proposed',
      `by ${approval.requested_by}, ${changes === null ? 'as a new schedule' : oneLine(changeTexts.join('; '))}`,
    ],
    ['rejected', rejected === null ? null : `by ${rejected.by}: ${oneLine(rejected.reason)}`],
  ]
}

/** Prints the sentence, next occurrences and clock changes of a schedule. */
export async function showPreview({ terminal, style, print }: CliCall, preview: SchedulePreview): Promise<void> {
  const now = terminal.now()
  // Only a cadence has a certainty per occurrence.
  const certainties = new Map(preview.coming?.map(({ at, certainty }) => [at, `   ${certainty}`]))
  const next = preview.next.map((at) => `  ${at}   ${style.dim(relativeTimeText(at, now))}${certainties.get(at) ?? ''}`)
  const notes = preview.dst_notes.filter(({ effect }) => effect !== 'none').map(({ sentence }) => `  ${sentence}`)
  const never = ['  never']
  const changes = notes.length === 0 ? [] : ['', 'Clock changes:', ...notes]
  await print([preview.sentence, '', ...(next.length === 0 ? never : next), ...changes, ''].join('\n'))
}

/** The facts of an occurrence. */
export function explainOccurrence({ terminal, style }: CliCall, explanation: OccurrenceExplanation): Facts {
  return [
    ['occurrence', cliTimeText(explanation.at, terminal.now())],
    ['run', explanation.run_id ?? 'none'],
    ['status', explanation.status === null ? null : paintState(style, explanation.status)],
    ...whyFacts(explanation),
  ]
}

/** The table columns of schedules. */
export const scheduleColumns = ({ now, style }: CliCall): readonly Column<ScheduleView>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => valueText(name), flexible: true },
  { title: 'STATE', value: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'WHEN', value: ({ sentence }) => sentence, flexible: true },
  { title: 'AGENT', value: ({ agent_id, executor }) => agent_id ?? executor?.kind ?? '', flexible: true },
  { title: 'NEXT', value: ({ next_run_at }) => relativeTimeText(next_run_at, now) },
  { title: 'LAST', value: ({ last_status }) => valueText(last_status), paint: (text) => paintState(style, text) },
]

const budgetText = ({ amount, unit, period, on_exceed: action, id }: NonNullable<ScheduleView['budget']>): string =>
  `${amount} ${unit} per ${period}, then ${action} (${id})`

const receiverOf = (target: string, { delivery_disabled: isOff }: ScheduleView): string =>
  isOff ? `${target}, which is disabled: results are held` : target

/** The facts of a schedule. */
export function scheduleFacts(call: CliCall, schedule: ScheduleView): Facts {
  const { now, style } = call
  return [
    ['id', schedule.id],
    ['name', oneLine(valueText(schedule.name))],
    ['description', schedule.description === '' ? null : manyLines(schedule.description)],
    ['state', paintState(style, schedule.state)],
    ['when', schedule.sentence],
    ['pace', schedule.pace === null ? null : schedule.pace.sentence],
    ['because', schedule.pace === null ? null : schedule.pace.because.sentence],
    ['next run', cliTimeText(schedule.next_run_at, now) ?? 'none'],
    ['notes', schedule.notes === undefined ? null : schedule.notes.map(oneLine).join('\n')],
    ['last run', cliTimeText(schedule.last_run_at, now) ?? 'none yet'],
    ['last status', schedule.last_status === null ? null : paintState(style, schedule.last_status)],
    ['last error', schedule.last_error === null ? null : manyLines(schedule.last_error)],
    ['failures', schedule.failure_streak === 0 ? null : `${schedule.failure_streak} in a row`],
    ['fires', String(schedule.fires)],
    ['agent', schedule.agent_id],
    ['executor', schedule.executor === null ? null : oneLine(JSON.stringify(schedule.executor))],
    ['session', oneLine(schedule.session)],
    ['lane', schedule.lane],
    ['delivers to', schedule.delivery === null ? null : receiverOf(schedule.delivery.target_id, schedule)],
    ['budget', schedule.budget === null ? null : budgetText(schedule.budget)],
    ...probeFacts(call, schedule),
    ['payload', schedule.payload === null ? null : manyLines(valueText(schedule.payload))],
    ['misfire', `${schedule.misfire_policy}, at most ${schedule.catchup_limit}`],
    ['overlap', schedule.overlap_action],
    ['on failure', schedule.failure_action],
    ['concurrency', `${schedule.max_concurrency}, then ${schedule.concurrency_policy}`],
    ['created', `${cliTimeText(schedule.created_at, now) ?? ''} by ${schedule.created_by ?? 'the program'}`],
    ...approvalFacts(schedule),
    ['version', String(schedule.version)],
  ]
}

const target: OptionReader = (text) => ({ target_id: text })

const BUDGET = /^([\d.]+) (tokens|money)(?: per (day|month))?$/

/** `5000 tokens per day`, JSON, or `none` to remove the budget. */
const readBudget: OptionReader = (text, about) => {
  if (text === 'none') return null
  const [, amount, unit, period] = BUDGET.exec(text.trim()) ?? []
  if (amount === undefined) return json(text, about)
  return { amount: Number(amount), unit, ...(period === undefined ? {} : { period }) }
}

/** `5m..6h`, JSON, or `none` for a fixed interval. */
const readCadence: OptionReader = (text, about) => {
  if (text === 'none') return null
  const [low, high, ...more] = text.split('..')
  if (low === undefined || high === undefined || more.length > 0) return json(text, about)
  return { min_seconds: seconds(low.trim(), about), max_seconds: seconds(high.trim(), about) }
}

/** The timing fields of a schedule. */
export const TIMING = [
  ...['cron', 'every_seconds', 'cadence', 'at', 'rrule', 'timezone', 'anchor'],
  ...['dst', 'day_match', 'starts_at', 'ends_at', 'exclude'],
]

/** Options of a schedule that differ from their fields. */
export const SCHEDULE_FLAGS: Overrides = {
  executor: EXECUTOR,
  cadence: { flags: '--cadence <range|json>', read: readCadence, hint: 'such as 5m..6h, JSON, or none' },
  payload: { flags: '--payload <text|json>', alias: '--prompt <text>', read: textOrJson },
  budget: {
    flags: '--budget <text|json>',
    read: readBudget,
    hint: 'such as "5000 tokens per day", "10 money per month", JSON, or none',
  },
  delivery: { flags: '--deliver-to <id>', read: target },
  // Has its own options: `withProbe`.
  probe: null,
  kind: null,
  status: null,
}

/** The options of a schedule. */
export const SCHEDULE_FIELDS = optionsOf(scheduleInput, SCHEDULE_FLAGS)
