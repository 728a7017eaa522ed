import { invalid, Refusal } from '../contract/refusals.ts'
import type { OccurrenceExplanation } from '../contract/schedule.ts'
import { scheduleId, type OrgId, type ScheduleId } from '../core/ids.ts'
import { flawed, parsed, type Parsed } from '../core/input.ts'
import { earlier, formatInstant, instant, parseInstant, type Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import { nextOccurrence } from '../core/time/timing.ts'
import type { Connection } from '../store/database.ts'
import { loadDecisionAt } from '../store/decisions.ts'
import { loadOccurrence } from '../store/occurrences.ts'
import { loadRun } from '../store/run-reads.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { loadSchedules } from '../store/schedules.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'

/** The last moment of the year 9999. */
const LAST_MS = 253_402_300_799_999

/** Reads a moment that a person writes as a text and a program may give as a number of milliseconds. */
export function parseMoment(field: string, value: unknown): Parsed<Instant> {
  if (typeof value !== 'number') return parseInstant(field, value)
  return Number.isInteger(value) && value >= 0 && value <= LAST_MS
    ? parsed(instant(value))
    : flawed({ field, value, message: 'is not a time in milliseconds', allowed: `0 to ${LAST_MS}` })
}

/** What became of a moment of the schedule, or will, and why. */
export async function explainOccurrence(
  ports: Ports,
  { orgId }: Caller,
  asked: { readonly id: string; readonly at: string | number },
): Promise<OccurrenceExplanation> {
  const read = parseMoment('at', asked.at)
  if (!read.ok) throw invalid(read.flaws)
  const at = read.value
  const id = scheduleId(asked.id)
  const [row] = await loadSchedules(ports.database, { orgId, ids: [id] })
  const explained = await explainMoment(ports.database, { orgId, id, at, row: row ?? null, now: ports.clock.now() })
  if (explained === null) throw new Refusal('NOT_FOUND', `There is no schedule ${asked.id}`)
  return explained
}

interface Moment {
  readonly orgId: OrgId
  readonly id: ScheduleId
  readonly at: Instant
  /** Null: the schedule is gone, and only its history is left. */
  readonly row: ScheduleRow | null
  readonly now: Instant
}

/** What is on record about a moment, else what the plan says about it; null when there is no schedule and no record. */
async function explainMoment(connection: Connection, moment: Moment): Promise<OccurrenceExplanation | null> {
  const { orgId, id: scheduleId, at, row } = moment
  const entry = await loadOccurrence(connection, { orgId, scheduleId, nominal: at })
  const run = entry === undefined ? undefined : await loadRun(connection, { orgId, id: entry.runId })
  if (run !== undefined) return explained(at, run.decision, { id: run.id, status: run.state })
  const decision = await loadDecisionAt(connection, { orgId, scheduleId, at })
  const isOccurrence = row === null || nextOccurrence(row.timing, earlier(at, 1)) === at
  if (decision !== undefined && isOccurrence) {
    const { why } = decision
    const range = { first: formatInstant(decision.first), last: formatInstant(decision.last), count: decision.count }
    return explained(at, { ...why, evidence: { ...why.evidence, ...range } }, { id: null, status: 'skipped' })
  }
  if (entry !== undefined) return unrecorded(at, 'retention', { reason: 'pruned', evidence: { run_id: entry.runId } })
  return row === null ? null : explainPlan(row, moment, isOccurrence)
}

const explained = (
  at: Instant,
  { reason, rule, evidence }: Why,
  run: { readonly id: string | null; readonly status: string },
): OccurrenceExplanation => ({ at: formatInstant(at), run_id: run.id, status: run.status, reason, rule, evidence })

const unrecorded = (
  at: Instant,
  rule: string,
  { reason, evidence = {} }: Pick<OccurrenceExplanation, 'reason'> & Partial<OccurrenceExplanation>,
): OccurrenceExplanation => ({ at: formatInstant(at), run_id: null, status: null, reason, rule, evidence })

/** Nothing was decided about the moment: because it is none, because it is to come, or because the schedule was off. */
function explainPlan(row: ScheduleRow, { at, now }: Moment, isOccurrence: boolean): OccurrenceExplanation {
  const state = { state: row.state }
  if (!isOccurrence) return unrecorded(at, 'timing', { reason: 'no_occurrence' })
  if (at < row.createdAt)
    return unrecorded(at, 'created_at', {
      reason: 'before_creation',
      evidence: { created_at: formatInstant(row.createdAt) },
    })
  if (row.state !== 'active') return unrecorded(at, 'state', { reason: 'not_active', evidence: state })
  if (at > row.watermark)
    return unrecorded(at, 'watermark', {
      reason: at > now ? 'not_yet' : 'being_decided',
      evidence: { ...state, watermark: formatInstant(row.watermark) },
    })
  return unrecorded(at, 'state', { reason: 'was_not_active', evidence: state })
}
