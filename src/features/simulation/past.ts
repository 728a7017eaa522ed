import { amountsUsed } from '../../domain/budget/amounts.ts'
import type { OrgId, RunId } from '../../domain/ids.ts'
import { formatInstant, type Instant, MINUTE_MS } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { Ports } from '../../engine/ports.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import type { SimulationRequest } from './input.ts'
import type { AssumptionInput, Intervention, OutageInput, RecordedAttempt } from './result-schema.ts'
import {
  loadAttemptsOf,
  loadPendingOf,
  loadRangesBetween,
  loadRunsBefore,
  loadRunsBetween,
  type PastAttempt,
  type PastRun,
} from './store.ts'
import type { InitialPendingRun, SimulatedState } from './task.ts'

const MICROS_PER_UNIT = 1e6

/** Errors of attempts lost with their node, which the simulated outage already produces. */
const LOST_NODE_ERRORS: ReadonlySet<string> = new Set(['node_lost', 'node_shutdown'])

/** The recorded attempts of a run that ended by themselves. */
function recordedAttemptsOf(run: PastRun, earlier: readonly PastAttempt[]): readonly RecordedAttempt[] {
  const { nominal, startedAt, finishedAt, state, errorCode } = run
  if (nominal === null) return []
  const at = formatInstant(nominal)
  const before = earlier
    .filter((attempt) => !LOST_NODE_ERRORS.has(attempt.errorCode ?? ''))
    .map((attempt): RecordedAttempt => ({
      ...{ nominal: at, attempt: attempt.number, duration_ms: attempt.finishedAt - attempt.startedAt },
      ...{ outcome: attempt.status, ...(attempt.errorCode === null ? {} : { error_code: attempt.errorCode }) },
    }))
  const isRecorded = state === 'success' || state === 'failed' || state === 'timeout'
  if (!isRecorded || startedAt === null || finishedAt === null || LOST_NODE_ERRORS.has(errorCode ?? '')) return before
  return [
    ...before,
    {
      ...{ nominal: at, attempt: run.attempt, duration_ms: Math.max(0, finishedAt - startedAt), outcome: state },
      ...(errorCode === null ? {} : { error_code: errorCode }),
      ...usageFields(run),
      ...(run.isProbedOut ? { probe: 'no' as const } : {}),
    },
  ]
}

function usageFields({ usage }: PastRun): Pick<RecordedAttempt, 'tokens' | 'cost'> {
  const { tokens, money } = amountsUsed(usage)
  return { ...(tokens === null ? {} : { tokens }), ...(money === null ? {} : { cost: money / MICROS_PER_UNIT }) }
}

/** The state of a schedule at a past time, from the runs created before it, newest first. */
function pastStateAt(at: Instant, before: readonly PastRun[]): SimulatedState {
  const ended = before
    .filter(({ finishedAt, superseded }) => !superseded && finishedAt !== null && finishedAt <= at)
    .filter(({ state }) => hasEnding(state))
    .toSorted((a, b) => (b.finishedAt ?? 0) - (a.finishedAt ?? 0))
  const [last] = ended
  const good = ended.findIndex(({ state }) => state === 'success')
  return {
    watermark: formatInstant(at),
    failure_streak: good === -1 ? ended.length : good,
    ...(last === undefined ? {} : { last_ending: runEnding(last) }),
    pending: pendingAt(at, before),
  }
}

type RecordedEnding = NonNullable<SimulatedState['last_ending']>

const hasEnding = (state: string): boolean => ['success', 'failed', 'timeout', 'cancelled'].includes(state)

const runEnding = ({ state, attempt, finishedAt }: PastRun): RecordedEnding => ({
  ...{ status: state as RecordedEnding['status'], attempt, ended_at: formatInstant(finishedAt as Instant) },
})

/** The runs pending at a past time, oldest first. */
const pendingAt = (at: Instant, before: readonly PastRun[]): NonNullable<SimulatedState['pending']> =>
  before
    .filter(({ finishedAt, superseded }) => !superseded && (finishedAt === null || finishedAt > at))
    .map((run) => pendingStart(run, run.startedAt !== null && run.startedAt <= at))
    .toReversed()

/** A run that is pending when the window starts. */
function pendingStart(run: PastRun, isRunning: boolean): InitialPendingRun {
  const { nominal, startedAt, createdAt, firstAttempt, attempt } = run
  return {
    ...{ nominal: nominal === null ? null : formatInstant(nominal), created_at: formatInstant(createdAt) },
    ...{ status: isRunning ? 'running' : 'queued', first_attempt: firstAttempt, attempt },
    ...(isRunning && startedAt !== null ? { started_at: formatInstant(startedAt) } : {}),
  }
}

/** The manual runs in the window. */
const manualRunsOf = (runs: readonly PastRun[]): readonly Intervention[] =>
  runs
    .filter(({ trigger, nominal }) => trigger === 'manual' && nominal === null)
    .map(({ createdAt, scheduleId }) => ({
      ...{ at: formatInstant(createdAt), schedule_id: scheduleId, action: 'run_now' },
    }))

