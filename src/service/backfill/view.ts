import type { BackfillView } from '../../contract/backfill.ts'
import { throughputOf } from '../../core/backfill/pace.ts'
import { formatInstant, type Instant } from '../../core/instant.ts'
import { explainWhy } from '../../core/reasons.ts'
import type { BackfillRow } from '../../store/backfills.ts'
import { momentOrNull } from '../schedule-view.ts'

/** A backfill as every surface shows it. */
export function viewBackfill(row: BackfillRow, now: Instant): BackfillView {
  const { terms, outlook, why, inFlight } = row
  const ended = Object.values(row.counts).reduce((sum, count) => sum + count, 0)
  const left = row.state === 'running' ? row.total - ended : 0
  const pace = throughputOf({ ended, left, since: row.createdAt }, row.finishedAt ?? now)
  return {
    ...{ id: row.id, org_id: row.orgId, schedule_id: row.scheduleId, state: row.state },
    ...{ why, sentence: why === null ? null : explainWhy(why) },
    ...{ from: formatInstant(terms.from), to: formatInstant(terms.to) },
    ...{ which: terms.which, order: terms.order, policy: terms.policy, max_active: terms.maxActive },
    ...{
      spacing_ms: terms.spacingMs,
      lane: terms.lane,
      stop_on_failures: terms.stopOnFailures,
      deliver: terms.deliver,
    },
    ...{ total: row.total, first: momentOrNull(outlook.first), last: momentOrNull(outlook.last) },
    left_out: outlook.leftOut,
    ...{ ended, in_flight: inFlight.length, remaining: row.total - row.taken, counts: row.counts, run_ids: inFlight },
    runs_per_minute: pace.perMinute,
    eta: row.state === 'running' ? momentOrNull(pace.eta) : null,
    expected: {
      ...{ at_once: outlook.atOnce, duration_ms: outlook.durationMs, tokens: outlook.tokens, cost: outlook.cost },
    },
    notes: outlook.notes,
    ...{ created_by: row.createdBy, created_at: formatInstant(row.createdAt) },
    finished_at: momentOrNull(row.finishedAt),
  }
}

/** One that was only asked about. */
export const viewPlanned = (row: Omit<BackfillRow, 'id'>, now: Instant): BackfillView => ({
  ...viewBackfill({ ...row, id: '' }, now),
  ...{ id: null, state: 'planned', why: null, sentence: null, finished_at: null },
})
