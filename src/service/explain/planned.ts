import type { ExplainFinding } from '../../features/explain/schema.ts'
import { addAll } from '../../domain/long-lists.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { isOccurrence, whyNoOccurrence } from '../../domain/explain/plan.ts'
import type { RunId, ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, instant, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { occurrencesBetween } from '../../domain/time/timing.ts'
import type { AuditRow } from '../../features/audit/store.ts'
import type { DecisionRow } from '../../features/schedules/occurrences-store.ts'
import { loadAuditsOf, loadDecisionsBetween, loadOccurrencesBetween } from '../../features/explain/store.ts'
import { loadRun } from '../../store/run-reads.ts'
import type { RunRecord } from '../../store/run-record.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { AskedAt, Window } from './asked.ts'
import { whyOff, type ScheduleAudits } from './history.ts'
import { linkTo, runLinks } from './links.ts'
import { MOST_AUDITS, sayOfRange, type Asker, type Reading } from '../../features/explain/occurrence.ts'
import { finding } from './tell.ts'
import { whyByPlan } from '../../features/explain/unrecorded.ts'

/** Of one schedule no more moments than this are looked at: the question is about one. */
const MOST_PER_SCHEDULE = 5
/** And of all together no more than this, the nearest first. */
const MOST_MOMENTS = 60

/** A moment of the plan inside the window that is looked at. */
interface Planned {
  readonly row: ScheduleRow
  readonly nominal: Instant
}

/** What was found about the plans of some schedules, and the runs that it has told of already. */
export interface PlannedFindings {
  readonly findings: readonly ExplainFinding[]
  readonly told: ReadonlySet<RunId>
}

/** What became of every moment that the schedules had planned around the one that is asked about. */
export async function plannedFindings(
  ports: Reading,
  asker: Asker,
  scene: {
    readonly rows: readonly ScheduleRow[]
    readonly asked: AskedAt
    readonly window: Window
    /** Somebody has named the schedule: then everything about it is told. */
    readonly isNamed: boolean
  },
): Promise<PlannedFindings> {
  const { rows, asked, window } = scene
  const moments = plannedMoments(rows, asked.at, window)
  const known = await recordsOf(ports, asker, { moments, window })
  const findings: ExplainFinding[] = []
  const told = new Set<RunId>()
  for (const { row, nominal } of moments) {
    const run = known.runs.get(keyOf(row.id, nominal))
    if (run !== undefined) told.add(run.id)
    const all = tellMoment(row, nominal, { ...known, run, now: ports.clock.now(), asked })
    addAll(
      findings,
      all.filter((one) => scene.isNamed || !isOldNews(one, row, nominal)),
    )
  }
  return { findings, told }
}

function plannedMoments(rows: readonly ScheduleRow[], at: Instant, { from, to }: Window): readonly Planned[] {
  const found = rows.flatMap((row) => {
    const moments = occurrencesBetween(plannedTiming(row), { after: earlier(from, 1), upTo: to, limit: 500 })
    // A plan that is anchored at its own creation has that as its first moment, and nobody expects anything of it.
    const planned = moments.filter((nominal) => nominal !== row.createdAt)
    return nearest(planned, at, MOST_PER_SCHEDULE).map((nominal) => ({ row, nominal }))
  })
  return found.toSorted((a, b) => Math.abs(a.nominal - at) - Math.abs(b.nominal - at)).slice(0, MOST_MOMENTS)
}

const nearest = (moments: readonly Instant[], at: Instant, count: number): readonly Instant[] =>
  moments.toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at)).slice(0, count)

const keyOf = (id: ScheduleId, nominal: Instant): string => `${id} ${nominal}`

/** What is on record about the moments. */
interface Records {
  readonly runs: ReadonlyMap<string, RunRecord>
  /** Moments that became a run which is not kept any more. */
  readonly gone: ReadonlyMap<string, RunId>
  readonly ranges: readonly Omit<DecisionRow, 'orgId'>[]
  readonly audits: ReadonlyMap<string, ScheduleAudits>
}

async function recordsOf(
  { database }: Reading,
  { orgId, may }: Asker,
  { moments, window }: { readonly moments: readonly Planned[]; readonly window: Window },
): Promise<Records> {
  const scheduleIds = [...new Set(moments.map(({ row }) => row.id))]
  if (scheduleIds.length === 0) return { runs: new Map(), gone: new Map(), ranges: [], audits: new Map() }
  const wanted = { orgId, scheduleIds, ...window }
  const entries = await loadOccurrencesBetween(database, { ...wanted, limit: 500 })
  const ranges = await loadDecisionsBetween(database, { ...wanted, limit: MOST_PER_SCHEDULE })
  const runs = new Map<string, RunRecord>()
  const gone = new Map<string, RunId>()
  const asked = new Set(moments.map(({ row, nominal }) => keyOf(row.id, nominal)))
  for (const entry of entries) {
    const key = keyOf(entry.scheduleId, entry.nominal)
    if (!asked.has(key)) continue
    const run = await loadRun(database, { orgId, id: entry.runId })
    if (run === undefined) gone.set(key, entry.runId)
    else runs.set(key, run)
  }
  const audits = may('audit:read')
    ? await loadAuditsOf(database, { orgId, kind: 'schedule', ids: scheduleIds, limit: MOST_AUDITS })
    : []
  return { runs, gone, ranges, audits: byObject(audits) }
}