/** An occurrence, or the first one of a range, and when it was decided. */
interface LateOccurrence {
  readonly nominal: Instant
  readonly seenAt: Instant
}

/** An occurrence decided later than this means that no node was scanning. */
const LATE_MS = 5_000

/**
 * The periods in which no node scanned: from the first missed occurrence to its decision. If runs ended in that period,
 * only the scans stalled; otherwise the engine was down.
 */
function outagesFrom(late: readonly LateOccurrence[], endings: readonly Instant[]): readonly OutageInput[] {
  const gaps: { from: Instant; to: Instant }[] = []
  for (const { nominal, seenAt } of late.toSorted((a, b) => a.nominal - b.nominal)) {
    if (seenAt - nominal < LATE_MS) continue
    const last = gaps.at(-1)
    if (last !== undefined && nominal <= last.to) last.to = seenAt > last.to ? seenAt : last.to
    else gaps.push({ from: nominal, to: seenAt })
  }
  return gaps.map(({ from, to }) => ({
    kind: endings.some((at) => at > from && at < to) ? 'stall' : 'engine',
    ...{ from: formatInstant(from), to: formatInstant(to) },
  }))
}

/** The records of the simulated schedules, by schedule id. */
export interface SimulationPast {
  readonly observed: ReadonlyMap<string, ObservedRuns>
  readonly standings: ReadonlyMap<string, SimulatedState>
  readonly recorded: ReadonlyMap<string, readonly RecordedAttempt[]>
  readonly interventions: readonly Intervention[]
  readonly outages: readonly OutageInput[]
}

/** How many recent runs of a schedule are used to estimate its durations and failures. */
const MAX_OBSERVED_RUNS = 50
/** How many recorded runs one replay loads. */
const MAX_REPLAYED_RUNS = 50_000
/** A window that starts this close to now starts with the runs that are pending now. */
const NOW_TOLERANCE_MS = MINUTE_MS

const EMPTY_PAST: SimulationPast = {
  ...{ observed: new Map(), standings: new Map(), recorded: new Map(), interventions: [], outages: [] },
}

interface PastQuery {
  readonly request: SimulationRequest
  readonly rows: readonly ScheduleRow[]
}

/** Loads the records. Without stored schedules there are none. */
export async function loadPast(ports: Ports, orgId: OrgId, { request, rows }: PastQuery): Promise<SimulationPast> {
  if (rows.length === 0) return EMPTY_PAST
  const { database, clock } = ports
  const ids = rows.map(({ id }) => id)
  const now = clock.now()
  const before = request.replay ? request.from : now
  const runs = runsBySchedule(await loadRunsBefore(database, { orgId, ids, before, limit: MAX_OBSERVED_RUNS }))
  const observed = new Map(
    request.observed
      ? [...runs].map(([id, scheduleRuns]): [string, ObservedRuns] => [id, observeRuns(scheduleRuns)])
      : undefined,
  )
  if (request.replay) {
    const history = await loadHistory(ports, orgId, { request, rows })
    return { ...history, observed, standings: pastStates(rows, request.from, runs) }
  }
  const isNow = Math.abs(request.from - now) <= NOW_TOLERANCE_MS
  const pending = isNow ? runsBySchedule(await loadPendingOf(database, { orgId, ids })) : new Map<string, PastRun[]>()
  return { ...EMPTY_PAST, observed, standings: new Map(rows.map((row) => [row.id, currentState(row, isNow, pending)])) }
}

function currentState(
  row: ScheduleRow,
  isNow: boolean,
  pending: ReadonlyMap<string, readonly PastRun[]>,
): SimulatedState {
  const { fires, failureStreak, lastEnding, watermark } = row
  if (!isNow) return { fires, failure_streak: failureStreak }
  return {
    ...{
      fires,
      failure_streak: failureStreak,
      ...(row.state === 'active' ? { watermark: formatInstant(watermark) } : {}),
      ...(row.state === 'active' && row.pace !== null ? { pace: row.pace } : {}),
    },
    ...(lastEnding === null ? {} : { last_ending: viewLastEnding(lastEnding) }),
    pending: pendingNow(pending.get(row.id) ?? []),
  }
}

/** Runs that are being stopped are left out, because they end at once. */
const pendingNow = (runs: readonly PastRun[]): SimulatedState['pending'] =>
  runs
    .filter(({ state, superseded }) => !superseded && state !== 'stopping')
    .map((run) => pendingStart(run, run.state !== 'queued' && run.state !== 'waiting'))

const viewLastEnding = ({ status, attempt, endedAt }: NonNullable<ScheduleRow['lastEnding']>) => ({
  ...{ status, attempt, ended_at: formatInstant(endedAt) },
})

function pastStates(
  rows: readonly ScheduleRow[],
  at: Instant,
  runs: ReadonlyMap<string, readonly PastRun[]>,
): ReadonlyMap<string, SimulatedState> {
  return new Map(rows.map(({ id }) => [id, pastStateAt(at, runs.get(id) ?? [])]))
}

