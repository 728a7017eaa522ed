import { BACKFILL_PRIORITY, countBackfilled, decideStep, type StepFacts } from '../../domain/schedule/backfill.ts'
import type { OrgId, RunId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { jobRunIdOf } from '../../domain/schedule/occurrence-key.ts'
import {
  type BackfillRow,
  loadBackfill,
  loadEndedRuns,
  loadNextOccurrences,
  loadOpenBackfills,
  type OpenBackfill,
  saveBackfill,
} from './store.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { closedBudget } from '../../engine/commands/budgets.ts'
import { dailyLimitReached } from '../../engine/commands/daily-runs.ts'
import { type OrgState, pendingOfSchedule } from '../../engine/org-state/org-state.ts'
import { scheduleRunFields } from '../../engine/commands/fire.ts'
import { createRun } from '../../engine/commands/runs.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Command } from '../../engine/commands-port.ts'
import { ensureSession } from '../../engine/transaction/transaction.ts'

/** How many backfills one pass handles. */
const MAX_BACKFILLS_PER_PASS = 200

/** Open backfills of all orgs, which the loop has to advance. */
export const listOpenBackfills = (
  { database }: Pick<Ports, 'database'>,
  now: Instant,
): Promise<readonly OpenBackfill[]> => loadOpenBackfills(database, { now, limit: MAX_BACKFILLS_PER_PASS })

/** A backfill with updated counts, and whether any of its runs has ended since the last pass. */
export interface CountedBackfill {
  readonly row: BackfillRow
  readonly hasChanged: boolean
}

/** Loads a backfill and counts its ended runs. */
export async function loadCountedBackfill(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<CountedBackfill | undefined> {
  const row = await loadBackfill(connection, wanted)
  if (row === undefined) return undefined
  const { orgId, inFlight: ids } = row
  const ended = ids.length === 0 ? [] : await loadEndedRuns(connection, { orgId, ids })
  if (ended.length === 0) return { row, hasChanged: false }
  const { counts, failuresInRow, inFlight } = countBackfilled(row, ended)
  return { row: { ...row, counts, failuresInRow, inFlight: inFlight as readonly RunId[] }, hasChanged: true }
}

/** Saves the progress of a backfill in the transaction that created its runs. */
export const saveBackfillProgress = async (tx: Transaction, row: BackfillRow | null): Promise<void> => {
  if (row !== null) await saveBackfill(tx, row)
}

interface PreparedStep extends CountedBackfill {
  readonly occurrences: readonly Instant[]
}

/**
 * Advances a backfill by one step: counts ended runs, then ends it or creates the next runs. The same transaction reads
 * the backfill, creates the runs and saves the progress, so a crash or a second node never creates a run twice.
 */
export const advanceCommand = (open: OpenBackfill): Command<BackfillRow | null> => ({
  orgId: open.orgId,
  needs: { schedules: [open.scheduleId] },
  prepare: async (tx): Promise<PreparedStep | null> => {
    const found = await loadCountedBackfill(tx, open)
    if (found === undefined) return null
    return { ...found, occurrences: await loadNextOccurrences(tx, { ...open, limit: found.row.terms.maxActive }) }
  },
  apply: (orgState, prepared) => (prepared === null ? null : advanceBackfill(orgState, prepared as PreparedStep)),
  afterApply: saveBackfillProgress,
})

/** Null: nothing changed. */
function advanceBackfill(orgState: OrgState, { row, occurrences, hasChanged }: PreparedStep): BackfillRow | null {
  const progress = hasChanged ? row : null
  if (row.state !== 'running') return progress
  const schedule = orgState.schedules.get(row.scheduleId)
  const step = decideStep(row, row.terms, stepFactsFor(orgState, row, schedule))
  switch (step.kind) {
    case 'rest':
      return progress
    case 'hold':
      return { ...row, why: step.why, nextAt: step.nextAt }
    case 'end': {
      const ended: BackfillRow = { ...row, state: step.state, why: step.why, nextAt: null, finishedAt: orgState.now }
      emitBackfillEvent(orgState, ended)
      return ended
    }
    case 'make': {
      if (schedule === undefined) return progress
      if (schedule.sessionKey !== null) ensureSession({ state: orgState }, schedule.sessionKey)
      const created: RunId[] = []
      // Each run counts toward the org's daily limit; the remaining occurrences wait for another day.
      for (const occurrence of occurrences.slice(0, step.count))
        if (dailyLimitReached(orgState) === null)
          created.push(createBackfilledRun(orgState, { row, schedule, occurrence }))
      return {
        ...{ ...row, why: null, nextAt: step.nextAt },
        ...{ taken: row.taken + created.length, inFlight: [...row.inFlight, ...created] },
      }
    }
  }
}

function stepFactsFor(orgState: OrgState, row: BackfillRow, schedule: ScheduleRow | undefined): StepFacts {
  const { now } = orgState
  if (schedule === undefined) return { now, scheduleId: row.scheduleId, schedule: null, closed: null }
  const own = new Set<string>(row.inFlight)
  const pending = pendingOfSchedule(orgState, schedule.id)
  const { concurrencyPolicy, maxConcurrency } = schedule.rules
  const held = pending.filter(({ slot }) => slot === 'held').length
  return {
    ...{ now, scheduleId: schedule.id, closed: closedGateFor(orgState, schedule) },
    schedule: {
      others: pending.filter(({ id }) => !own.has(id)).length,
      freeSlots: concurrencyPolicy === 'PARALLEL' ? Infinity : Math.max(0, maxConcurrency - held),
    },
  }
}

/** Reasons that stop all runs of the schedule make the backfill wait, without losing occurrences. */
function closedGateFor(orgState: OrgState, schedule: ScheduleRow): StepFacts['closed'] {
  if (schedule.state === 'pending_approval')
    return { why: because('awaits_approval', 'approval', { state: schedule.state }), until: null }
  const day = dailyLimitReached(orgState)
  if (day !== null) return day
  const budget = orgState.budgets === null ? null : closedBudget(orgState, { ...schedule, scheduleId: schedule.id })
  return budget === null ? null : { why: budget.why, until: null }
}

interface BackfilledOccurrence {
  readonly row: BackfillRow
  readonly schedule: ScheduleRow
  readonly occurrence: Instant
}

function createBackfilledRun(orgState: OrgState, { row, schedule, occurrence }: BackfilledOccurrence): RunId {
  const { terms } = row
  const id = orgState.randomSource.newRunId('run', orgState.now)
  const key = { kind: 'backfill', scheduleId: schedule.id, nominal: occurrence, backfillId: row.id } as const
  orgState.changes.occurrences.push({ key, runId: id })
  const base = scheduleRunFields(orgState, schedule)
  const evidence = { backfill: row.id, by: row.createdBy, nominal: formatInstant(occurrence), policy: terms.policy }
  createRun(orgState, {
    ...base,
    ...{ id, jobRunId: jobRunIdOf(key), nominal: occurrence, trigger: 'manual', state: 'queued' },
    ...{ lane: terms.lane ?? base.lane, priority: BACKFILL_PRIORITY },
    slot: terms.policy === 'wait' ? 'held' : null,
    // With failure action RETRY the next occurrence is the retry, and a backfilled run has no next occurrence.
    failureActionRetries: false,
    trace: orgState.randomSource.newTrace?.('manual') ?? null,
    delivery: terms.deliver ? (base.delivery ?? null) : null,
    decision: because('backfilled', 'backfill', evidence),
  })
  return id
}

/** Emits an event that a backfill of the schedule has started or ended. */
export function emitBackfillEvent(orgState: OrgState, { id, scheduleId: subject, state }: BackfillRow): void {
  const owner = orgState.schedules.get(subject)?.owner ?? null
  const data = { change: 'backfill', backfill: id, backfill_state: state, ...(owner === null ? {} : { owner }) }
  orgState.changes.events.push({ kind: 'schedule.changed', subject, data })
}
