import type { Instant } from '../../core/instant.ts'
import type { Railed } from '../../core/rails/railed.ts'
import type { Approval, ScheduleRow } from '../../store/schedule-row.ts'
import { viewSchedule } from '../schedule-view.ts'

/** What may change without anybody's leave: how it is called, and whether it rests. What merely follows is no change. */
const UNASKED: ReadonlySet<string> = new Set([
  ...[
    'name',
    'description',
    'sentence',
    'state',
    'enabled',
    'next_run_at',
    'updated_at',
    'version',
    'approval',
    'notes',
    'note_codes',
  ],
  ...['delivery_disabled', 'alerts'],
])

type Fields = Readonly<Record<string, unknown>>

function changedFields(was: Fields, is: Fields): Fields {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => !UNASKED.has(name) && JSON.stringify(was[name]) !== JSON.stringify(is[name]),
  )
  return Object.fromEntries(names.map((name) => [name, was[name] ?? null]))
}

/** A schedule as somebody wants it who has to ask: it waits, and what it was is kept for whoever decides. */
export function proposalOf(
  { attempt, owner }: Railed,
  { before, after }: { readonly before: ScheduleRow | null; readonly after: ScheduleRow },
  now: Instant,
): ScheduleRow {
  const was = before === null ? null : changedFields({ ...viewSchedule(before) }, { ...viewSchedule(after) })
  if (was !== null && Object.keys(was).length === 0) return after
  const open = before?.approval ?? null
  const isOpen = before?.state === 'pending_approval' && open !== null
  const approval: Approval = {
    requestedBy: attempt === null ? owner : `attempt:${attempt.id}`,
    runId: attempt?.runId ?? null,
    requestedAt: now,
    // What is proposed on top of a proposal is one proposal: it is compared with what was last approved.
    before: isOpen ? (open.before === null ? null : { ...was, ...open.before }) : was,
    rests: isOpen ? open.rests : (before ?? after).state === 'paused',
    rejected: null,
  }
  return { ...after, state: 'pending_approval', nextRunAt: null, approval }
}
