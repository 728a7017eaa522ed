import type { ExplainStep, OccurrenceExplanation } from './schema.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { Permission } from '../../domain/access/access.ts'
import { isOccurrence } from '../../domain/explain/plan.ts'
import { policySteps } from '../../domain/explain/steps.ts'
import { type OrgId, scheduleId, type ScheduleId } from '../../domain/ids.ts'
import { formatInstant, instant, type Instant, parseMoment, SECOND_MS } from '../../domain/instant.ts'
import { because, explainWhy, type Reason, type Why } from '../../domain/reasons.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { UTC, type Zone } from '../../core/time/zone.ts'
import { loadBackfilledRuns } from '../backfill/store.ts'
import type { Connection } from '../../store/database.ts'
import { loadAuditsOf } from './store.ts'
import { type DecisionRow, loadDecisionAt, loadOccurrence } from '../schedules/occurrences-store.ts'
import { loadRun } from '../../store/run-reads.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { loadSchedules } from '../../store/schedules.ts'
import type { Caller } from '../../service/caller.ts'
import type { Live } from '../../service/live-port.ts'
import type { Ports } from '../../service/ports.ts'
import { evidenceLinks, linkTo, onlyOnce } from '../../service/explain/links.ts'
import { nextOfSchedule } from '../../service/explain/next.ts'
import { knowRun, paceStep, runSteps, tellRun } from './run.ts'
import { policyOf } from '../../service/explain/tell.ts'
import type { ScheduleAudits } from '../../service/explain/history.ts'
import { whyUnrecorded } from './unrecorded.ts'

/** Who wants to know, what they may see beside it, and what this node knows of pending runs. */
export interface Asker extends Caller {
  readonly may: (permission: Permission) => boolean
  readonly live: Live
}

/** What explanations read with. */
export type Reading = Pick<Ports, 'database' | 'clock' | 'settings'>

/** How many records about a schedule are looked at: whoever switches it more often than that has other questions. */
export const MOST_AUDITS = 50

/** What became of a moment of the schedule, or will, and why. */
export async function explainOccurrence(
  ports: Reading,
  asker: Asker,
  asked: { readonly id: string; readonly at: string | number },
): Promise<OccurrenceExplanation> {
  const read = parseMoment('at', asked.at)
  if (!read.ok) throw invalid(read.flaws)
  return explainMoment(ports, asker, { id: scheduleId(asked.id), at: read.value, zone: UTC })
}

/** A moment of a schedule, and by whose clock it was asked for. */
export interface AskedMoment {
  readonly id: ScheduleId
  readonly at: Instant
  readonly zone: Zone
}

/** What is on record about a moment, else what the plan says about it; refused when there is no schedule and no record. */
export async function explainMoment(ports: Reading, asker: Asker, asked: AskedMoment): Promise<OccurrenceExplanation> {
  const told = await explainPlanned(ports, asker, asked)
  return withBackfills(ports.database, { orgId: asker.orgId, scheduleId: asked.id, nominal: asked.at }, told)
}

async function explainPlanned(
  ports: Reading,
  asker: Asker,
  { id, at, zone }: AskedMoment,
): Promise<OccurrenceExplanation> {
  const { database } = ports
  const { orgId } = asker
  const [row] = await loadSchedules(database, { orgId, ids: [id] })
  const entry = await loadOccurrence(database, { orgId, scheduleId: id, nominal: at })
  const run = entry === undefined ? undefined : await loadRun(database, { orgId, id: entry.runId })
  if (run !== undefined) return tellPlannedRun(await knowRun(ports, run, asker.live), at)
  const told = { id, at, row: row ?? null }
  const decision = await loadDecisionAt(database, { orgId, scheduleId: id, at })
  if (decision !== undefined && (row === undefined || row.pace !== null || isOccurrence(row.timing, at)))
    return tellRange(told, decision)
  if (entry !== undefined)
    return tell(told, because('pruned', 'retention', { run_id: entry.runId }), { status: null, run: entry.runId })
  const audits = asker.may('audit:read')
    ? await loadAuditsOf(database, { orgId, kind: 'schedule', ids: [id], limit: MOST_AUDITS })
    : []
  const why = await whyUnrecorded(ports, { orgId, id, at, zone, row: row ?? null, audits })
  if (why === null) throw new Refusal('NOT_FOUND', `There is no schedule ${id}`)
  return tell(told, why, { status: null, run: null, audits })
}

interface Told {
  readonly id: ScheduleId
  readonly at: Instant
  readonly row: ScheduleRow | null
}

function tellPlannedRun(known: Awaited<ReturnType<typeof knowRun>>, at: Instant): OccurrenceExplanation {
  const { run } = known
  const { reason, rule, evidence } = run.decision
  const { links, next } = tellRun(known)
  return {
    ...{ at: formatInstant(at), run_id: run.id, status: run.state, reason, rule, evidence },
    sentence: explainWhy(run.decision),
    policy: policyOf(run.decision),
    links,
    steps: [...(paceStep(run.decision) === null ? [PLANNED] : []), ...runSteps(known)],
    next,
  }
}

