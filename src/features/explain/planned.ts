import type { ExplainFinding } from './schema.ts'
import { addAll } from '../../domain/long-lists.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { isOccurrence, whyNoOccurrence } from '../../domain/explain/plan.ts'
import type { RunId, ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, instant, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { occurrencesBetween } from '../../domain/time/timing.ts'
import type { AuditRow } from '../audit/store.ts'
import type { DecisionRow } from '../schedules/occurrences-store.ts'
import { loadAuditsOf, loadDecisionsBetween, loadOccurrencesBetween } from './store.ts'
import { loadRun } from '../runs/read-store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import type { QuestionTime, SearchWindow } from './surroundings.ts'
import { createFinding, linkTo, runLinks, type ScheduleAudits, whyDisabled } from './evidence.ts'
import { MAX_AUDITS, rangeReason, type ExplainCaller, type ExplainPorts } from './occurrence.ts'
import { whyByPlan } from './unrecorded.ts'

/** How many occurrences of one schedule are explained, nearest first. */
const MAX_OCCURRENCES_PER_SCHEDULE = 5
/** How many occurrences of all schedules are explained, nearest first. */
const MAX_OCCURRENCES = 60

/** A planned occurrence inside the searched window. */
interface ScheduledOccurrence {
  readonly row: ScheduleRow
  readonly nominal: Instant
}

/** The findings about planned occurrences, and the runs they already cover. */
export interface PlannedFindings {
  readonly findings: readonly ExplainFinding[]
  readonly told: ReadonlySet<RunId>
}

/** Explains the occurrences that the schedules had planned around the given time. */
export async function plannedFindings(
  ports: ExplainPorts,
  caller: ExplainCaller,
  scene: {
    readonly rows: readonly ScheduleRow[]
    readonly asked: QuestionTime
    readonly window: SearchWindow
    /** The query names the schedule, so nothing about it is left out. */
    readonly isNamed: boolean
  },
): Promise<PlannedFindings> {
  const { rows, asked, window } = scene
  const occurrences = plannedOccurrences(rows, asked.at, window)
  const existing = await loadOccurrenceRecords(ports, caller, { moments: occurrences, window })
  const findings: ExplainFinding[] = []
  const told = new Set<RunId>()
  for (const { row, nominal } of occurrences) {
    const run = existing.runs.get(occurrenceKeyOf(row.id, nominal))
    if (run !== undefined) told.add(run.id)
    const all = occurrenceFindings(row, nominal, { ...existing, run, now: ports.clock.now(), asked })
    addAll(
      findings,
      all.filter((one) => scene.isNamed || !isLongInactive(one, row, nominal)),
    )
  }
  return { findings, told }
}

function plannedOccurrences(
  rows: readonly ScheduleRow[],
  at: Instant,
  { from, to }: SearchWindow,
): readonly ScheduledOccurrence[] {
  const found = rows.flatMap((row) => {
    const occurrences = occurrencesBetween(plannedTiming(row), { after: earlier(from, 1), upTo: to, limit: 500 })
    // A plan anchored at its creation has that time as its first occurrence, which never fires.
    const planned = occurrences.filter((nominal) => nominal !== row.createdAt)
    return nearestTimes(planned, at, MAX_OCCURRENCES_PER_SCHEDULE).map((nominal) => ({ row, nominal }))
  })
  return found.toSorted((a, b) => Math.abs(a.nominal - at) - Math.abs(b.nominal - at)).slice(0, MAX_OCCURRENCES)
}

const nearestTimes = (occurrences: readonly Instant[], at: Instant, count: number): readonly Instant[] =>
  occurrences.toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at)).slice(0, count)

const occurrenceKeyOf = (id: ScheduleId, nominal: Instant): string => `${id} ${nominal}`

/** The records of the occurrences. */
interface OccurrenceRecords {
  readonly runs: ReadonlyMap<string, RunRecord>
  /** Occurrences whose run has been deleted by retention. */
  readonly gone: ReadonlyMap<string, RunId>
  readonly ranges: readonly Omit<DecisionRow, 'orgId'>[]
  readonly audits: ReadonlyMap<string, ScheduleAudits>
}

async function loadOccurrenceRecords(
  { database }: ExplainPorts,
  { orgId, may }: ExplainCaller,
  { moments: occurrences, window }: { readonly moments: readonly ScheduledOccurrence[]; readonly window: SearchWindow },
): Promise<OccurrenceRecords> {
  const scheduleIds = [...new Set(occurrences.map(({ row }) => row.id))]
  if (scheduleIds.length === 0) return { runs: new Map(), gone: new Map(), ranges: [], audits: new Map() }
  const wanted = { orgId, scheduleIds, ...window }
  const entries = await loadOccurrencesBetween(database, { ...wanted, limit: 500 })
  const ranges = await loadDecisionsBetween(database, { ...wanted, limit: MAX_OCCURRENCES_PER_SCHEDULE })
  const runs = new Map<string, RunRecord>()
  const gone = new Map<string, RunId>()
  const asked = new Set(occurrences.map(({ row, nominal }) => occurrenceKeyOf(row.id, nominal)))
  for (const entry of entries) {
    const key = occurrenceKeyOf(entry.scheduleId, entry.nominal)
    if (!asked.has(key)) continue
    const run = await loadRun(database, { orgId, id: entry.runId })
    if (run === undefined) gone.set(key, entry.runId)
    else runs.set(key, run)
  }
  const audits = may('audit:read')
    ? await loadAuditsOf(database, { orgId, kind: 'schedule', ids: scheduleIds, limit: MAX_AUDITS })
    : []
  return { runs, gone, ranges, audits: auditsByObject(audits) }
}

