import { pacedOf, paceInterval, plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { isOccurrence, whyNoOccurrence } from '../../domain/explain/plan.ts'
import type { OrgId, ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { tooDense } from '../../domain/schedule/lifecycle.ts'
import type { Zone } from '../../core/time/zone.ts'
import { loadOldestRunAt } from './store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { Ports } from '../../service/ports.ts'
import { whyDeleted, whyOff, whyRetimed, type ScheduleAudits } from '../../service/explain/history.ts'

/** A moment about which nothing is on record, and what is known of its schedule. */
export interface UnrecordedMoment {
  readonly orgId: OrgId
  readonly id: ScheduleId
  readonly at: Instant
  /** By whose clock it was asked for. */
  readonly zone: Zone
  /** Null: the schedule is gone. */
  readonly row: ScheduleRow | null
  /** What was done to the schedule, newest first; empty for whoever may not see it. */
  readonly audits: ScheduleAudits
}

type Reading = Pick<Ports, 'database' | 'clock' | 'settings'>

/** Why there is no record: the plan has no such moment, it is to come, the schedule was off, or it is too long ago. */
export async function whyUnrecorded(ports: Reading, moment: UnrecordedMoment): Promise<Why | null> {
  const { row, at, audits } = moment
  if (row === null) return whyDeleted(audits)
  const plan = whyByPlan(row, moment, ports.clock.now())
  if (plan !== null) return plan
  return whyOff(audits, at) ?? (await whyNotKept(ports, moment)) ?? because('was_not_active', 'state', stateOf(row))
}

const stateOf = ({ state }: ScheduleRow): { readonly state: string } => ({ state })

/** As far as the schedule itself says it, without a look at anything else; null when it does not. */
export function whyByPlan(
  row: ScheduleRow,
  { at, audits, zone }: Pick<UnrecordedMoment, 'at' | 'audits' | 'zone'>,
  now: Instant,
): Why | null {
  const timing = plannedTiming(row)
  if (tooDense(timing) !== null) return whyFailed(row)
  if (!isOccurrence(timing, at))
    return whyRetimed(audits, at) ?? whyPassedOver(row, at) ?? whyNoOccurrence(timing, at, zone)
  if (at === row.createdAt) return because('no_occurrence', 'timing', { at: formatInstant(at) })
  if (at < row.createdAt) return because('before_creation', 'created_at', { created_at: formatInstant(row.createdAt) })
  if (row.state !== 'active') return whyNotActive(row, { at, audits, now })
  return at > row.watermark ? whyUndecided(row, at, now) : null
}

/** A moment at which it would have come at another pace; null: its interval does not move, or its limits rule it out. */
function whyPassedOver(row: ScheduleRow, at: Instant): Why | null {
  const timing = pacedOf(row.timing)
  const { pace, nextRunAt } = row
  if (timing === null || pace === null || nextRunAt === null || at <= row.createdAt) return null
  const seconds = paceInterval(timing, pace.level) / SECOND_MS
  return because('not_at_this_pace', 'cadence', {
    ...{ ...pace.why.evidence, pace: pace.why.reason },
    ...{ interval_seconds: seconds, next: formatInstant(nextRunAt), at: formatInstant(at) },
  })
}

/** Why a schedule fires no more. */
export function whyFailed(row: ScheduleRow): Why {
  const problem = tooDense(row.timing)
  return problem === null
    ? because('given_up', 'state', { ...stateOf(row), error: row.lastError })
    : because('rule_too_dense', 'timing', { ...stateOf(row), problem })
}

function whyNotActive(
  row: ScheduleRow,
  { at, audits, now }: { readonly at: Instant; readonly audits: ScheduleAudits; readonly now: Instant },
): Why | null {
  const { maxFires } = row.rules
  switch (row.state) {
    case 'pending_approval':
      return because('awaits_approval', 'approval', stateOf(row))
    case 'failed':
      return whyFailed(row)
    case 'finished':
      return maxFires !== null && row.fires >= maxFires
        ? because('all_fires_made', 'max_fires', { max_fires: maxFires, ...stateOf(row) })
        : because('not_active', 'state', stateOf(row))
    case 'active':
    case 'paused':
      if (at > now) return because('not_active', 'state', stateOf(row))
      return whyOff(audits, at) ?? because('not_active', 'state', stateOf(row))
  }
}

/** A look that takes a moment is none to speak of; what nobody has looked at for longer is a question of its own. */
const SOON_MS = 60 * SECOND_MS

function whyUndecided({ watermark, state }: ScheduleRow, at: Instant, now: Instant): Why {
  const evidence = { at: formatInstant(at), state, watermark: formatInstant(watermark) }
  if (at > now) return because('not_yet', 'watermark', evidence)
  if (now - at <= SOON_MS) return because('being_decided', 'watermark', evidence)
  return because('undecided', 'watermark', { ...evidence, late_seconds: Math.round((now - at) / SECOND_MS) })
}

/** Nothing is left of what was before the oldest run that is kept, when that is as long ago as runs are kept. */
async function whyNotKept({ database, clock, settings }: Reading, moment: UnrecordedMoment): Promise<Why | null> {
  const { runDays } = settings().retention
  const { orgId, id, at } = moment
  if (runDays === null || at > earlier(clock.now(), runDays * DAY_MS)) return null
  const oldest = await loadOldestRunAt(database, { orgId, scheduleId: id })
  if (oldest !== null && oldest <= at) return null
  return because('not_kept', 'retention', { at: formatInstant(at), kept: `${runDays} days`, run_days: runDays })
}
