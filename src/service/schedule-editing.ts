import type { AuditVerb } from '../domain/access/audit-words.ts'
import { Refusal } from '../api/refusals.ts'
import type { ScheduleView } from '../contract/schedule.ts'
import { scheduleId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { loadSchedules, updateSchedule } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { actorOf, changed } from '../features/audit/entry.ts'
import { applyKept } from './kept-budget.ts'
import type { Caller } from './caller.ts'
import type { Desk } from './desk/desk.ts'
import { endHeld } from './desk/held.ts'
import { grant } from './desk/runs.ts'
import type { Ports } from './ports.ts'
import { requireCurrent, type AtWork } from './rails/making.ts'
import { judgeEdit, type RailedEdit } from './rails/schedules.ts'
import { keepOwnBudget, termsIn, type KeptOwn } from './schedule-budget.ts'
import { disabledTargets } from './schedule-delivery.ts'
import { noted, notesOn } from './schedule-notes.ts'
import { viewInForce } from './schedule-view.ts'
import type { Work } from './turn-port.ts'
import type { TurnReads } from './turn/turn-reads.ts'

/** The refusal for a schedule that is not there, or not for whoever asks. */
export const noSchedule = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no schedule ${id}`)

/** What is asked of a schedule that exists, and of which version if that matters. */
export interface Asked {
  readonly id: string
  readonly version?: number | undefined
}

type Edit = (current: ScheduleRow) => ScheduleRow

/** What is to be done to a schedule, in the words of events and of the audit. */
export interface Editing extends Asked {
  readonly word: string
  readonly verb: AuditVerb<'schedule'>
  readonly decide: (reads: TurnReads, row: ScheduleRow, now: Instant) => Edit | Promise<Edit>
}

interface Edited {
  readonly disabled: ReadonlySet<string>
  readonly before: ScheduleRow
  readonly after: ScheduleRow
  readonly own: KeptOwn | null
}

/** Changes a schedule in a turn of its own. */
export const edit = (ports: Ports, caller: Caller, editing: Editing): Promise<ScheduleView> =>
  ports.turns.take(editWork(caller, editing))

/** The work of changing a schedule. */
export function editWork(caller: Caller, editing: Editing): Work<ScheduleView> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now, reads): Promise<Edited> => {
      const [found] = await loadSchedules(tx, { orgId, ids: [scheduleId(editing.id)] })
      if (found === undefined) throw noSchedule(editing.id)
      if (editing.version !== undefined && editing.version !== found.version)
        throw new Refusal('STALE_VERSION', `Schedule ${found.id} is at version ${found.version}`, {
          details: { version: found.version },
        })
      const change = await editing.decide(reads, found, now)
      const wanted = { ...change(found), updatedAt: now }
      const { railed } = caller
      const edited =
        railed === undefined
          ? unrejected(wanted)
          : await asRailed({ tx, orgId, railed, now }, { before: found, after: wanted })
      await updateSchedule(tx, edited)
      const disabled = await disabledTargets(tx, orgId, [found, edited])
      const own = await keepOwnBudget(tx, { schedule: found, before: termsIn(found), after: termsIn(edited), now })
      return { before: found, after: { ...edited, version: found.version + 1 }, disabled, own }
    },
    apply: (desk, prepared) => {
      const { before, after, disabled, own } = prepared as Edited
      replaceSchedule(desk, after)
      if (own !== null) applyKept(desk, actorOf(caller), own)
      const isProposed = after.state === 'pending_approval' && after.approval !== before.approval
      tell(desk, after, isProposed ? 'proposed' : editing.word)
      const view = (row: ScheduleRow) => viewInForce(row, desk.settings.retry, disabled)
      const views = {
        ...{ before: view(before), after: view(after) },
        verb: editing.verb,
      }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'schedule', id: after.id }, views))
      return noted(views.after, notesOn(after, after.updatedAt))
    },
  }
}

/** Who switches on what was rejected has changed their mind about it. */
const unrejected = (row: ScheduleRow): ScheduleRow =>
  row.state === 'active' && row.approval !== null ? { ...row, approval: null } : row

async function asRailed(at: AtWork, change: RailedEdit): Promise<ScheduleRow> {
  await requireCurrent(at)
  return judgeEdit(at, change)
}

/** What is remembered of the schedule becomes what it is now; more room lets parked runs go on, and off ends held ones. */
export function replaceSchedule(desk: Desk, edited: ScheduleRow): void {
  if (!desk.schedules.has(edited.id)) return
  desk.schedules.set(edited.id, edited)
  if (edited.state === 'paused' || edited.state === 'pending_approval') endHeld(desk, edited.id, 'schedule.disable')
  grant(desk, edited.id)
}

/** What an event says of a schedule; whose it is, only where it is somebody's. */
const standingOf = ({ state, owner }: ScheduleRow) => (owner === null ? { state } : { state, owner })

/** Tells whoever watches that a schedule was changed. */
export function tell(desk: Desk, row: ScheduleRow, change: string): void {
  desk.changes.events.push({ kind: 'schedule.changed', subject: row.id, data: { change, ...standingOf(row) } })
}