function byObject(audits: ScheduleAudits): ReadonlyMap<string, ScheduleAudits> {
  const found = new Map<string, AuditRow[]>()
  for (const entry of audits) {
    const known = found.get(entry.objectId)
    if (known === undefined) found.set(entry.objectId, [entry])
    else known.push(entry)
  }
  return found
}

interface Telling extends Records {
  readonly run: RunRecord | undefined
  readonly now: Instant
  readonly asked: AskedAt
}

function tellMoment(row: ScheduleRow, nominal: Instant, telling: Telling): readonly ExplainFinding[] {
  const { run, gone, ranges, now, asked } = telling
  const about = { kind: 'occurrence', about: row.name, at: nominal, links: [linkTo('schedule', row.id)] } as const
  if (run !== undefined) return tellRun(run, { ...about, links: [...about.links, ...runLinks(run)] })
  const range = ranges.find(
    ({ scheduleId, first, last }) => scheduleId === row.id && first <= nominal && last >= nominal,
  )
  if (range !== undefined) {
    const evidence = { first: formatInstant(range.first), last: formatInstant(range.last), count: range.count }
    const why = { ...range.why, evidence: { ...range.why.evidence, ...evidence } }
    return [finding(sayOfRange(why, nominal), { ...about, status: 'skipped' }), ...unattended(range.why, nominal)]
  }
  const lost = gone.get(keyOf(row.id, nominal))
  if (lost !== undefined) return [finding(because('pruned', 'retention', { run_id: lost }), about)]
  const audits = telling.audits.get(row.id) ?? []
  const why = whyByPlan(row, { at: nominal, audits, zone: asked.zone }, now) ?? whyOff(audits, nominal)
  const isOff = why?.reason === 'switched_off'
  const links = isOff ? [...about.links, linkTo('audit', row.id)] : about.links
  return [finding(why ?? because('was_not_active', 'state', { state: row.state }), { ...about, links })]
}

function tellRun(run: RunRecord, about: Parameters<typeof finding>[1]): readonly ExplainFinding[] {
  const { decision } = run
  const late = unattended(decision, run.nominal ?? run.createdAt)
  const status = run.state
  return [finding(status === 'skipped' ? decision : whyRan(run), { ...about, status }), ...late]
}

/** What there is to say of a run that was made: that it had to wait, or only that it is there. */
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

/** A moment that was seen late was late because nobody looked: the gap in which no node did is a finding of its own. */
function unattended(why: Why, nominal: Instant): readonly ExplainFinding[] {
  const seen = seenAt(why)
  if (seen === null || seen - nominal < 60 * SECOND_MS) return []
  const gap = because('unattended', 'watermark', { nominal: formatInstant(nominal), seen: formatInstant(seen) })
  return [finding(gap, { kind: 'engine', about: null, at: nominal })]
}

function seenAt({ reason, evidence }: Why): Instant | null {
  const { seen, nominal, late_seconds: late } = evidence
  if (reason === 'caught_up' && typeof seen === 'string') return instant(Date.parse(seen))
  return reason === 'misfire' && typeof nominal === 'string' && typeof late === 'number'
    ? instant(Date.parse(nominal) + late * SECOND_MS)
    : null
}

/** What has been so for longer than this is nothing that anybody wonders about. */
const OLD_NEWS_MS = 7 * DAY_MS

/** Whether a schedule was off for long before the moment, or was made long after it. */
function isOldNews({ reason, evidence }: ExplainFinding, row: ScheduleRow, nominal: Instant): boolean {
  const since = typeof evidence['since'] === 'string' ? Date.parse(evidence['since']) : nominal
  if (reason === 'switched_off') return nominal - since > OLD_NEWS_MS
  if (reason === 'before_creation') return row.createdAt - nominal > OLD_NEWS_MS
  const isOff =
    reason === 'not_active' || reason === 'all_fires_made' || reason === 'given_up' || reason === 'rule_too_dense'
  return isOff && nominal - (row.lastRunAt ?? row.updatedAt) > OLD_NEWS_MS
}

/** Reasons that say more than that a plan has no such moment. */
const NEARLY: readonly Why['reason'][] = [
  ...(['excluded_date', 'clock_change', 'other_zone', 'before_start', 'after_end'] as const),
]

/** Schedules that would have fired then, had one thing been otherwise. */
export function nearMisses(rows: readonly ScheduleRow[], { at, zone }: AskedAt): readonly ExplainFinding[] {
  return rows.flatMap((row) => {
    // One that is off would not have fired in any case.
    const timing = plannedTiming(row)
    if (row.state !== 'active' || isOccurrence(timing, at)) return []
    const why = whyNoOccurrence(timing, at, zone)
    if (!NEARLY.includes(why.reason)) return []
    return [finding(why, { kind: 'schedule', about: row.name, at, links: [linkTo('schedule', row.id)] })]
  })
}
