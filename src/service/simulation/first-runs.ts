import type { Instant } from '../../core/instant.ts'
import { because } from '../../core/reasons.ts'
import { formatInstant } from '../../core/instant.ts'
import { jobRunIdOf } from '../../core/schedule/occurrence-key.ts'
import type { RunRow } from '../../store/run-row.ts'
import { pendingOfSchedule, type Desk } from '../desk/desk.ts'
import { runOf } from '../desk/fire.ts'
import { makeRun } from '../desk/runs.ts'
import { sessionFor } from '../turn/turn.ts'
import type { FirstRun } from './plan.ts'
import { backdate, takeTurn } from './turns.ts'
import type { World } from './world.ts'

/** Puts on the desk what is pending when the window begins: what was at work goes first, so that it still is. */
export function makeFirstRuns(world: World): void {
  const { firstRuns } = world.plan
  if (firstRuns.length === 0) return
  const made: { readonly run: RunRow; readonly startedAt: Instant | null }[] = []
  const sorted = firstRuns.toSorted((a, b) => Number(a.startedAt === null) - Number(b.startedAt === null))
  const apply = (desk: Desk): void => {
    for (const first of sorted) made.push({ run: makeFirst(desk, first), startedAt: first.startedAt })
  }
  takeTurn(world, [{ apply }])
  for (const { run, startedAt } of made) backdate(world, run, startedAt)
}

function makeFirst(desk: Desk, { row: given, nominal, createdAt, attempts }: FirstRun): RunRow {
  const row = desk.schedules.get(given.id) ?? given
  if (row.sessionKey !== null) sessionFor({ desk }, row.sessionKey)
  const held = pendingOfSchedule(desk, row.id).filter(({ slot }) => slot === 'held').length
  const hasRoom = row.rules.concurrencyPolicy === 'PARALLEL' || held < row.rules.maxConcurrency
  const id = desk.chance.newRunId('run', desk.now)
  row.previousRunId = id
  const moment = nominal ?? createdAt
  const key =
    nominal === null
      ? ({ kind: 'manual', scheduleId: row.id, nominal: moment, runId: id } as const)
      : ({ kind: 'occurrence', scheduleId: row.id, nominal: moment } as const)
  const decision =
    nominal === null
      ? because('run_now', 'run_now')
      : because('due', 'timing', { nominal: formatInstant(nominal), seen: formatInstant(createdAt) })
  return makeRun(desk, {
    ...runOf(desk, row),
    ...{ id, nominal, createdAt, decision, jobRunId: jobRunIdOf(key) },
    trigger: nominal === null ? 'manual' : 'schedule',
    state: 'queued',
    slot: hasRoom ? 'held' : 'parked',
    firstAttempt: attempts.firstAttempt,
    attempt: attempts.attempt,
  })
}
