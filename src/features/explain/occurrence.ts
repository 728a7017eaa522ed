import type { ExplainStep, OccurrenceExplanation } from './schema.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { Permission } from '../../domain/access/access.ts'
import { isOccurrence } from '../../domain/explain/plan.ts'
import { policySteps } from '../../domain/explain/steps.ts'
import { type OrgId, scheduleId, type ScheduleId } from '../../domain/ids.ts'
import { formatInstant, instant, type Instant, parseTimeOrMs, SECOND_MS } from '../../domain/instant.ts'
import { because, explainWhy, type Reason, type Why } from '../../domain/reasons.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { UTC, type Zone } from '../../domain/time/zone.ts'
import { loadBackfilledRuns } from '../backfill/store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { loadAuditsOf } from './store.ts'
import { type DecisionRow, loadDecisionAt, loadOccurrence } from '../schedules/occurrences-store.ts'
import { loadRun } from '../runs/read-store.ts'
import { loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import type { Caller } from '../access/caller.ts'
import type { LiveRuns } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { evidenceLinks, linkTo, uniqueLinks, explainPolicyOf, type ScheduleAudits } from './evidence.ts'
import { nextOfSchedule } from './next.ts'
import { loadExplainedRun, paceStep, runSteps, buildRunExplanation } from './run.ts'
import { whyUnrecorded } from './unrecorded.ts'

/** The caller of an explanation: its permissions, and this node's live data about pending runs. */
export interface ExplainCaller extends Caller {
  readonly may: (permission: Permission) => boolean
  readonly live: LiveRuns
}

/** The ports that explanations read from. */
export type ExplainPorts = Pick<Ports, 'database' | 'clock' | 'settings'>

/** Bounds the audit entries that are searched per schedule. */
export const MAX_AUDITS = 50

/** Explains a past or future occurrence of a schedule. */
export async function explainOccurrence(
  ports: ExplainPorts,
  caller: ExplainCaller,
  question: { readonly id: string; readonly at: string | number },
): Promise<OccurrenceExplanation> {
  const read = parseTimeOrMs('at', question.at)
  if (!read.ok) throw invalid(read.flaws)
  return explainOccurrenceAt(ports, caller, { id: scheduleId(question.id), at: read.value, zone: UTC })
}

/** An occurrence of a schedule, and the time zone of the question. */
export interface OccurrenceQuestion {
  readonly id: ScheduleId
  readonly at: Instant
  readonly zone: Zone
}

/** Explains an occurrence from its record, else from the plan. Refuses if there is neither a schedule nor a record. */
export async function explainOccurrenceAt(
  ports: ExplainPorts,
  caller: ExplainCaller,
  question: OccurrenceQuestion,
): Promise<OccurrenceExplanation> {
  const occurrence = await explainFromRecords(ports, caller, question)
  return withBackfills(
    ports.database,
    { orgId: caller.orgId, scheduleId: question.id, nominal: question.at },
    occurrence,
  )
}

async function explainFromRecords(
  ports: ExplainPorts,
  caller: ExplainCaller,
  { id, at, zone }: OccurrenceQuestion,
): Promise<OccurrenceExplanation> {
  const { database } = ports
  const { orgId } = caller
  const [row] = await loadSchedules(database, { orgId, ids: [id] })
  const entry = await loadOccurrence(database, { orgId, scheduleId: id, nominal: at })
  const run = entry === undefined ? undefined : await loadRun(database, { orgId, id: entry.runId })
  if (run !== undefined) return explainPlannedRun(await loadExplainedRun(ports, run, caller.live), at)
  const occurrence = { id, at, row: row ?? null }
  const decision = await loadDecisionAt(database, { orgId, scheduleId: id, at })
  if (decision !== undefined && (row === undefined || row.pace !== null || isOccurrence(row.timing, at)))
    return explainRange(occurrence, decision)
  if (entry !== undefined)
    return buildExplanation(occurrence, because('pruned', 'retention', { run_id: entry.runId }), {
      status: null,
      run: entry.runId,
    })
  const audits = caller.may('audit:read')
    ? await loadAuditsOf(database, { orgId, kind: 'schedule', ids: [id], limit: MAX_AUDITS })
    : []
  const why = await whyUnrecorded(ports, { orgId, id, at, zone, row: row ?? null, audits })
  if (why === null) throw new Refusal('NOT_FOUND', `There is no schedule ${id}`)
  return buildExplanation(occurrence, why, { status: null, run: null, audits })
}

interface OccurrenceSubject {
  readonly id: ScheduleId
  readonly at: Instant
  readonly row: ScheduleRow | null
}

function explainPlannedRun(facts: Awaited<ReturnType<typeof loadExplainedRun>>, at: Instant): OccurrenceExplanation {
  const { run } = facts
  const { reason, rule, evidence } = run.decision
  const { links, next } = buildRunExplanation(facts)
  return {
    ...{ at: formatInstant(at), run_id: run.id, status: run.state, reason, rule, evidence },
    sentence: explainWhy(run.decision),
    policy: explainPolicyOf(run.decision),
    links,
    steps: [...(paceStep(run.decision) === null ? [PLAN_PASSED_STEP] : []), ...runSteps(facts)],
    next,
  }
}

const PLAN_PASSED_STEP: ExplainStep = { stage: 'plan', name: 'timing', state: 'passed', sentence: null }

/** Explains one occurrence of a skipped range, whose record has the evidence of the first occurrence only. */
function explainRange(
  occurrence: OccurrenceSubject,
  { why, first, last, count }: Omit<DecisionRow, 'orgId'>,
): OccurrenceExplanation {
  const range = { first: formatInstant(first), last: formatInstant(last), count }
  const one = { ...why, evidence: { ...evidenceAt(why, occurrence.at), ...range } }
  const explanation = buildExplanation(occurrence, one, { status: 'skipped', run: null })
  return {
    ...explanation,
    sentence: explainWhy(rangeReason(one, occurrence.at)),
    steps: [PLAN_PASSED_STEP, ...policySteps(why)],
  }
}

/** Computes the lateness for the requested occurrence instead of the first one of the range. */
function evidenceAt(why: Why, at: Instant): Why['evidence'] {
  const { nominal, late_seconds: late } = why.evidence
  if (why.reason !== 'misfire' || typeof nominal !== 'string' || typeof late !== 'number') return why.evidence
  const decidedAt = Date.parse(nominal) + late * SECOND_MS
  return {
    ...why.evidence,
    ...{ nominal: formatInstant(at), late_seconds: Math.round((decidedAt - at) / SECOND_MS) },
    seen: formatInstant(instant(decidedAt)),
  }
}

/** Keeps the full evidence of a misfire. For other reasons it belongs to the first occurrence of the range. */
export function rangeReason(why: Why, at: Instant): Why {
  const { first, last, count } = why.evidence
  if (why.reason === 'misfire' || count === 1 || first === formatInstant(at)) return why
  return because('folded', why.rule, {
    ...{ count: count ?? 0, first: first ?? '', last: last ?? '', cause: why.reason },
  })
}

interface OccurrenceOutcome {
  readonly status: OccurrenceExplanation['status']
  readonly run: string | null
  readonly audits?: ScheduleAudits
}

function buildExplanation(
  { id, at, row }: OccurrenceSubject,
  why: Why,
  { status, run, audits = [] }: OccurrenceOutcome,
): OccurrenceExplanation {
  const { reason, rule, evidence } = why
  return {
    ...{ at: formatInstant(at), run_id: null, status, reason, rule, evidence },
    sentence: explainWhy(why),
    policy: explainPolicyOf(why),
    links: uniqueLinks([
      ...evidenceLinks(evidence),
      ...(run === null ? [] : [linkTo('run', run)]),
      linkTo('schedule', id),
      ...(audits.length === 0 ? [] : [linkTo('audit', id)]),
    ]),
    steps: planSteps(why),
    next: nextOfSchedule(row, at),
  }
}

/** The checks of the plan, which come before the policies. */
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
  if (closed === undefined) return [PLAN_PASSED_STEP]
  const end = PLAN_STEPS.indexOf(closed)
  const plan = PLAN_STEPS.map((name, index): ExplainStep => ({
    ...{ stage: 'plan', name },
    state: index < end ? 'passed' : index === end ? 'closed' : 'not_reached',
    sentence: index === end ? explainWhy(why) : null,
  }))
  return [...plan, ...policySteps(why).map((step): ExplainStep => ({ ...step, state: 'not_reached' }))]
}

/** How many backfills of one occurrence are listed. */
const MAX_LISTED_BACKFILLS = 5

/** Adds the backfilled runs of an occurrence to its explanation. */
async function withBackfills(
  connection: Connection,
  about: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly nominal: Instant },
  occurrence: OccurrenceExplanation,
): Promise<OccurrenceExplanation> {
  const found = await loadBackfilledRuns(connection, { ...about, limit: MAX_LISTED_BACKFILLS })
  if (found.length === 0) return occurrence
  const steps = found.map(({ backfillId, runId, state, decision }): ExplainStep => ({
    ...{ stage: 'backfill', name: backfillId },
    state: state === 'success' || !isTerminal(state) ? 'passed' : 'closed',
    sentence: `${explainWhy(decision)} Run ${runId} is ${state}.`,
  }))
  const links = found.map(({ runId }) => linkTo('run', runId, 'backfill'))
  return { ...occurrence, steps: [...occurrence.steps, ...steps], links: uniqueLinks([...occurrence.links, ...links]) }
}
