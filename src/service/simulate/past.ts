import type {
  AssumptionInput,
  Intervention,
  OutageInput,
  RecordedAttempt,
} from '../../features/simulation/result-schema.ts'
import { amountsUsed } from '../../core/budget/amounts.ts'
import type { OrgId, RunId } from '../../domain/ids.ts'
import { formatInstant, type Instant, MINUTE_MS } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import {
  loadAttemptsOf,
  loadPendingOf,
  loadRangesBetween,
  loadRunsBefore,
  loadRunsBetween,
  type PastAttempt,
  type PastRun,
} from '../../features/simulation/store.ts'
import type { Ports } from '../ports.ts'
import type { SimulatedStanding } from '../../features/simulation/task.ts'
import { askedFor, gapsIn, type Late, pendingStart, recordedOf, standingAt } from './history.ts'
import type { ReadSimulation } from '../../features/simulation/input.ts'

/** What is on record about the schedules that take part, by their ids. */
export interface Past {
  readonly observed: ReadonlyMap<string, Observed>
  readonly standings: ReadonlyMap<string, SimulatedStanding>
  readonly recorded: ReadonlyMap<string, readonly RecordedAttempt[]>
  readonly interventions: readonly Intervention[]
  readonly outages: readonly OutageInput[]
}

/** The runs of a schedule that say how it goes: as many as tell a habit from an accident. */
const LOOKED_AT = 50
/** More of history is not replayed at once. */
const MOST_REPLAYED = 50_000
/** A window that begins so near to now begins with what is under way now. */
const NOW_MS = MINUTE_MS

const NOTHING: Past = {
  ...{ observed: new Map(), standings: new Map(), recorded: new Map(), interventions: [], outages: [] },
}

interface Asked {
  readonly asked: ReadSimulation
  readonly rows: readonly ScheduleRow[]
}

/** Reads what is on record. Without stored schedules there is nothing to read. */
export async function readPast(ports: Ports, orgId: OrgId, { asked, rows }: Asked): Promise<Past> {
  if (rows.length === 0) return NOTHING
  const { database, clock } = ports
  const ids = rows.map(({ id }) => id)
  const now = clock.now()
  const before = asked.replay ? asked.from : now
  const runs = bySchedule(await loadRunsBefore(database, { orgId, ids, before, limit: LOOKED_AT }))
  const observed = new Map(
    asked.observed ? [...runs].map(([id, of]): [string, Observed] => [id, observe(of)]) : undefined,
  )
  if (asked.replay) {
    const history = await readHistory(ports, orgId, { asked, rows })
    return { ...history, observed, standings: standingsThen(rows, asked.from, runs) }
  }
  const isNow = Math.abs(asked.from - now) <= NOW_MS
  const pending = isNow ? bySchedule(await loadPendingOf(database, { orgId, ids })) : new Map<string, PastRun[]>()
  return { ...NOTHING, observed, standings: new Map(rows.map((row) => [row.id, standingNow(row, isNow, pending)])) }
}

function standingNow(
  row: ScheduleRow,
  isNow: boolean,
  pending: ReadonlyMap<string, readonly PastRun[]>,
): SimulatedStanding {
  const { fires, failureStreak, lastEnding, watermark } = row
  if (!isNow) return { fires, failure_streak: failureStreak }
  return {
    ...{
      fires,
      failure_streak: failureStreak,
      ...(row.state === 'active' ? { watermark: formatInstant(watermark) } : {}),
      ...(row.state === 'active' && row.pace !== null ? { pace: row.pace } : {}),
    },
    ...(lastEnding === null ? {} : { last_ending: endingOf(lastEnding) }),
    pending: pendingNow(pending.get(row.id) ?? []),
  }
}

/** What is being stopped is as good as gone. */
const pendingNow = (runs: readonly PastRun[]): SimulatedStanding['pending'] =>
  runs
    .filter(({ state, superseded }) => !superseded && state !== 'stopping')
    .map((run) => pendingStart(run, run.state !== 'queued' && run.state !== 'waiting'))

const endingOf = ({ status, attempt, endedAt }: NonNullable<ScheduleRow['lastEnding']>) => ({
  ...{ status, attempt, ended_at: formatInstant(endedAt) },
})

function standingsThen(
  rows: readonly ScheduleRow[],
  at: Instant,
  runs: ReadonlyMap<string, readonly PastRun[]>,
): ReadonlyMap<string, SimulatedStanding> {
  return new Map(rows.map(({ id }) => [id, standingAt(at, runs.get(id) ?? [])]))
}

