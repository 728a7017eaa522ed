import { pacedOf, paceInterval, plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { isOccurrence, whyNoOccurrence } from '../../domain/explain/plan.ts'
import type { OrgId, ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { tooDense } from '../../domain/schedule/lifecycle.ts'
import type { Zone } from '../../domain/time/zone.ts'
import { loadOldestRunAt } from './store.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import type { Ports } from '../../engine/ports.ts'
import { whyDeleted, whyDisabled, whyRetimed, type ScheduleAudits } from './evidence.ts'

/** A time without a record, and the data about its schedule. */
export interface UnrecordedTime {
  readonly orgId: OrgId
  readonly id: ScheduleId
  readonly at: Instant
  /** The time zone of the question. */
  readonly zone: Zone
  /** Null: the schedule was deleted. */
  readonly row: ScheduleRow | null
  /** Audit entries of the schedule, newest first; empty if the caller may not read them. */
  readonly audits: ScheduleAudits
}

type UnrecordedPorts = Pick<Ports, 'database' | 'clock' | 'settings'>

/** Why there is no record: no such occurrence, not due yet, schedule inactive then, or record deleted by retention. */
export async function whyUnrecorded(ports: UnrecordedPorts, unrecorded: UnrecordedTime): Promise<Why | null> {
  const { row, at, audits } = unrecorded
  if (row === null) return whyDeleted(audits)
  const plan = whyByPlan(row, unrecorded, ports.clock.now())
  if (plan !== null) return plan
  return (
    whyDisabled(audits, at) ??
    (await whyPruned(ports, unrecorded)) ??
    because('was_not_active', 'state', stateEvidence(row))
  )
}

const stateEvidence = ({ state }: ScheduleRow): { readonly state: string } => ({ state })

/** The reason as far as the schedule row alone gives it; null: it does not. */
export function whyByPlan(
  row: ScheduleRow,
  { at, audits, zone }: Pick<UnrecordedTime, 'at' | 'audits' | 'zone'>,
  now: Instant,
): Why | null {
  const timing = plannedTiming(row)
  if (tooDense(timing) !== null) return whyFailed(row)
  if (!isOccurrence(timing, at))
    return whyRetimed(audits, at) ?? whyNotAtPace(row, at) ?? whyNoOccurrence(timing, at, zone)
  if (at === row.createdAt) return because('no_occurrence', 'timing', { at: formatInstant(at) })
  if (at < row.createdAt) return because('before_creation', 'created_at', { created_at: formatInstant(row.createdAt) })
  if (row.state !== 'active') return whyNotActive(row, { at, audits, now })
  return at > row.watermark ? whyUndecided(row, at, now) : null
}

/** The reason for a time that another pace would have reached; null: no cadence, or no next run. */
function whyNotAtPace(row: ScheduleRow, at: Instant): Why | null {
  const timing = pacedOf(row.timing)
  const { pace, nextRunAt } = row
  if (timing === null || pace === null || nextRunAt === null || at <= row.createdAt) return null
  const seconds = paceInterval(timing, pace.level) / SECOND_MS
  return because('not_at_this_pace', 'cadence', {
    ...{ ...pace.why.evidence, pace: pace.why.reason },
    ...{ interval_seconds: seconds, next: formatInstant(nextRunAt), at: formatInstant(at) },
  })
}

/** Why a schedule has failed. */
export function whyFailed(row: ScheduleRow): Why {
  const problem = tooDense(row.timing)
  return problem === null
    ? because('given_up', 'state', { ...stateEvidence(row), error: row.lastError })
    : because('rule_too_dense', 'timing', { ...stateEvidence(row), problem })
}

function whyNotActive(
  row: ScheduleRow,
  { at, audits, now }: { readonly at: Instant; readonly audits: ScheduleAudits; readonly now: Instant },
): Why | null {
  const { maxFires } = row.rules
  switch (row.state) {
    case 'pending_approval':
      return because('awaits_approval', 'approval', stateEvidence(row))
    case 'failed':
      return whyFailed(row)
    case 'finished':
      return maxFires !== null && row.fires >= maxFires
        ? because('all_fires_made', 'max_fires', { max_fires: maxFires, ...stateEvidence(row) })
        : because('not_active', 'state', stateEvidence(row))
    case 'active':
    case 'paused':
      if (at > now) return because('not_active', 'state', stateEvidence(row))
      return whyDisabled(audits, at) ?? because('not_active', 'state', stateEvidence(row))
  }
}

/** Up to this delay an undecided occurrence is normal; after it, it is reported as undecided. */
const DECISION_GRACE_MS = 60 * SECOND_MS

function whyUndecided({ watermark, state }: ScheduleRow, at: Instant, now: Instant): Why {
  const evidence = { at: formatInstant(at), state, watermark: formatInstant(watermark) }
  if (at > now) return because('not_yet', 'watermark', evidence)
  if (now - at <= DECISION_GRACE_MS) return because('being_decided', 'watermark', evidence)
  return because('undecided', 'watermark', { ...evidence, late_seconds: Math.round((now - at) / SECOND_MS) })
}

/** The reason for a time before the oldest stored run, once retention has passed; null: records would still exist. */
async function whyPruned(
  { database, clock, settings }: UnrecordedPorts,
  unrecorded: UnrecordedTime,
): Promise<Why | null> {
  const { runDays } = settings().retention
  const { orgId, id, at } = unrecorded
  if (runDays === null || at > earlier(clock.now(), runDays * DAY_MS)) return null
  const oldest = await loadOldestRunAt(database, { orgId, scheduleId: id })
  if (oldest !== null && oldest <= at) return null
  return because('not_kept', 'retention', { at: formatInstant(at), kept: `${runDays} days`, run_days: runDays })
}