function auditsByObject(audits: ScheduleAudits): ReadonlyMap<string, ScheduleAudits> {
  const found = new Map<string, AuditRow[]>()
  for (const entry of audits) {
    const existing = found.get(entry.objectId)
    if (existing === undefined) found.set(entry.objectId, [entry])
    else existing.push(entry)
  }
  return found
}

interface OccurrenceContext extends OccurrenceRecords {
  readonly run: RunRecord | undefined
  readonly now: Instant
  readonly asked: QuestionTime
}

function occurrenceFindings(row: ScheduleRow, nominal: Instant, context: OccurrenceContext): readonly ExplainFinding[] {
  const { run, gone, ranges, now, asked } = context
  const about = { kind: 'occurrence', about: row.name, at: nominal, links: [linkTo('schedule', row.id)] } as const
  if (run !== undefined) return runFindings(run, { ...about, links: [...about.links, ...runLinks(run)] })
  const range = ranges.find(
    ({ scheduleId, first, last }) => scheduleId === row.id && first <= nominal && last >= nominal,
  )
  if (range !== undefined) {
    const evidence = { first: formatInstant(range.first), last: formatInstant(range.last), count: range.count }
    const why = { ...range.why, evidence: { ...range.why.evidence, ...evidence } }
    return [
      createFinding(rangeReason(why, nominal), { ...about, status: 'skipped' }),
      ...unattendedFindings(range.why, nominal),
    ]
  }
  const lost = gone.get(occurrenceKeyOf(row.id, nominal))
  if (lost !== undefined) return [createFinding(because('pruned', 'retention', { run_id: lost }), about)]
  const audits = context.audits.get(row.id) ?? []
  const why = whyByPlan(row, { at: nominal, audits, zone: asked.zone }, now) ?? whyDisabled(audits, nominal)
  const isOff = why?.reason === 'switched_off'
  const links = isOff ? [...about.links, linkTo('audit', row.id)] : about.links
  return [createFinding(why ?? because('was_not_active', 'state', { state: row.state }), { ...about, links })]
}

function runFindings(run: RunRecord, about: Parameters<typeof createFinding>[1]): readonly ExplainFinding[] {
  const { decision } = run
  const late = unattendedFindings(decision, run.nominal ?? run.createdAt)
  const status = run.state
  return [createFinding(status === 'skipped' ? decision : whyRan(run), { ...about, status }), ...late]
}

/** The reason for a run that was created: `waited` if it waited long, else `ran`. */
export function whyRan(run: RunRecord): Why {
  const facts = { run: run.id, made: formatInstant(run.createdAt), status: run.state }
  const waited = run.startedAt === null ? 0 : Math.round((run.startedAt - run.createdAt) / SECOND_MS)
  return run.startedAt !== null && waited >= LONG_WAIT_SECONDS
    ? because('waited', 'picking_order', {
        ...{ ...facts, started: formatInstant(run.startedAt), waited_seconds: waited },
      })
    : because('ran', 'timing', facts)
}

const LONG_WAIT_SECONDS = 5

/** An occurrence decided late means that no node was scanning; that gap is its own finding. */
function unattendedFindings(why: Why, nominal: Instant): readonly ExplainFinding[] {
  const decidedAt = decidedAtOf(why)
  if (decidedAt === null || decidedAt - nominal < 60 * SECOND_MS) return []
  const gap = because('unattended', 'watermark', { nominal: formatInstant(nominal), seen: formatInstant(decidedAt) })
  return [createFinding(gap, { kind: 'engine', about: null, at: nominal })]
}

function decidedAtOf({ reason, evidence }: Why): Instant | null {
  const { seen: decidedAt, nominal, late_seconds: late } = evidence
  if (reason === 'caught_up' && typeof decidedAt === 'string') return instant(Date.parse(decidedAt))
  return reason === 'misfire' && typeof nominal === 'string' && typeof late === 'number'
    ? instant(Date.parse(nominal) + late * SECOND_MS)
    : null
}

/** A schedule that was inactive for longer than this does not explain why nothing ran. */
const LONG_INACTIVE_MS = 7 * DAY_MS

/** Whether a schedule was inactive long before the occurrence, or was created long after it. */
function isLongInactive({ reason, evidence }: ExplainFinding, row: ScheduleRow, nominal: Instant): boolean {
  const since = typeof evidence['since'] === 'string' ? Date.parse(evidence['since']) : nominal
  if (reason === 'switched_off') return nominal - since > LONG_INACTIVE_MS
  if (reason === 'before_creation') return row.createdAt - nominal > LONG_INACTIVE_MS
  const isOff =
    reason === 'not_active' || reason === 'all_fires_made' || reason === 'given_up' || reason === 'rule_too_dense'
  return isOff && nominal - (row.lastRunAt ?? row.updatedAt) > LONG_INACTIVE_MS
}

/** Reasons that are more specific than `no_occurrence`. */
const NEAR_MISS_REASONS: readonly Why['reason'][] = [
  ...(['excluded_date', 'clock_change', 'other_zone', 'before_start', 'after_end'] as const),
]

/** Schedules that would have fired then but for one setting. */
export function nearMisses(rows: readonly ScheduleRow[], { at, zone }: QuestionTime): readonly ExplainFinding[] {
  return rows.flatMap((row) => {
    // An inactive schedule would not have fired in any case.
    const timing = plannedTiming(row)
    if (row.state !== 'active' || isOccurrence(timing, at)) return []
    const why = whyNoOccurrence(timing, at, zone)
    if (!NEAR_MISS_REASONS.includes(why.reason)) return []
    return [createFinding(why, { kind: 'schedule', about: row.name, at, links: [linkTo('schedule', row.id)] })]
  })
}
