import { invalid, Refusal } from '../../api/refusals.ts'
import type { RejectInput, ScheduleView } from './schema.ts'
import type { Approval, ScheduleRow } from './store.ts'
import { actorOf } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import { textField } from '../../domain/input-fields.ts'
import type { Ports } from '../../engine/ports.ts'
import { editSchedule, type ScheduleRef } from './editing.ts'
import { approvedPlanState } from './next-run.ts'

/** The open approval of a schedule. A second decision is refused, because another user may have decided differently. */
function openApprovalOf({ id, state, approval, createdBy, createdAt }: ScheduleRow): Approval {
  if (state !== 'pending_approval')
    throw new Refusal('CONFLICT', `Schedule ${id} is not pending approval: it is ${state}`, { details: { state } })
  if (approval !== null) return approval
  return {
    requestedBy: createdBy ?? '',
    runId: null,
    requestedAt: createdAt,
    before: null,
    rests: false,
    rejected: null,
  }
}

/** Approves a proposed schedule; if a version is given, only that version. */
export const approveSchedule = (ports: Ports, caller: Caller, request: ScheduleRef): Promise<ScheduleView> =>
  editSchedule(ports, caller, {
    ...request,
    ...{ word: 'approved', verb: 'approve' },
    decide: (_reads, row, now) => {
      openApprovalOf(row)
      return (current) => ({ ...current, ...approvedPlanState(current, now), approval: null })
    },
  })

/** Rejects a proposed schedule with a reason. The schedule stays, disabled. */
export function rejectSchedule(
  ports: Ports,
  caller: Caller,
  { reject, ...request }: ScheduleRef & { readonly reject: RejectInput },
): Promise<ScheduleView> {
  const reason = textField({ min: 1, max: 1_000 })('reason', (reject as Partial<RejectInput>).reason)
  if (!reason.ok) throw invalid(reason.flaws)
  return editSchedule(ports, caller, {
    ...request,
    ...{ word: 'rejected', verb: 'reject' },
    decide: (_reads, row, now) => {
      const approval = { ...openApprovalOf(row), rejected: { by: actorOf(caller), at: now, reason: reason.value } }
      return (current) => ({ ...current, state: 'paused', nextRunAt: null, approval })
    },
  })
}
