import { invalid } from '../../api/refusals.ts'
import {
  type BackfillSettings,
  selectOccurrences,
  backfillDuration,
  MAX_BACKFILL_OCCURRENCES,
} from '../../domain/schedule/backfill.ts'
import { BUDGET_UNITS, type BudgetUnit } from '../../domain/budget/budget.ts'
import { DAY_MS, earlier, formatInstant, instant, latest, later, type Instant } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { occurrencesBetween } from '../../domain/time/timing.ts'
import { type BackfillEstimate, loadRunDurations, loadRunsOfOccurrences } from './store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { loadOldestRunAt } from '../explain/store.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { viewAmount } from '../forecast/series.ts'
import { loadRecentUsage, toRunSource } from '../forecast/plan.ts'

/** The plan of a backfill: the selected occurrences in order, and the estimates. */
export interface BackfillPlan {
  readonly occurrences: readonly Instant[]
  readonly outlook: BackfillEstimate
}

interface BackfillPlanInput {
  readonly row: ScheduleRow
  readonly terms: BackfillSettings
  readonly now: Instant
  /** Retention of runs in days; null: forever. */
  readonly runDays: number | null
}

/** Plans a backfill of a schedule from its records. Changes nothing. */
export async function planBackfill(connection: Connection, input: BackfillPlanInput): Promise<BackfillPlan> {
  const { row, terms } = input
  const range = occurrencesBetween(row.timing, {
    ...{ after: earlier(terms.from, 1), upTo: earlier(terms.to, 1), limit: MAX_BACKFILL_OCCURRENCES + 1 },
  })
  if (range.length > MAX_BACKFILL_OCCURRENCES)
    throw invalid([
      {
        ...{ field: 'to', value: formatInstant(terms.to) },
        message: `puts more than ${MAX_BACKFILL_OCCURRENCES} occurrences in the range; start with those before ${formatInstant(range[MAX_BACKFILL_OCCURRENCES] ?? terms.to)}`,
      },
    ])
  await refuseUnknownRange(connection, input)
  const { orgId, id: scheduleId } = row
  const runs = new Map<Instant, RunState[]>()
  for (const { nominal, state } of await loadRunsOfOccurrences(connection, { orgId, scheduleId, ...terms })) {
    const known = runs.get(nominal)
    if (known === undefined) runs.set(nominal, [state])
    else known.push(state)
  }
  // An active schedule decides the occurrences after its watermark itself.
  const undecided = row.state === 'active' ? later(row.watermark, 1) : null
  const { selected: taken, leftOut } = selectOccurrences(range, { runs, undecided }, terms)
  const inOrder = terms.order === 'newest' ? taken.toReversed() : taken
  const outlook = {
    ...{ leftOut, first: inOrder[0] ?? null, last: inOrder.at(-1) ?? null },
    ...(await estimateBackfill(connection, input, taken.length)),
    notes: backfillNotes(input, taken.length),
  }
  return { occurrences: taken, outlook }
}

/** Refuses `missing` for a range whose runs have been deleted by retention, because those would be run again. */
async function refuseUnknownRange(
  connection: Connection,
  { row, terms, now, runDays }: BackfillPlanInput,
): Promise<void> {
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
      message: `is before the oldest stored run, so it is unknown which occurrences already ran; start at ${formatInstant(known)}, or use which: all`,
    },
  ])
}

const MAX_RUNS_FOR_ESTIMATE = 50

async function estimateBackfill(
  connection: Connection,
  { row, terms }: BackfillPlanInput,
  runs: number,
): Promise<Pick<BackfillEstimate, 'atOnce' | 'durationMs' | 'tokens' | 'cost'>> {
  const { orgId, id: scheduleId } = row
  const durations = await loadRunDurations(connection, { orgId, scheduleId, limit: MAX_RUNS_FOR_ESTIMATE })
  const runMs = durations.length === 0 ? null : durations.reduce((sum, one) => sum + one, 0) / durations.length
  const recentUsage = await loadRecentUsage(connection, orgId, { schedules: [scheduleId], agents: [row.agentId] })
  const source = toRunSource({ ...row, kind: 'schedule', scheduleId, runsOn: () => [] }, recentUsage, [])
  const use = (unit: BudgetUnit): number | null => {
    const each = source.use[unit]
    return each === null ? null : viewAmount(unit, each.expected * runs)
  }
  const [tokens, cost] = BUDGET_UNITS.map(use)
  const atOnce = concurrencyOf(row, terms)
  return {
    atOnce,
    durationMs: backfillDuration(runs, runMs, { atOnce, spacingMs: terms.spacingMs }),
    ...{ tokens: tokens ?? null, cost: cost ?? null },
  }
}

/** With `wait` a backfill uses no more slots than its schedule has. */
function concurrencyOf({ rules }: ScheduleRow, { policy, maxActive }: BackfillSettings): number {
  if (policy === 'beside' || rules.concurrencyPolicy === 'PARALLEL') return maxActive
  return Math.min(maxActive, rules.maxConcurrency)
}

function backfillNotes({ row, terms }: BackfillPlanInput, count: number): readonly string[] {
  const notes: string[] = []
  const atOnce = concurrencyOf(row, terms)
  if (atOnce < terms.maxActive)
    notes.push(
      `The schedule has max_concurrency ${row.rules.maxConcurrency}, so ${atOnce} will run at a time; policy \`beside\` ignores this limit`,
    )
  if (terms.policy === 'wait' && row.rules.concurrencyPolicy === 'SKIP')
    notes.push(
      'Occurrences that become due while the backfill uses all slots are skipped, because concurrency_policy is SKIP',
    )
  if (row.sessionKey !== null)
    notes.push(`All runs use the session ${row.sessionKey}, one after another, together with its other messages`)
  if (terms.deliver && hasDelivery(row) && count > 1)
    notes.push(`Up to ${count} results are delivered to the target of the schedule; \`deliver: false\` prevents that`)
  if ((row.input['cadence'] ?? null) !== null)
    notes.push('The schedule has a cadence: the backfill uses its configured interval, not the interval at that time')
  if (row.rules.maxFires !== null)
    notes.push('max_fires does not limit a backfill, and a backfill does not count toward it')
  return notes
}

const hasDelivery = ({ input }: ScheduleRow): boolean => (input['delivery'] ?? null) !== null