/** How the window went that is replayed. */
async function readHistory(
  { database }: Ports,
  orgId: OrgId,
  { asked: { from, to }, rows }: Asked,
): Promise<Pick<Past, 'recorded' | 'interventions' | 'outages'>> {
  const ids = rows.map(({ id }) => id)
  const runs = await loadRunsBetween(database, { orgId, ids, from, to, limit: MOST_REPLAYED })
  const earlier = byRun(
    await loadAttemptsOf(database, {
      orgId,
      ids: runs.filter((run) => run.attempt > run.firstAttempt).map(({ id }) => id),
    }),
  )
  const recorded = new Map<string, RecordedAttempt[]>()
  for (const run of runs) put(recorded, run.scheduleId, recordedOf(run, earlier.get(run.id) ?? []))
  const ranges = await loadRangesBetween(database, { orgId, ids, from, to })
  const late: readonly Late[] = [
    ...runs.flatMap(({ nominal, createdAt }) => (nominal === null ? [] : [{ nominal, seenAt: createdAt }])),
    ...ranges.map(({ first, decidedAt }) => ({ nominal: first, seenAt: decidedAt })),
  ]
  const ended = runs.flatMap(({ finishedAt, startedAt, errorCode }) =>
    finishedAt === null || startedAt === null || errorCode === 'node_lost' ? [] : [finishedAt],
  )
  return { recorded, interventions: askedFor(runs), outages: gapsIn(late, ended) }
}

function bySchedule(runs: readonly PastRun[]): ReadonlyMap<string, readonly PastRun[]> {
  const found = new Map<string, PastRun[]>()
  for (const run of runs) put(found, run.scheduleId, [run])
  return found
}

function byRun(attempts: readonly PastAttempt[]): ReadonlyMap<RunId, readonly PastAttempt[]> {
  const found = new Map<RunId, PastAttempt[]>()
  for (const attempt of attempts) put(found, attempt.runId, [attempt])
  return found
}

function put<Key, Item>(found: Map<Key, Item[]>, key: Key, items: readonly Item[]): void {
  const known = found.get(key)
  if (known === undefined) found.set(key, [...items])
  else addAll(known, items)
}

const MICROS = 1e6

/** What runs on record say about how such runs go, and how many they are. */
interface Observed {
  readonly runs: number
  readonly assume: AssumptionInput
}

/**
 * Runs that ended by themselves; how long a run takes that was ended says nothing. A run whose probe said no started no
 * agent, and how often that happens is a rate of its own.
 */
const speaks = ({ state, startedAt, finishedAt, isProbedOut }: PastRun): boolean =>
  !isProbedOut &&
  (state === 'success' || state === 'failed' || state === 'timeout') &&
  startedAt !== null &&
  finishedAt !== null

/** How runs of a schedule may be assumed to go, from those that ended by themselves. */
function observe(runs: readonly PastRun[]): Observed {
  const told = runs.filter(speaks)
  if (told.length === 0) return { runs: 0, assume: {} }
  const attempts = told.reduce((sum, { attempt, firstAttempt }) => sum + attempt - firstAttempt + 1, 0)
  const successes = told.filter(({ state }) => state === 'success').length
  const timeouts = told.filter(({ state }) => state === 'timeout').length
  const durations = told
    .filter(({ state }) => state !== 'timeout')
    .map(({ startedAt, finishedAt }) => Math.max(0, (finishedAt ?? 0) - (startedAt ?? 0)))
  const code = usualCode(told)
  return {
    runs: told.length,
    assume: {
      ...(durations.length === 0 ? {} : { duration_ms: durations }),
      failure_rate: (attempts - successes - timeouts) / attempts,
      timeout_rate: timeouts / attempts,
      ...(code === null ? {} : { error_code: code }),
      ...usageOf(told, attempts),
    },
  }
}

function usualCode(runs: readonly PastRun[]): ErrorCode | null {
  const counts = new Map<ErrorCode, number>()
  for (const { errorCode } of runs)
    if (errorCode !== null && errorCode !== 'timeout') counts.set(errorCode, (counts.get(errorCode) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null
}

/** A run says what all its attempts have used together. */
function usageOf(runs: readonly PastRun[], attempts: number): Pick<AssumptionInput, 'tokens' | 'cost'> {
  const used = runs.map(({ usage }) => amountsUsed(usage))
  const mean = (unit: 'tokens' | 'money'): number => used.reduce((sum, one) => sum + (one[unit] ?? 0), 0) / attempts
  const [tokens, money] = [Math.round(mean('tokens')), mean('money')]
  return { ...(tokens > 0 ? { tokens } : {}), ...(money > 0 ? { cost: money / MICROS } : {}) }
}
