import { firstStart } from '../../src/domain/run/run.ts'
import type { SimulationView } from '../../src/features/simulation/result-schema.ts'
import { type OrgId, scheduleId } from '../../src/domain/ids.ts'
import { formatInstant, type Instant } from '../../src/domain/instant.ts'
import type { Why } from '../../src/domain/reasons.ts'
import type { SimulationTask } from '../../src/features/simulation/task.ts'
import type { Database, Row } from '../../src/platform/db/database.ts'
import { listRuns } from '../../src/features/runs/read-store.ts'
import type { RunRecord } from '../../src/features/runs/record-store.ts'
import { loadSchedules } from '../../src/features/schedules/store.ts'

/** What happened, as lines that can be compared: one for each run, attempt, range and schedule. */
export type Story = readonly string[]

const told = (facts: Readonly<Record<string, string | number | boolean | null>>): string =>
  Object.entries(facts)
    .map(([name, fact]) => `${name}=${String(fact)}`)
    .join(' ')

/** The story that a simulation tells. */
export function simulatedStory(view: SimulationView): Story {
  const lines: string[] = []
  for (const run of view.rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    lines.push(
      told({
        ...{ run: run.schedule_id, nominal: run.nominal_time, trigger: run.trigger, status: run.status },
        ...{ reason: run.reason, rule: run.rule, decided: run.decision.reason, decided_by: run.decision.rule },
        held: run.held_decision?.reason ?? null,
        ...{ first: run.first_attempt, attempt: run.attempt, created: run.created_at, started: run.started_at },
        ...{ finished: run.finished_at, superseded: run.superseded, by: run.superseded_by, error: run.error_code },
      }),
    )
    // The last one is in the run itself.
    for (const one of run.attempts.filter(({ number }) => number < run.attempt))
      lines.push(
        told({
          ...{ attempt: one.number, started: one.started_at, finished: one.finished_at, status: one.status },
          error: one.error_code,
        }),
      )
  }
  for (const range of view.ranges)
    lines.push(
      told({
        ...{ range: range.schedule_id, first: range.first, last: range.last, count: range.count },
        ...{ decided: range.decided_at, reason: range.reason, rule: range.rule },
      }),
    )
  for (const one of view.schedules)
    lines.push(
      one.state === null
        ? told({ schedule: one.id, state: null })
        : told({
            ...{ schedule: one.id, state: one.state, next: one.next_run_at, fires: one.fires },
            streak: one.failure_streak,
          }),
    )
  return lines
}

const written = (at: Instant | null): string | null => (at === null ? null : formatInstant(at))

/** The story that the rows in the database tell. */
export async function recordedStory(database: Database, org: OrgId, task: SimulationTask): Promise<Story> {
  const runs = await listRuns(database, { orgId: org, after: null, limit: 10_000 })
  const attempts = await database.query(
    'select run_id, number, started_at, finished_at, status, error_code from attempt where org_id = $1 order by number',
    [org],
  )
  const byRun = new Map<string, Row[]>()
  for (const row of attempts) byRun.set(row['run_id'] as string, [...(byRun.get(row['run_id'] as string) ?? []), row])
  const lines: string[] = []
  for (const run of [...runs].sort((a, b) => (a.id < b.id ? -1 : 1)))
    lines.push(runLine(run), ...(byRun.get(run.id) ?? []).map(attemptLine))
  lines.push(...(await rangeLines(database, org)), ...(await scheduleLines(database, org, task)))
  return lines
}

function runLine(run: RunRecord): string {
  const why = run.why ?? run.decision
  const by = run.superseded ? why.evidence['nominal'] : undefined
  return told({
    ...{ run: run.scheduleId, nominal: written(run.nominal), trigger: run.trigger, status: run.state },
    ...{ reason: why.reason, rule: why.rule, decided: run.decision.reason, decided_by: run.decision.rule },
    held: run.heldDecision?.reason ?? null,
    ...{ first: run.firstAttempt, attempt: run.attempt, created: written(run.createdAt) },
    ...{ started: written(firstStart(run)), finished: written(run.finishedAt), superseded: run.superseded },
    by: typeof by === 'string' ? by : null,
    error: run.errorCode,
  })
}

const attemptLine = (row: Row): string =>
  told({
    attempt: row['number'] as number,
    started: written(row['started_at'] as Instant),
    finished: written(row['finished_at'] as Instant),
    status: row['status'] as string,
    error: row['error_code'] as string | null,
  })

async function rangeLines(database: Database, org: OrgId): Promise<readonly string[]> {
  const rows = await database.query(
    `select schedule_id, first_at, last_at, count, why, decided_at from decision where org_id = $1
      order by decided_at, schedule_id`,
    [org],
  )
  return rows.map((row) => {
    const why = row['why'] as Why
    return told({
      range: row['schedule_id'] as string,
      first: written(row['first_at'] as Instant),
      last: written(row['last_at'] as Instant),
      count: row['count'] as number,
      decided: written(row['decided_at'] as Instant),
      ...{ reason: why.reason, rule: why.rule },
    })
  })
}

async function scheduleLines(database: Database, org: OrgId, task: SimulationTask): Promise<readonly string[]> {
  const ids = task.schedules.map(({ id }) => scheduleId(id))
  const rows = new Map((await loadSchedules(database, { orgId: org, ids })).map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = rows.get(id)
    if (row === undefined) return told({ schedule: id, state: null })
    const { state, nextRunAt, fires, failureStreak } = row
    return told({ schedule: id, state, next: written(nextRunAt), fires, streak: failureStreak })
  })
}
