import type { SeriesFilter, SeriesPoint, SeriesStep, StatsSeries } from '../features/stats/schema.ts'
import { invalid } from '../api/refusals.ts'
import { fromMicros } from '../domain/budget/budget.ts'
import { DAY_MS, formatInstant, HOUR_MS, instant, type Instant } from '../domain/instant.ts'
import { percentile, type EndedCounts } from '../core/run/ended-counts.ts'
import { loadCountSteps } from '../features/stats/store.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'
import { addUp, readStretch, wholeSteps, type Stretch } from './stats.ts'

const STEP_MS: Readonly<Record<SeriesStep, number>> = { hour: HOUR_MS, day: DAY_MS }
const MOST_POINTS = 200

/** How the work of the org went, step by step. Reads what was counted, so it costs the same however many runs there are. */
export async function readSeries(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Pick<Caller, 'orgId'>,
  filter: SeriesFilter = {},
): Promise<StatsSeries> {
  const step = filter.step ?? 'hour'
  const { from, to } = wholeSteps(readStretch(filter, clock.now()), STEP_MS[step])
  refuseMany({ from, to }, filter, step)
  await addUp(database, orgId)
  const counted = await loadCountSteps(database, { orgId, from, to, step })
  const points = Array.from({ length: (to - from) / STEP_MS[step] }, (_, index) => {
    const at = instant(from + index * STEP_MS[step])
    return pointOf(at, counted.get(at) ?? NOTHING)
  })
  return { org_id: orgId, from: formatInstant(from), to: formatInstant(to), step, points }
}

const NOTHING: EndedCounts = { status: {}, duration: {}, lateness: {} }

function refuseMany({ from, to }: Stretch, filter: SeriesFilter, step: SeriesStep): void {
  const steps = (to - from) / STEP_MS[step]
  if (steps <= MOST_POINTS) return
  const earliest = formatInstant(instant(to - MOST_POINTS * STEP_MS[step]))
  throw invalid([
    {
      ...{ field: 'from', value: filter.from, message: `is ${steps} steps before the end` },
      allowed: `at most ${MOST_POINTS} steps: ${earliest} or later${step === 'hour' ? ', or step=day' : ''}`,
    },
  ])
}

const pointOf = (at: Instant, { status, duration, lateness, usage = {} }: EndedCounts): SeriesPoint => ({
  ...{ at: formatInstant(at), by_status: status },
  ...{ duration_p95_ms: percentile(duration, 0.95), lateness_p99_ms: percentile(lateness, 0.99) },
  ...{ tokens: usage['tokens'] ?? 0, cost: fromMicros(usage['money'] ?? 0) },
})
