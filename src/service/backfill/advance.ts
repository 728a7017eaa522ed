import { BACKFILL_PRIORITY } from '../../core/backfill/backfill.ts'
import { countEnded, decideStep, type StepFacts } from '../../core/backfill/step.ts'
import type { OrgId, RunId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { jobRunIdOf } from '../../domain/schedule/occurrence-key.ts'
import {
  type BackfillRow,
  loadBackfill,
  loadEndedRuns,
  loadNextMoments,
  loadOpenBackfills,
  type OpenBackfill,
  saveBackfill,
} from '../../features/backfill/store.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { closedBudget } from '../desk/budgets.ts'
import { closedDay } from '../desk/daily-runs.ts'
import { type Desk, pendingOfSchedule } from '../desk/desk.ts'
import { runOf } from '../desk/fire.ts'
import { makeRun } from '../desk/runs.ts'
import type { Ports } from '../ports.ts'
import type { Work } from '../turn-port.ts'
import { sessionFor } from '../turn/turn.ts'

/** More are not looked after in one pass. */
const AT_ONCE = 200

/** The backfills of every org that somebody has to look after. */
export const findOpenBackfills = (
  { database }: Pick<Ports, 'database'>,
  now: Instant,
): Promise<readonly OpenBackfill[]> => loadOpenBackfills(database, { now, limit: AT_ONCE })

/** A backfill, with what its runs have come to, and whether any has ended since somebody last looked. */
export interface LookedAt {
  readonly row: BackfillRow
  readonly isNews: boolean
}

/** Reads a backfill and looks at its runs. */
export async function lookAt(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<LookedAt | undefined> {
  const row = await loadBackfill(connection, wanted)
  if (row === undefined) return undefined
  const { orgId, inFlight: ids } = row
  const ended = ids.length === 0 ? [] : await loadEndedRuns(connection, { orgId, ids })
  if (ended.length === 0) return { row, isNews: false }
  const { counts, failuresInRow, inFlight } = countEnded(row, ended)
  return { row: { ...row, counts, failuresInRow, inFlight: inFlight as readonly RunId[] }, isNews: true }
}

/** Writes how far a backfill has come, in the transaction of what it did. */
export const keepProgress = async (tx: Transaction, row: BackfillRow | null): Promise<void> => {
  if (row !== null) await saveBackfill(tx, row)
}

interface Prepared extends LookedAt {
  readonly moments: readonly Instant[]
}

/**
 * Takes a backfill one step further: counts what has ended, ends it or makes the next runs. It is read and written in the
 * turn that makes them, so nothing is made twice, whichever node takes the step and whenever one is killed.
 */
export const advanceWork = (open: OpenBackfill): Work<BackfillRow | null> => ({
  orgId: open.orgId,
  needs: { schedules: [open.scheduleId] },
  prepare: async (tx): Promise<Prepared | null> => {
    const found = await lookAt(tx, open)
    if (found === undefined) return null
    return { ...found, moments: await loadNextMoments(tx, { ...open, limit: found.row.terms.maxActive }) }
  },
  apply: (desk, prepared) => (prepared === null ? null : advance(desk, prepared as Prepared)),
  conclude: keepProgress,
})

/** Null: nothing has changed. */
function advance(desk: Desk, { row, moments, isNews }: Prepared): BackfillRow | null {
  const asItWas = isNews ? row : null
  if (row.state !== 'running') return asItWas
  const schedule = desk.schedules.get(row.scheduleId)
  const step = decideStep(row, row.terms, factsFor(desk, row, schedule))
  switch (step.kind) {
    case 'rest':
      return asItWas
    case 'hold':
      return { ...row, why: step.why, nextAt: step.nextAt }
    case 'end': {
      const ended: BackfillRow = { ...row, state: step.state, why: step.why, nextAt: null, finishedAt: desk.now }
      tellBackfill(desk, ended)
      return ended
    }
    case 'make': {
      if (schedule === undefined) return asItWas
      if (schedule.sessionKey !== null) sessionFor({ desk }, schedule.sessionKey)
      const made: RunId[] = []
      // Each is one of the runs of the day; where they end, the rest is for another.
      for (const moment of moments.slice(0, step.count))
        if (closedDay(desk) === null) made.push(makeOne(desk, { row, schedule, moment }))
      return {
        ...{ ...row, why: null, nextAt: step.nextAt },
        ...{ taken: row.taken + made.length, inFlight: [...row.inFlight, ...made] },
      }
    }
  }
}

function factsFor(desk: Desk, row: BackfillRow, schedule: ScheduleRow | undefined): StepFacts {
  const { now } = desk
  if (schedule === undefined) return { now, scheduleId: row.scheduleId, schedule: null, closed: null }
  const own = new Set<string>(row.inFlight)
  const pending = pendingOfSchedule(desk, schedule.id)
  const { concurrencyPolicy, maxConcurrency } = schedule.rules
  const held = pending.filter(({ slot }) => slot === 'held').length
  return {
    ...{ now, scheduleId: schedule.id, closed: closedFor(desk, schedule) },
    schedule: {
      others: pending.filter(({ id }) => !own.has(id)).length,
      freeSlots: concurrencyPolicy === 'PARALLEL' ? Infinity : Math.max(0, maxConcurrency - held),
    },
  }
}

/** What keeps everybody from making runs of the schedule keeps a backfill waiting: it loses no moment by it. */
function closedFor(desk: Desk, schedule: ScheduleRow): StepFacts['closed'] {
  if (schedule.state === 'pending_approval')
    return { why: because('awaits_approval', 'approval', { state: schedule.state }), until: null }
  const day = closedDay(desk)
  if (day !== null) return day
  const budget = desk.budgets === null ? null : closedBudget(desk, { ...schedule, scheduleId: schedule.id })
  return budget === null ? null : { why: budget.why, until: null }
}

interface Making {
  readonly row: BackfillRow
  readonly schedule: ScheduleRow
  readonly moment: Instant
}

function makeOne(desk: Desk, { row, schedule, moment }: Making): RunId {
  const { terms } = row
  const id = desk.chance.newRunId('run', desk.now)
  const key = { kind: 'backfill', scheduleId: schedule.id, nominal: moment, backfillId: row.id } as const
  desk.changes.occurrences.push({ key, runId: id })
  const usual = runOf(desk, schedule)
  const evidence = { backfill: row.id, by: row.createdBy, nominal: formatInstant(moment), policy: terms.policy }
  makeRun(desk, {
    ...usual,
    ...{ id, jobRunId: jobRunIdOf(key), nominal: moment, trigger: 'manual', state: 'queued' },
    ...{ lane: terms.lane ?? usual.lane, priority: BACKFILL_PRIORITY },
    slot: terms.policy === 'wait' ? 'held' : null,
    // Under failure action RETRY the next occurrence is the retry; what is made up for has none.
    failureActionRetries: false,
    trace: desk.chance.newTrace?.('manual') ?? null,
    delivery: terms.deliver ? (usual.delivery ?? null) : null,
    decision: because('backfilled', 'backfill', evidence),
  })
  return id
}

/** Tells whoever watches the schedule that a backfill of it has begun or ended. */
export function tellBackfill(desk: Desk, { id, scheduleId: subject, state }: BackfillRow): void {
  const owner = desk.schedules.get(subject)?.owner ?? null
  const data = { change: 'backfill', backfill: id, backfill_state: state, ...(owner === null ? {} : { owner }) }
  desk.changes.events.push({ kind: 'schedule.changed', subject, data })
}
