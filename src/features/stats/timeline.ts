import type { Flaw } from '../../domain/input.ts'
import { invalid } from '../../api/refusals.ts'
import { decideBudget } from '../../domain/budget/budget.ts'
import type { ForecastDay, RunsPerDay } from '../../domain/forecast/runs-per-day.ts'
import { agentId, type OrgId, scheduleId, type ScheduleId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { DAY_MS, formatInstant, HOUR_MS, instant, type Instant, MINUTE_MS } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import { explainWhy, type Why } from '../../domain/reasons.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { failurePause } from '../../domain/schedule/failure.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { computeCounts } from '../../engine/compute.ts'
import { covers } from '../../engine/org-state/budget-usage.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Connection } from '../../platform/db/database.ts'
import { parseLimit, readCursorParts, writeCursorParts } from '../../platform/db/cursor.ts'
import type { Caller } from '../access/caller.ts'
import { type BudgetWithPeriods, loadBudgets } from '../budgets/store.ts'
import { spentIn } from '../budgets/stored-budget.ts'
import { scheduleOrigin } from '../forecast/plan.ts'
import { loadReservedOf, withExpectedUsage } from '../forecast/service.ts'
import { listScheduleIdsOfAgent, loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import type { TimelineFilter, TimelineRow, TimelineView } from './schema.ts'
import { parseStatsRange } from './service.ts'
import {
  addUpTimeline,
  ALL_RUNS,
  type BucketCount,
  findLines,
  type FoundLine,
  insertTimelinePosition,
  lineOfAgent,
  lineOfDirectRuns,
  lineOfSchedule,
  loadBuckets,
  TIMELINE_LEVELS,
  type TimelineLevel,
  type WantedLines,
} from './timeline-store.ts'

/** Transactions per statement: more share more rows of the counts, few enough to finish within milliseconds. */
const TIMELINE_BATCH_SIZE = 2_000

/** Adds the transactions of an org that are not counted yet to its timeline. */
export async function updateTimelineCounts(connection: Connection, orgId: OrgId): Promise<void> {
  for (;;) {
    const transactions = await addUpTimeline(connection, { orgId, limit: TIMELINE_BATCH_SIZE })
    if (transactions === null) await insertTimelinePosition(connection, orgId)
    else if (transactions < TIMELINE_BATCH_SIZE) return
  }
}

type TimelinePorts = Pick<Ports, 'database' | 'clock' | 'computations'>

/** Runs per bucket and outcome, and planned occurrences. The cost depends on rows and buckets, not on runs. */
export async function readTimeline(
  ports: TimelinePorts,
  { orgId }: Pick<Caller, 'orgId'>,
  filter: TimelineFilter = {},
): Promise<TimelineView> {
  const { database } = ports
  const now = ports.clock.now()
  const { offset, limit, ...range } = parseTimelineFilter(filter, now)
  await updateTimelineCounts(database, orgId)
  const { level, from, to, stepMs } = range
  const span = { orgId, level, from, to }
  const wanted = await wantedLines(database, orgId, filter)
  const found = await findLines(database, {
    ...{ ...span, level: searchLevel(range), wanted, offset, limit: limit + 1, text: filter.text ?? null },
  })
  const page = found.slice(0, limit)
  const counts = await loadBuckets(database, { ...span, stepMs, lines: page.map(({ line }) => line) })
  const plans = await planOf(ports, orgId, { lines: page, range, now })
  const byLine = new Map<string, BucketCount[]>(page.map(({ line }) => [line, []]))
  for (const count of counts) byLine.get(count.line)?.push(count)
  return {
    ...{ org_id: orgId, from: formatInstant(from), to: formatInstant(to), step_seconds: stepMs / 1_000 },
    total: page[0]?.total ?? 0,
    items: page.map((line) =>
      viewRow(line, { range, counts: byLine.get(line.line) ?? [], plan: plans.get(line.line) }),
    ),
    next_cursor: found.length > limit ? writeCursorParts([offset + limit]) : null,
  }
}

interface TimelineRange {
  readonly from: Instant
  readonly to: Instant
  readonly level: TimelineLevel
  readonly stepMs: number
}

/** Buckets that a default step creates at most, and that any step may create. */
const USUAL_BUCKETS = 200
const MAX_BUCKETS = 2_000

/** Lengths of buckets to choose from: round ones, so that they align with the clock. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28].map((days) => days * DAY_MS),
]

function parseTimelineFilter(
  filter: TimelineFilter,
  now: Instant,
): TimelineRange & { readonly offset: number; readonly limit: number } {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const offset = parseOffset(filter.cursor)
  if (offset === null)
    flaws.push({
      ...{
        field: 'cursor',
        value: filter.cursor,
        message: 'is not a cursor',
        allowed: 'next_cursor of an earlier answer',
      },
    })
  const { from, to } = parseStatsRange(filter, now)
  const level = levelFor(from, now)
  const stepMs = filter.step_seconds === undefined ? usualStep(to - from, level) : filter.step_seconds * 1_000
  const start = instant(Math.floor(from / levelFloor(level, stepMs).ms) * levelFloor(level, stepMs).ms)
  addAll(flaws, stepFlaws(filter, { level, stepMs, buckets: Math.ceil((to - start) / stepMs) }))
  if (flaws.length > 0) throw invalid(flaws)
  return { from: start, to, level: levelFloor(level, stepMs), stepMs, offset: offset ?? 0, limit }
}

function parseOffset(cursor: string | undefined): number | null {
  if (cursor === undefined || cursor === '') return 0
  const [offset, ...rest] = readCursorParts(cursor) ?? []
  return rest.length === 0 && Number.isSafeInteger(offset) && (offset as number) >= 0 ? (offset as number) : null
}

const [FINEST] = TIMELINE_LEVELS
const COARSEST: TimelineLevel = TIMELINE_LEVELS[2]

/** The finest stored step that reaches back to the start of a range. */
const levelFor = (from: Instant, now: Instant): TimelineLevel =>
  TIMELINE_LEVELS.find(({ keptMs }) => from >= now - keptMs) ?? COARSEST

/** The coarsest stored step, from a finest one, that buckets of a length can be made of at any hour. */
const levelFloor = (finest: TimelineLevel, stepMs: number): TimelineLevel =>
  finest === FINEST && stepMs % HOUR_MS === 0 ? TIMELINE_LEVELS[1] : finest

const usualStep = (lengthMs: number, level: TimelineLevel): number =>
  STEPS_MS.find((step) => step % level.ms === 0 && lengthMs / step <= USUAL_BUCKETS) ??
  Math.ceil(lengthMs / USUAL_BUCKETS / DAY_MS) * DAY_MS

function stepFlaws(
  filter: TimelineFilter,
  { level, stepMs, buckets }: { readonly level: TimelineLevel; readonly stepMs: number; readonly buckets: number },
): readonly Flaw[] {
  const given = { field: 'step_seconds', value: filter.step_seconds }
  const seconds = level.ms / 1_000
  if (stepMs % level.ms !== 0)
    return [
      { ...given, message: 'is smaller than the stored resolution of this range', allowed: `a multiple of ${seconds}` },
    ]
  return buckets > MAX_BUCKETS
    ? [{ ...given, message: `makes ${buckets} buckets`, allowed: `at most ${MAX_BUCKETS} buckets: a longer step` }]
    : []
}

/** Lines are looked for in coarse steps where the range is long: there are fewer of them. */
const searchLevel = ({ level, from, to }: TimelineRange): TimelineLevel =>
  to - from > 4 * DAY_MS ? COARSEST : to - from > DAY_MS / 2 && level === FINEST ? TIMELINE_LEVELS[1] : level

/** How many schedules of an agent have rows of their own. */
const MAX_SCHEDULES_OF_AGENT = 1_000

async function wantedLines(connection: Connection, orgId: OrgId, filter: TimelineFilter): Promise<WantedLines> {
  const { schedule_id: schedule, agent_id: agent, by = 'schedule' } = filter
  if (schedule !== undefined) return [lineOfSchedule(scheduleId(schedule))]
  if (agent === undefined) return by === 'org' ? [ALL_RUNS] : by
  const id = agentId(agent)
  if (by !== 'schedule') return [lineOfAgent(id)]
  const ids = await listScheduleIdsOfAgent(connection, { orgId, agentId: id, limit: MAX_SCHEDULES_OF_AGENT })
  return [lineOfAgent(id), lineOfDirectRuns(id), ...ids.map(lineOfSchedule)]
}

/** What is planned of a schedule: occurrences by bucket, and why none can run for now. */
interface LinePlan {
  readonly planned: ReadonlyMap<number, number>
  readonly held: { readonly until: Instant | null; readonly why: Why } | null
}

const scheduleOfLine = (line: string): ScheduleId | null =>
  line.startsWith('schedule:') ? scheduleId(line.slice('schedule:'.length)) : null

async function planOf(
  ports: TimelinePorts,
  orgId: OrgId,
  { lines, range, now }: { readonly lines: readonly FoundLine[]; readonly range: TimelineRange; readonly now: Instant },
): Promise<ReadonlyMap<string, LinePlan>> {
  if (range.to <= now) return new Map()
  const active = lines.filter(({ scheduleState }) => scheduleState === 'active')
  const ids = active.flatMap(({ line }) => scheduleOfLine(line) ?? [])
  const rows = ids.length === 0 ? [] : await loadSchedules(ports.database, { orgId, ids })
  const budgetHolds = await loadBudgetHolds(ports, orgId, { rows, now })
  const buckets = bucketsFrom(range, now)
  const held = rows.map((row) =>
    latestHold([failurePause(row.rules, row, { now, nextRunAt: row.nextRunAt }), budgetHolds.get(row.id) ?? null]),
  )
  const counts = await computeCounts(
    { orgId, computations: ports.computations },
    rows.map((row, position) => {
      const until = held[position]?.until ?? now
      const { rules, fires, watermark } = row
      return {
        timing: plannedTiming(row),
        maxFires: rules.maxFires,
        fires,
        watermark: instant(Math.max(watermark, until)),
      }
    }),
    buckets,
  )
  return new Map(
    rows.map((row, position) => {
      const hold = held[position] ?? null
      const planned = hold !== null && hold.until === null ? [] : (counts[position] ?? [])
      return [lineOfSchedule(row.id), { planned: numbered(planned, range, buckets), held: hold }]
    }),
  )
}

/** The buckets from now on, the first one without what has passed. */
function bucketsFrom({ from, to, stepMs }: TimelineRange, now: Instant): readonly ForecastDay[] {
  const buckets: ForecastDay[] = []
  const first = Math.max(0, Math.floor((now - from) / stepMs))
  for (let at = from + first * stepMs; at < to; at += stepMs)
    buckets.push({ date: '', from: instant(Math.max(at, now)), to: instant(Math.min(to, at + stepMs)) })
  return buckets
}

function numbered(
  counts: RunsPerDay,
  { from, stepMs }: TimelineRange,
  buckets: readonly ForecastDay[],
): ReadonlyMap<number, number> {
  return new Map(
    counts.flatMap((count, position) => {
      const at = buckets[position]?.from
      return count === 0 || at === undefined ? [] : [[Math.floor((at - from) / stepMs), count] as const]
    }),
  )
}

/** The hold that lasts longest; one without an end lasts longest of all. */
function latestHold(holds: readonly LinePlan['held'][]): LinePlan['held'] {
  return holds.reduce((last, hold) => {
    if (hold === null || last === null) return last ?? hold
    return (hold.until ?? Infinity) > (last.until ?? Infinity) ? hold : last
  }, null)
}

/** Why the budgets of schedules have no room now, by schedule. */
async function loadBudgetHolds(
  ports: TimelinePorts,
  orgId: OrgId,
  { rows, now }: { readonly rows: readonly ScheduleRow[]; readonly now: Instant },
): Promise<ReadonlyMap<ScheduleId, NonNullable<LinePlan['held']>>> {
  const budgets = rows.length === 0 ? [] : await loadBudgets(ports.database, { orgId })
  const covering = (row: ScheduleRow): readonly BudgetWithPeriods[] =>
    budgets.filter(({ scope }) => covers(scope, { agentId: row.agentId, scheduleId: row.id, owner: row.owner }))
  const limited = rows.filter((row) => covering(row).length > 0)
  if (limited.length === 0) return new Map()
  const reserved = await loadReservedOf(ports, orgId, budgets)
  const sources = await withExpectedUsage(ports, { orgId }, { origins: limited.map(scheduleOrigin), budgets })
  return new Map(
    limited.flatMap((row, position) => {
      const facts = covering(row).map((budget) => ({
        budget,
        usage: { spent: spentIn(budget, now), reserved: reserved.get(budget.id) ?? 0 },
        reserve: sources[position]?.reserveUnder(budget) ?? 0,
      }))
      const decision = decideBudget(facts, now)
      return decision.kind === 'open' ? [] : [[row.id, { until: decision.until, why: decision.why }] as const]
    }),
  )
}

const KINDS = { all: 'org', agent: 'agent', schedule: 'schedule', direct: 'direct' } as const

function viewRow(
  { line, name, scheduleState }: FoundLine,
  of: { readonly range: TimelineRange; readonly counts: readonly BucketCount[]; readonly plan: LinePlan | undefined },
): TimelineRow {
  const colon = line.indexOf(':')
  const kind = KINDS[(colon < 0 ? line : line.slice(0, colon)) as keyof typeof KINDS]
  const { planned, held } = of.plan ?? { planned: new Map<number, number>(), held: null }
  const sums: Partial<Record<RunState, number>> = {}
  const buckets = new Map<number, Partial<Record<RunState, number>>>()
  for (const { bucket, state, count } of of.counts) {
    sums[state] = (sums[state] ?? 0) + count
    const known = buckets.get(bucket)
    if (known === undefined) buckets.set(bucket, { [state]: count })
    else known[state] = count
  }
  const numbers = [...new Set([...buckets.keys(), ...planned.keys()])].toSorted((a, b) => a - b)
  return {
    ...{ kind, id: colon < 0 ? null : line.slice(colon + 1), name, state: scheduleState, by_status: sums },
    buckets: numbers.map((number) => ({
      at: formatInstant(instant(of.range.from + number * of.range.stepMs)),
      by_status: buckets.get(number) ?? {},
      planned: planned.get(number) ?? 0,
    })),
    held:
      held === null ? null : { until: formatInstantOrNull(held.until), ...held.why, sentence: explainWhy(held.why) },
  }
}
