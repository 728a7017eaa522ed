import { invalid, Refusal } from '../../api/refusals.ts'
import type { RejectInput, ScheduleView } from '../../contract/schedule.ts'
import type { Approval, ScheduleRow } from '../../store/schedule-row.ts'
import { actorOf } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import { textField } from '../../domain/input-fields.ts'
import type { Ports } from '../ports.ts'
import { edit, type Asked } from '../schedule-editing.ts'
import { approvedStanding } from '../schedule-plan.ts'

/** What waits to be decided about a schedule. Deciding twice is refused: somebody else may have decided otherwise. */
function openIn({ id, state, approval, createdBy, createdAt }: ScheduleRow): Approval {
  if (state !== 'pending_approval')
    throw new Refusal('CONFLICT', `Schedule ${id} does not wait for approval: it is ${state}`, { details: { state } })
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

/** Lets a schedule have its way from now on, exactly as it was seen when a version is named. */
export const approveSchedule = (ports: Ports, caller: Caller, asked: Asked): Promise<ScheduleView> =>
  edit(ports, caller, {
    ...asked,
    ...{ word: 'approved', verb: 'approve' },
    decide: (_reads, row, now) => {
      openIn(row)
      return (current) => ({ ...current, ...approvedStanding(current, now), approval: null })
    },
  })

/** Keeps a schedule from happening, and says why: it stays as it is, switched off. */
export function rejectSchedule(
  ports: Ports,
  caller: Caller,
  { reject, ...asked }: Asked & { readonly reject: RejectInput },
): Promise<ScheduleView> {
  const reason = textField({ min: 1, max: 1_000 })('reason', (reject as Partial<RejectInput>).reason)
  if (!reason.ok) throw invalid(reason.flaws)
  return edit(ports, caller, {
    ...asked,
    ...{ word: 'rejected', verb: 'reject' },
    decide: (_reads, row, now) => {
      const approval = { ...openIn(row), rejected: { by: actorOf(caller), at: now, reason: reason.value } }
      return (current) => ({ ...current, state: 'paused', nextRunAt: null, approval })
    },
  })
}
