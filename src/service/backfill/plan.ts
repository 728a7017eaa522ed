import { invalid } from '../../api/refusals.ts'
import { type BackfillTerms, chooseMoments, durationAt, MOST_MOMENTS } from '../../core/backfill/backfill.ts'
import { BUDGET_UNITS, type BudgetUnit } from '../../domain/budget/budget.ts'
import { DAY_MS, earlier, formatInstant, instant, latest, later, type Instant } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { occurrencesBetween } from '../../domain/time/timing.ts'
import { type BackfillOutlook, loadRunLengths, loadRunsOfMoments } from '../../features/backfill/store.ts'
import type { Connection } from '../../store/database.ts'
import { loadOldestRunAt } from '../../features/explain/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { viewAmount } from '../forecast/series.ts'
import { loadHabits, sourceOf } from '../forecast/plan.ts'

/** What a backfill would do: the moments it takes, in its order, and what is known about them. */
export interface BackfillPlan {
  readonly moments: readonly Instant[]
  readonly outlook: BackfillOutlook
}

interface Planning {
  readonly row: ScheduleRow
  readonly terms: BackfillTerms
  readonly now: Instant
  /** How long runs are kept; null: for ever. */
  readonly runDays: number | null
}

/** Plans a backfill of a schedule from what is on record. Changes nothing. */
export async function planBackfill(connection: Connection, planning: Planning): Promise<BackfillPlan> {
  const { row, terms } = planning
  const range = occurrencesBetween(row.timing, {
    ...{ after: earlier(terms.from, 1), upTo: earlier(terms.to, 1), limit: MOST_MOMENTS + 1 },
  })
  if (range.length > MOST_MOMENTS)
    throw invalid([
      {
        ...{ field: 'to', value: formatInstant(terms.to) },
        message: `holds more than ${MOST_MOMENTS} moments; begin with those before ${formatInstant(range[MOST_MOMENTS] ?? terms.to)}`,
      },
    ])
  await refuseForgotten(connection, planning)
  const { orgId, id: scheduleId } = row
  const runs = new Map<Instant, RunState[]>()
  for (const { nominal, state } of await loadRunsOfMoments(connection, { orgId, scheduleId, ...terms })) {
    const known = runs.get(nominal)
    if (known === undefined) runs.set(nominal, [state])
    else known.push(state)
  }
  // What an active schedule has not looked at yet it will decide by itself.
  const undecided = row.state === 'active' ? later(row.watermark, 1) : null
  const { taken, leftOut } = chooseMoments(range, { runs, undecided }, terms)
  const inOrder = terms.order === 'newest' ? taken.toReversed() : taken
  const outlook = {
    ...{ leftOut, first: inOrder[0] ?? null, last: inOrder.at(-1) ?? null },
    ...(await expect(connection, planning, taken.length)),
    notes: notesOn(planning, taken.length),
  }
  return { moments: taken, outlook }
}

/** Whoever asks for what is missing must be able to know it: runs are not kept for ever. */
async function refuseForgotten(connection: Connection, { row, terms, now, runDays }: Planning): Promise<void> {
  if (terms.which === 'all' || runDays === null || row.fires === 0) return
  const kept = earlier(now, runDays * DAY_MS)
  const from = latest(terms.from, row.createdAt)
  if (from >= kept) return
  const oldest = (await loadOldestRunAt(connection, { orgId: row.orgId, scheduleId: row.id })) ?? kept
  const known = instant(Math.min(oldest, kept))
  if (from >= known || terms.to <= row.createdAt) return
  throw invalid([
    {
      ...{ field: 'from', value: formatInstant(terms.from) },
      message: `reaches back to where it is not kept any more which moments had a run; begin at ${formatInstant(known)}, or take all`,
    },
  ])
}

const LOOKED_AT = 50

async function expect(
  connection: Connection,
  { row, terms }: Planning,
  runs: number,
): Promise<Pick<BackfillOutlook, 'atOnce' | 'durationMs' | 'tokens' | 'cost'>> {
  const { orgId, id: scheduleId } = row
  const lengths = await loadRunLengths(connection, { orgId, scheduleId, limit: LOOKED_AT })
  const runMs = lengths.length === 0 ? null : lengths.reduce((sum, one) => sum + one, 0) / lengths.length
  const habits = await loadHabits(connection, orgId, { schedules: [scheduleId], agents: [row.agentId] })
  const source = sourceOf({ ...row, kind: 'schedule', scheduleId, runsOn: () => [] }, habits, [])
  const use = (unit: BudgetUnit): number | null => {
    const each = source.use[unit]
    return each === null ? null : viewAmount(unit, each.expected * runs)
  }
  const [tokens, cost] = BUDGET_UNITS.map(use)
  const atOnce = atOnceOf(row, terms)
  return {
    atOnce,
    durationMs: durationAt(runs, runMs, { atOnce, spacingMs: terms.spacingMs }),
    ...{ tokens: tokens ?? null, cost: cost ?? null },
  }
}

/** Under `wait` a backfill takes no more slots than its schedule has. */
function atOnceOf({ rules }: ScheduleRow, { policy, maxActive }: BackfillTerms): number {
  if (policy === 'beside' || rules.concurrencyPolicy === 'PARALLEL') return maxActive
  return Math.min(maxActive, rules.maxConcurrency)
}

function notesOn({ row, terms }: Planning, count: number): readonly string[] {
  const notes: string[] = []
  const atOnce = atOnceOf(row, terms)
  if (atOnce < terms.maxActive)
    notes.push(
      `The schedule has max_concurrency ${row.rules.maxConcurrency}, so ${atOnce} will run at a time; \`beside\` does not count its slots`,
    )
  if (terms.policy === 'wait' && row.rules.concurrencyPolicy === 'SKIP')
    notes.push(
      'An occurrence that comes due while all slots are taken by the backfill is skipped: concurrency_policy is SKIP',
    )
  if (row.sessionKey !== null)
    notes.push(`All runs are in the session ${row.sessionKey}, one after the other, with whatever else is said there`)
  if (terms.deliver && hasDelivery(row) && count > 1)
    notes.push(`Up to ${count} results go where the schedule sends its own; \`deliver: false\` keeps them`)
  if ((row.input['cadence'] ?? null) !== null)
    notes.push('The schedule has a cadence: its moments are taken from the interval it was given, whatever pace it had')
  if (row.rules.maxFires !== null) notes.push('max_fires neither limits a backfill nor is it used up by one')
  return notes
}

const hasDelivery = ({ input }: ScheduleRow): boolean => (input['delivery'] ?? null) !== null
