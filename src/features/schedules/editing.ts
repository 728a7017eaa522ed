import type { AuditVerb } from '../../domain/access/audit-words.ts'
import { Refusal } from '../../api/refusals.ts'
import type { ScheduleView } from './schema.ts'
import { scheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { loadSchedules, type ScheduleRow, updateScheduleRow } from './store.ts'
import { actorOf, changed } from '../audit/entry.ts'
import { applyBudgetChange } from '../budgets/stored-budget.ts'
import type { Caller } from '../access/caller.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import { endHeld } from '../../engine/commands/held.ts'
import { grantFreeSlots } from '../../engine/commands/runs.ts'
import type { Ports } from '../../engine/ports.ts'
import { requireCurrentAttempt, type RestrictedRequest } from '../access/restrictions.ts'
import { checkEdit, type RestrictedEdit } from './restrictions.ts'
import { saveOwnBudget, ownBudgetTerms, type OwnBudgetResult } from './budget.ts'
import { disabledTargets } from './agent-and-target.ts'
import { addNotes, notesOnSchedule, viewEffectiveSchedule } from './view.ts'
import type { Command } from '../../engine/commands-port.ts'
import type { TransactionReads } from '../../engine/transaction/reads.ts'

/** The refusal for a schedule that does not exist, or that the caller may not see. */
export const scheduleNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no schedule ${id}`)

/** The id of an existing schedule, and the version the caller expects, if any. */
export interface ScheduleRef {
  readonly id: string
  readonly version?: number | undefined
}

type ScheduleEdit = (current: ScheduleRow) => ScheduleRow

/** An edit of a schedule: its event (`word`), its audit verb, and the function that decides it. */
export interface ScheduleEditRequest extends ScheduleRef {
  readonly word: string
  readonly verb: AuditVerb<'schedule'>
  readonly decide: (reads: TransactionReads, row: ScheduleRow, now: Instant) => ScheduleEdit | Promise<ScheduleEdit>
}

interface EditedSchedule {
  readonly disabled: ReadonlySet<string>
  readonly before: ScheduleRow
  readonly after: ScheduleRow
  readonly ownBudget: OwnBudgetResult | null
}

/** Updates a schedule in its own transaction. */
export const editSchedule = (ports: Ports, caller: Caller, request: ScheduleEditRequest): Promise<ScheduleView> =>
  ports.commands.execute(editScheduleCommand(caller, request))

/** The command that updates a schedule. */
export function editScheduleCommand(caller: Caller, request: ScheduleEditRequest): Command<ScheduleView> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now, reads): Promise<EditedSchedule> => {
      const [existing] = await loadSchedules(tx, { orgId, ids: [scheduleId(request.id)] })
      if (existing === undefined) throw scheduleNotFound(request.id)
      if (request.version !== undefined && request.version !== existing.version)
        throw new Refusal('STALE_VERSION', `Schedule ${existing.id} is at version ${existing.version}`, {
          details: { version: existing.version },
        })
      const change = await request.decide(reads, existing, now)
      const wanted = { ...change(existing), updatedAt: now }
      const { restricted } = caller
      const edited =
        restricted === undefined
          ? withoutRejection(wanted)
          : await checkRestrictedEdit({ tx, orgId, restricted, now }, { before: existing, after: wanted })
      await updateScheduleRow(tx, edited)
      const disabled = await disabledTargets(tx, orgId, [existing, edited])
      const ownBudget = await saveOwnBudget(tx, {
        schedule: existing,
        before: ownBudgetTerms(existing),
        after: ownBudgetTerms(edited),
        now,
      })
      return { before: existing, after: { ...edited, version: existing.version + 1 }, disabled, ownBudget }
    },
    apply: (state, prepared) => {
      const { before, after, disabled, ownBudget } = prepared as EditedSchedule
      replaceSchedule(state, after)
      if (ownBudget !== null) applyBudgetChange(state, actorOf(caller), ownBudget)
      const isProposed = after.state === 'pending_approval' && after.approval !== before.approval
      emitScheduleChange(state, after, isProposed ? 'proposed' : request.word)
      const view = (row: ScheduleRow) => viewEffectiveSchedule(row, state.settings.retry, disabled)
      const views = {
        ...{ before: view(before), after: view(after) },
        verb: request.verb,
      }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'schedule', id: after.id }, views))
      return addNotes(views.after, notesOnSchedule(after, after.updatedAt))
    },
  }
}

/** Enabling a rejected schedule withdraws the rejection. */
const withoutRejection = (row: ScheduleRow): ScheduleRow =>
  row.state === 'active' && row.approval !== null ? { ...row, approval: null } : row

async function checkRestrictedEdit(request: RestrictedRequest, change: RestrictedEdit): Promise<ScheduleRow> {
  await requireCurrentAttempt(request)
  return checkEdit(request, change)
}

/** Replaces the schedule in the org state: free slots start its parked runs, and a disabled schedule ends held runs. */
export function replaceSchedule(state: OrgState, edited: ScheduleRow): void {
  if (!state.schedules.has(edited.id)) return
  state.schedules.set(edited.id, edited)
  if (edited.state === 'paused' || edited.state === 'pending_approval') endHeld(state, edited.id, 'schedule.disable')
  grantFreeSlots(state, edited.id)
}

/** The fields of a schedule in an event; `owner` only if it has one. */
const scheduleEventFields = ({ state, owner }: ScheduleRow) => (owner === null ? { state } : { state, owner })

/** Emits an event that the schedule changed. */
export function emitScheduleChange(state: OrgState, row: ScheduleRow, change: string): void {
  state.changes.events.push({
    kind: 'schedule.changed',
    subject: row.id,
    data: { change, ...scheduleEventFields(row) },
  })
}