/** Loads the recorded history of a replayed window. */
async function loadHistory(
  { database }: Ports,
  orgId: OrgId,
  { request: { from, to }, rows }: PastQuery,
): Promise<Pick<SimulationPast, 'recorded' | 'interventions' | 'outages'>> {
  const ids = rows.map(({ id }) => id)
  const runs = await loadRunsBetween(database, { orgId, ids, from, to, limit: MAX_REPLAYED_RUNS })
  const earlier = attemptsByRun(
    await loadAttemptsOf(database, {
      orgId,
      ids: runs.filter((run) => run.attempt > run.firstAttempt).map(({ id }) => id),
    }),
  )
  const recorded = new Map<string, RecordedAttempt[]>()
  for (const run of runs) appendTo(recorded, run.scheduleId, recordedAttemptsOf(run, earlier.get(run.id) ?? []))
  const ranges = await loadRangesBetween(database, { orgId, ids, from, to })
  const late: readonly LateOccurrence[] = [
    ...runs.flatMap(({ nominal, createdAt }) => (nominal === null ? [] : [{ nominal, seenAt: createdAt }])),
    ...ranges.map(({ first, decidedAt }) => ({ nominal: first, seenAt: decidedAt })),
  ]
  const ended = runs.flatMap(({ finishedAt, startedAt, errorCode }) =>
    finishedAt === null || startedAt === null || errorCode === 'node_lost' ? [] : [finishedAt],
  )
  return { recorded, interventions: manualRunsOf(runs), outages: outagesFrom(late, ended) }
}

function runsBySchedule(runs: readonly PastRun[]): ReadonlyMap<string, readonly PastRun[]> {
  const found = new Map<string, PastRun[]>()
  for (const run of runs) appendTo(found, run.scheduleId, [run])
  return found
}

function attemptsByRun(attempts: readonly PastAttempt[]): ReadonlyMap<RunId, readonly PastAttempt[]> {
  const found = new Map<RunId, PastAttempt[]>()
  for (const attempt of attempts) appendTo(found, attempt.runId, [attempt])
  return found
}

function appendTo<Key, Item>(found: Map<Key, Item[]>, key: Key, items: readonly Item[]): void {
  const known = found.get(key)
  if (known === undefined) found.set(key, [...items])
  else addAll(known, items)
}

/** Assumptions derived from recorded runs, and the number of those runs. */
interface ObservedRuns {
  readonly runs: number
  readonly assume: AssumptionInput
}

/**
 * Whether a run ended by itself, so that its duration is meaningful. A run whose probe said no started no agent and is
 * covered by the probe's own rate.
 */
const hasEndedByItself = ({ state, startedAt, finishedAt, isProbedOut }: PastRun): boolean =>
  !isProbedOut &&
  (state === 'success' || state === 'failed' || state === 'timeout') &&
  startedAt !== null &&
  finishedAt !== null

/** Derives assumptions about the runs of a schedule from those that ended by themselves. */
function observeRuns(runs: readonly PastRun[]): ObservedRuns {
  const endedRuns = runs.filter(hasEndedByItself)
  if (endedRuns.length === 0) return { runs: 0, assume: {} }
  const attempts = endedRuns.reduce((sum, { attempt, firstAttempt }) => sum + attempt - firstAttempt + 1, 0)
  const successes = endedRuns.filter(({ state }) => state === 'success').length
  const timeouts = endedRuns.filter(({ state }) => state === 'timeout').length
  const durations = endedRuns
    .filter(({ state }) => state !== 'timeout')
    .map(({ startedAt, finishedAt }) => Math.max(0, (finishedAt ?? 0) - (startedAt ?? 0)))
  const code = mostFrequentCode(endedRuns)
  return {
    runs: endedRuns.length,
    assume: {
      ...(durations.length === 0 ? {} : { duration_ms: durations }),
      failure_rate: (attempts - successes - timeouts) / attempts,
      timeout_rate: timeouts / attempts,
      ...(code === null ? {} : { error_code: code }),
      ...meanUsage(endedRuns, attempts),
    },
  }
}

function mostFrequentCode(runs: readonly PastRun[]): ErrorCode | null {
  const counts = new Map<ErrorCode, number>()
  for (const { errorCode } of runs)
    if (errorCode !== null && errorCode !== 'timeout') counts.set(errorCode, (counts.get(errorCode) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null
}

/** Mean usage per attempt, because a run records the total of its attempts. */
function meanUsage(runs: readonly PastRun[], attempts: number): Pick<AssumptionInput, 'tokens' | 'cost'> {
  const used = runs.map(({ usage }) => amountsUsed(usage))
  const mean = (unit: 'tokens' | 'money'): number => used.reduce((sum, one) => sum + (one[unit] ?? 0), 0) / attempts
  const [tokens, money] = [Math.round(mean('tokens')), mean('money')]
  return { ...(tokens > 0 ? { tokens } : {}), ...(money > 0 ? { cost: money / MICROS_PER_UNIT } : {}) }
}
