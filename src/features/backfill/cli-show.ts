import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { paintState } from '../../cli/output/style.ts'
import type { Column } from '../../cli/output/table.ts'
import { oneLine } from '../../cli/output/text.ts'
import { relativeTimeText, durationText, cliTimeText } from '../../cli/output/times.ts'
import { commandOf, type CliContext, remote, type CliCall } from '../../cli/remote/call.ts'
import { namesOf, number, pastTime, type OptionReader, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { optionsOf } from '../../cli/remote/schema-options.ts'
import { type Facts, printJson, showOne } from '../../cli/remote/show.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'
import { backfillInput, type BackfillView } from './schema.ts'

/** The table columns of backfills. */
export const backfillColumns = ({ now, style }: CliCall): readonly Column<BackfillView>[] => [
  { title: 'ID', value: ({ id }) => id ?? '-' },
  { title: 'SCHEDULE', value: ({ schedule_id: id }) => id, flexible: true },
  { title: 'STATE', value: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'DONE', value: ({ ended, total }) => `${ended}/${total}`, right: true },
  { title: 'WHICH', value: ({ which }) => which },
  { title: 'FROM', value: ({ from }) => from },
  { title: 'TO', value: ({ to }) => to },
  { title: 'STARTED', value: ({ created_at: at }) => relativeTimeText(at, now) },
]

const named = (counts: object): string | null => {
  const parts = Object.entries(counts as Readonly<Record<string, number>>).filter(([, count]) => count > 0)
  return parts.length === 0 ? null : parts.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ')
}

const paceOf = ({ max_active: maxActive, spacing_ms: spacing, order, policy, lane }: BackfillView): string =>
  [
    `${maxActive} at a time`,
    ...(spacing === 0 ? [] : [`${durationText(spacing)} apart`]),
    `${order} first`,
    policy === 'wait' ? "after the schedule's own runs" : "in parallel with the schedule's own runs",
    ...(lane === null ? [] : [`in lane ${lane}`]),
  ].join(', ')

/** The expected duration, tokens and cost, where known. */
function expectedOf({ expected }: BackfillView): string | null {
  const { duration_ms: duration, tokens, cost } = expected
  const parts = [
    ...(duration === null ? [] : [durationText(duration)]),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(cost === null ? [] : [`cost ${cost}`]),
  ]
  return parts.length === 0 ? null : `about ${parts.join(', ')}`
}

function progressOf(view: BackfillView, { terminal }: CliCall): Facts {
  if (view.state === 'planned') return [['expected', expectedOf(view)]]
  const pace = view.runs_per_minute === null ? '' : `, ${view.runs_per_minute} per minute`
  return [
    ['done', `${view.ended} of ${view.total}${pace}`],
    ['active runs', view.in_flight === 0 ? null : view.run_ids.join(', ')],
    ['outcomes', named(view.counts)],
    ['estimated end', view.eta === null ? null : cliTimeText(view.eta, terminal.now())],
    ['started', `${cliTimeText(view.created_at, terminal.now()) ?? ''} by ${view.created_by}`],
    ['finished', cliTimeText(view.finished_at, terminal.now())],
  ]
}

/** The facts of a backfill. */
const backfillFacts = (call: CliCall, view: BackfillView): Facts => [
  ['id', view.id],
  ['schedule', view.schedule_id],
  ['state', paintState(call.style, view.state)],
  ['why', view.sentence],
  ['range', `${view.from} to ${view.to}`],
  ['occurrences', `${view.total}${view.which === 'all' ? '' : ` ${view.which}`}${firstAndLast(view)}`],
  ['excluded', named(view.left_out)],
  ['pace', paceOf(view)],
  ...progressOf(view, call),
  ['notes', view.notes.length === 0 ? null : view.notes.map(oneLine).join('\n')],
]

const firstAndLast = ({ first, last }: BackfillView): string =>
  first === null || last === null ? '' : `, from ${first} to ${last}`

/** Prints a backfill, with a note if it is only a plan. */
export async function showBackfill(call: CliCall, view: BackfillView): Promise<void> {
  await showOne(call, view, () => backfillFacts(call, view))
  if (view.state === 'planned' && !call.json) await call.print('Dry run: nothing was changed.\n')
}

const BAR_WIDTH = 30

/** The progress bar. */
function progressBarText({ ended, total, eta }: BackfillView, { terminal }: Pick<CliCall, 'terminal'>): string {
  const share = total === 0 ? 1 : Math.min(1, ended / total)
  const full = Math.round(share * BAR_WIDTH)
  const left = eta === null ? '' : `, done ${relativeTimeText(eta, terminal.now())}`
  return `\r\u001b[KBackfilling [${'='.repeat(full)}${' '.repeat(BAR_WIDTH - full)}] ${ended}/${total}${left}`
}

/** Prints the result. Any run that did not succeed makes the exit code 1, for scripts. */
async function showEnded(call: CliCall, view: BackfillView): Promise<ExitCode> {
  await (call.json ? printJson(call, view) : showBackfill(call, view))
  const succeeded = view.counts.success ?? 0
  return view.state === 'done' && succeeded === view.total ? EXIT.ok : EXIT.refused
}

/** A number, or `never`. */
const countOrNever: OptionReader = (text, about) => (text === 'never' ? null : number(text, about))

const BACKFILL_FIELDS = optionsOf(backfillInput, {
  from: { read: pastTime, hint: 'or a duration before now: 7d' },
  to: { read: pastTime },
  stop_on_failures: { flags: '--stop-after <n>', read: countOrNever, hint: 'or never' },
  deliver: { flags: '--keep-results', stands: false, about: 'keep results without delivering them' },
})

/** `escapement schedules backfill`: runs past occurrences. */
export function addBackfill(group: Command, cli: CliContext): void {
  const command = withFields(commandOf(group, 'backfill <id>', 'run past occurrences of a schedule'), BACKFILL_FIELDS)
  const withWaitOption = command.option(
    '--wait',
    'wait until the backfill ends; exit with code 1 unless every run succeeds',
  )
  remote<{ readonly wait?: boolean }>(cli, withWaitOption, {
    names: namesOf(BACKFILL_FIELDS),
    work: async (call, [id = ''], options) => {
      const input = valuesOf(BACKFILL_FIELDS, options, call.now)
      const backfill = await call.client.schedules.backfill(id, input as never)
      if (options.wait === true && backfill.id !== null) return followBackfill(call, backfill.id)
      await showBackfill(call, backfill)
      return EXIT.ok
    },
  })
}

const BACKFILL_POLL_MS = 500

/** Follows a backfill to its end, with a progress bar on a terminal. */
export async function followBackfill(call: CliCall, id: string): Promise<ExitCode> {
  for (;;) {
    const view: BackfillView = await call.client.backfills.get(id)
    if (view.state !== 'running' && view.in_flight === 0) {
      await call.note('\r\u001b[K')
      return showEnded(call, view)
    }
    await call.note(progressBarText(view, call))
    await sleep(BACKFILL_POLL_MS)
  }
}
