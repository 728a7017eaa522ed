import type { BackfillView } from '../../features/backfill/schema.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { oneLine } from '../output/text.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import { printJson, showOne, type Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'
import { EXIT, type ExitCode } from '../terminal.ts'

/** Backfills as a table. */
export const backfillColumns = ({ now, style }: Talk): readonly Column<BackfillView>[] => [
  { title: 'ID', of: ({ id }) => id ?? '-' },
  { title: 'SCHEDULE', of: ({ schedule_id: id }) => id, flexible: true },
  { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
  { title: 'DONE', of: ({ ended, total }) => `${ended}/${total}`, right: true },
  { title: 'WHICH', of: ({ which }) => which },
  { title: 'FROM', of: ({ from }) => from },
  { title: 'TO', of: ({ to }) => to },
  { title: 'STARTED', of: ({ created_at: at }) => agoText(at, now) },
]

const named = (counts: object): string | null => {
  const told = Object.entries(counts as Readonly<Record<string, number>>).filter(([, count]) => count > 0)
  return told.length === 0 ? null : told.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ')
}

const paceOf = ({ max_active: most, spacing_ms: spacing, order, policy, lane }: BackfillView): string =>
  [
    `${most} at a time`,
    ...(spacing === 0 ? [] : [`${lengthText(spacing)} apart`]),
    `${order} first`,
    policy === 'wait' ? "after the schedule's own runs" : "beside the schedule's own runs",
    ...(lane === null ? [] : [`in lane ${lane}`]),
  ].join(', ')

/** What it would take, as far as that is known. */
function expectedOf({ expected }: BackfillView): string | null {
  const { duration_ms: duration, tokens, cost } = expected
  const told = [
    ...(duration === null ? [] : [lengthText(duration)]),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(cost === null ? [] : [`${cost} in money`]),
  ]
  return told.length === 0 ? null : `about ${told.join(', ')}`
}

function progressOf(view: BackfillView, { terminal }: Talk): Facts {
  if (view.state === 'planned') return [['expected', expectedOf(view)]]
  const pace = view.runs_per_minute === null ? '' : `, ${view.runs_per_minute} a minute`
  return [
    ['done', `${view.ended} of ${view.total}${pace}`],
    ['under way', view.in_flight === 0 ? null : view.run_ids.join(', ')],
    ['ended', named(view.counts)],
    ['over', view.eta === null ? null : momentText(view.eta, terminal.now())],
    ['started', `${momentText(view.created_at, terminal.now()) ?? ''} by ${view.created_by}`],
    ['finished', momentText(view.finished_at, terminal.now())],
  ]
}

/** One backfill with what matters of it. */
const backfillFacts = (talk: Talk, view: BackfillView): Facts => [
  ['id', view.id],
  ['schedule', view.schedule_id],
  ['state', paintState(talk.style, view.state)],
  ['why', view.sentence],
  ['range', `${view.from} to ${view.to}`],
  ['takes', `${view.total} ${view.which === 'all' ? 'moments' : `${view.which} moments`}${firstAndLast(view)}`],
  ['leaves out', named(view.left_out)],
  ['pace', paceOf(view)],
  ...progressOf(view, talk),
  ['notes', view.notes.length === 0 ? null : view.notes.map(oneLine).join('\n')],
]

const firstAndLast = ({ first, last }: BackfillView): string =>
  first === null || last === null ? '' : `, from ${first} to ${last}`

/** Shows a backfill; for a plan it says that it is one. */
export async function showBackfill(talk: Talk, view: BackfillView): Promise<void> {
  await showOne(talk, view, () => backfillFacts(talk, view))
  if (view.state === 'planned' && !talk.json) await talk.print('This is a plan: nothing was changed.\n')
}

const BAR_WIDTH = 30

/** How far it is, for a person who waits. */
export function barOf({ ended, total, eta }: BackfillView, { terminal }: Pick<Talk, 'terminal'>): string {
  const share = total === 0 ? 1 : Math.min(1, ended / total)
  const full = Math.round(share * BAR_WIDTH)
  const left = eta === null ? '' : `, over ${agoText(eta, terminal.now())}`
  return `\r\u001b[KBackfilling [${'='.repeat(full)}${' '.repeat(BAR_WIDTH - full)}] ${ended}/${total}${left}`
}

/** Shows how it ended. Whatever did not succeed makes the exit code 1, so that a script notices. */
export async function showEnded(talk: Talk, view: BackfillView): Promise<ExitCode> {
  await (talk.json ? printJson(talk, view) : showBackfill(talk, view))
  const succeeded = view.counts.success ?? 0
  return view.state === 'done' && succeeded === view.total ? EXIT.ok : EXIT.refused
}
