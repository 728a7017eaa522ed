import type { ApprovalView } from '../../contract/schedule.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { Approval } from '../../store/schedule-row.ts'

type Fields = Readonly<Record<string, unknown>>

/** What somebody is asked to approve, beside what the schedule has now. */
export function viewApproval(approval: Approval | null, view: object): ApprovalView | null {
  if (approval === null) return null
  const { requestedBy, runId, requestedAt, before, rejected } = approval
  const now = view as Fields
  return {
    requested_by: requestedBy,
    run_id: runId,
    requested_at: formatInstant(requestedAt),
    changes:
      before === null
        ? null
        : Object.fromEntries(
            Object.entries(before).map(([name, was]) => [name, { before: was, after: now[name] ?? null }]),
          ),
    rejected: rejected === null ? null : { by: rejected.by, at: formatInstant(rejected.at), reason: rejected.reason },
  }
}