const PLANNED: ExplainStep = { stage: 'plan', name: 'timing', state: 'passed', sentence: null }

/** Of many that were skipped together the record has the first; what it says of that one must not be said of others. */
function tellRange(told: Told, { why, first, last, count }: Omit<DecisionRow, 'orgId'>): OccurrenceExplanation {
  const range = { first: formatInstant(first), last: formatInstant(last), count }
  const one = { ...why, evidence: { ...evidenceAt(why, told.at), ...range } }
  const explanation = tell(told, one, { status: 'skipped', run: null })
  return {
    ...explanation,
    sentence: explainWhy(sayOfRange(one, told.at)),
    steps: [PLANNED, ...policySteps(why)],
  }
}

/** Being late is counted from the moment that is asked about, not from the first of the range. */
function evidenceAt(why: Why, at: Instant): Why['evidence'] {
  const { nominal, late_seconds: late } = why.evidence
  if (why.reason !== 'misfire' || typeof nominal !== 'string' || typeof late !== 'number') return why.evidence
  const seen = Date.parse(nominal) + late * SECOND_MS
  return {
    ...why.evidence,
    ...{ nominal: formatInstant(at), late_seconds: Math.round((seen - at) / SECOND_MS) },
    seen: formatInstant(instant(seen)),
  }
}

/** A misfire is told in full; of the other reasons the evidence is that of the first of the range. */
export function sayOfRange(why: Why, at: Instant): Why {
  const { first, last, count } = why.evidence
  if (why.reason === 'misfire' || count === 1 || first === formatInstant(at)) return why
  return because('folded', why.rule, {
    ...{ count: count ?? 0, first: first ?? '', last: last ?? '', cause: why.reason },
  })
}

interface Outcome {
  readonly status: OccurrenceExplanation['status']
  readonly run: string | null
  readonly audits?: ScheduleAudits
}

function tell({ id, at, row }: Told, why: Why, { status, run, audits = [] }: Outcome): OccurrenceExplanation {
  const { reason, rule, evidence } = why
  return {
    ...{ at: formatInstant(at), run_id: null, status, reason, rule, evidence },
    sentence: explainWhy(why),
    policy: policyOf(why),
    links: onlyOnce([
      ...evidenceLinks(evidence),
      ...(run === null ? [] : [linkTo('run', run)]),
      linkTo('schedule', id),
      ...(audits.length === 0 ? [] : [linkTo('audit', id)]),
    ]),
    steps: planSteps(why),
    next: nextOfSchedule(row, at),
  }
}

/** What the plan is asked before any policy is. */
const PLAN_STEPS = ['schedule', 'timing', 'state', 'moment'] as const
type PlanStep = (typeof PLAN_STEPS)[number]

const PLAN_STEP_OF: Partial<Readonly<Record<Reason, PlanStep>>> = {
  ...{ deleted_by: 'schedule', before_creation: 'schedule' },
  ...{ no_occurrence: 'timing', excluded_date: 'timing', clock_change: 'timing', other_zone: 'timing' },
  ...{ before_start: 'timing', after_end: 'timing', retimed: 'timing', not_at_this_pace: 'timing' },
  ...{ not_active: 'state', was_not_active: 'state', switched_off: 'state', awaits_approval: 'state' },
  ...{ all_fires_made: 'state', given_up: 'state', rule_too_dense: 'state' },
  ...{ not_yet: 'moment', being_decided: 'moment', undecided: 'moment' },
}

function planSteps(why: Why): readonly ExplainStep[] {
  const closed = PLAN_STEP_OF[why.reason]
  if (closed === undefined) return [PLANNED]
  const end = PLAN_STEPS.indexOf(closed)
  const plan = PLAN_STEPS.map((name, index): ExplainStep => ({
    ...{ stage: 'plan', name },
    state: index < end ? 'passed' : index === end ? 'closed' : 'not_reached',
    sentence: index === end ? explainWhy(why) : null,
  }))
  return [...plan, ...policySteps(why).map((step): ExplainStep => ({ ...step, state: 'not_reached' }))]
}

/** More backfills of one moment than these are not told. */
const MOST_TOLD = 5

/** Adds to what the plan made of a moment what backfills made of it. */
async function withBackfills(
  connection: Connection,
  about: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly nominal: Instant },
  told: OccurrenceExplanation,
): Promise<OccurrenceExplanation> {
  const found = await loadBackfilledRuns(connection, { ...about, limit: MOST_TOLD })
  if (found.length === 0) return told
  const steps = found.map(({ backfillId, runId, state, decision }): ExplainStep => ({
    ...{ stage: 'backfill', name: backfillId },
    state: state === 'success' || !isTerminal(state) ? 'passed' : 'closed',
    sentence: `${explainWhy(decision)} Run ${runId} is ${state}.`,
  }))
  const links = found.map(({ runId }) => linkTo('run', runId, 'backfill'))
  return { ...told, steps: [...told.steps, ...steps], links: onlyOnce([...told.links, ...links]) }
}
