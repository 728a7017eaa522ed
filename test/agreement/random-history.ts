import type { ScheduleInput } from '../../src/features/schedules/schema.ts'
import type { AssumptionInput, Intervention, OutageInput } from '../../src/features/simulation/result-schema.ts'
import { formatInstant, instant } from '../../src/domain/instant.ts'
import { DEFAULT_RETRY_POLICY } from '../../src/domain/run/retry-policy.ts'
import type { SimulatedAgent, SimulatedBudget, SimulationTask } from '../../src/features/simulation/task.ts'
import { createRandom, type Random } from '../simulation/random.ts'
import { drawCadence, drawPolicies, drawTiming, type Stage } from './random-schedule.ts'

/** Changes of the clock, so that histories lie around some. */
const CHANGES = ['2026-03-29T01:00:00Z', '2026-11-01T06:00:00Z', '2026-10-25T01:00:00Z', '2026-03-08T07:00:00Z']

/**
 * A history that chance has written: schedules with any policies, and everything that may come between. Short and dense,
 * because each of its moments is several trips to a server. The same seed writes the same history.
 */
export function drawHistory(seed: number): SimulationTask {
  const random = createRandom(seed)
  const stage = drawStage(random)
  const agents = drawAgents(random)
  const schedules = Array.from({ length: random.int(1, 3) }, (_, index) => ({
    id: `sch_${index + 1}`,
    input: drawSchedule(random, stage, agents),
    assume: random.chance(0.4) ? drawAssumption(random, stage) : undefined,
  }))
  const ids = schedules.map(({ id }) => id)
  const history: SimulationTask = {
    from: formatInstant(stage.from),
    to: formatInstant(stage.to),
    timezone: random.one(['UTC', 'Europe/Berlin', 'America/New_York']),
    seed,
    agents,
    default_agent_id: 'ada',
    schedules,
    assume: drawAssumption(random, stage),
    outages: drawOutages(random, stage),
    interventions: drawInterventions(random, stage, ids),
    budgets: random.chance(0.25) ? drawBudgets(random, ids) : [],
    settings: drawSettings(random, stage),
    org: {
      max_concurrent: random.chance(0.2) ? random.int(1, 3) : null,
      runs_per_day: random.chance(0.1) ? random.int(3, 20) : null,
    },
  }
  const whole = !stage.isLong && random.chance(0.06) ? withSilence(random, history, stage) : history
  return withCadences(createRandom(seed + 7_919), whole, stage)
}

/** Some intervals move by themselves. Drawn apart from the rest, so that the rest is what it was without. */
function withCadences(random: Random, history: SimulationTask, { isLong }: Stage): SimulationTask {
  const said = {
    quiet_rate: random.one([0, 0.5, 1]),
    ...(random.chance(0.3) ? { next_check_seconds: random.int(0, isLong ? 50_000 : 100) } : {}),
  }
  const schedules = history.schedules.map((one) => {
    const every = one.input.every_seconds ?? 1
    if (every === 1 || random.chance(0.5)) return one
    return { ...one, input: { ...one.input, cadence: drawCadence(random, every) } }
  })
  return { ...history, schedules, assume: { ...history.assume, ...said } }
}

/** So much is missed that it is put on record as one range. */
function withSilence(random: Random, history: SimulationTask, { from }: Stage): SimulationTask {
  const until = from + random.int(110, 130) * 1_000
  const kind = random.one(['engine', 'stall'] as const)
  const [first, ...others] = history.schedules
  if (first === undefined) return history
  const input = { ...drawPolicies(random, { isLong: false }), every_seconds: 1, jitter_ms: 0 }
  return {
    ...history,
    to: formatInstant(instant(until + 8_000)),
    interventions: [],
    schedules: [{ ...first, input }, ...others.slice(0, 1)],
    budgets: (history.budgets ?? []).filter(({ schedule_id: id }) => id === undefined),
    outages: [{ kind, from: formatInstant(instant(from + 3_000)), to: formatInstant(instant(until)) }],
    settings: { ...history.settings, schedules: { catchup_window_seconds: 6 } },
  }
}

function drawStage(random: Random): Stage {
  const isLong = random.chance(0.2)
  const lengthMs = isLong ? random.int(20, 72) * 3_600_000 : random.int(60, 400) * 1_000
  const around = Date.parse(random.one(CHANGES))
  const from = random.chance(0.6) ? around - Math.floor(random.next() * lengthMs) : around + random.int(1, 300) * 864e5
  const isWhole = random.chance(0.8)
  const first = isWhole ? Math.floor(from / 1_000) * 1_000 : from
  return { isLong, from: instant(first), to: instant(first + lengthMs), lengthMs }
}

const drawAgents = (random: Random): readonly SimulatedAgent[] =>
  ['ada', 'ben'].map((id) => ({
    id,
    executor_kind: 'in-process',
    max_concurrent: random.one([null, null, 1, 2]),
    timeout_seconds: random.one([null, 2, 5, 20]),
    retry_policy: random.one([
      null,
      { ...DEFAULT_RETRY_POLICY, maxRetries: random.int(0, 2), baseMs: random.one([500, 3_000]) },
    ]),
  }))

const drawSchedule = (random: Random, stage: Stage, agents: readonly SimulatedAgent[]): ScheduleInput => ({
  ...drawTiming(random, stage),
  ...drawPolicies(random, stage),
  ...(random.chance(0.6) ? {} : { agent_id: random.one(agents).id }),
  ...(random.chance(0.35) ? { session: random.one(['main', 'agent:ada:chat:direct:ann', 'isolated']) } : {}),
  ...(random.chance(0.15) ? { lane: random.one(['main', 'nowhere']) } : {}),
})

function drawAssumption(random: Random, { isLong, lengthMs }: Stage): AssumptionInput {
  const longest = isLong ? Math.floor(lengthMs / 20) : random.one([2_000, 8_000, 30_000])
  const drawn = random.int(0, longest)
  const duration = random.one([drawn, { min: 0, max: drawn }, [drawn, 1_000, random.int(0, longest)]])
  const outcomes = Array.from({ length: random.int(1, 6) }, () =>
    random.one(['success', 'failed', 'failed', 'timeout'] as const),
  )
  return {
    duration_ms: duration,
    ...(random.chance(0.25)
      ? { outcomes }
      : { failure_rate: random.one([0, 0, 0.2, 0.6, 1]), timeout_rate: random.one([0, 0, 0, 0.2]) }),
    error_code: random.one(['agent_error', 'executor_http_5xx', 'executor_http_4xx']),
    stops_in_ms: random.one([0, 0, 400, 7_000, null]),
    ...(random.chance(0.5) ? { tokens: random.int(0, 40) } : {}),
  }
}

function drawOutages(random: Random, { from, lengthMs }: Stage): readonly OutageInput[] {
  return Array.from({ length: random.one([0, 0, 1, 1, 2, 3]) }, () => {
    const begin = from + Math.floor(random.next() * lengthMs * 0.9)
    const share = random.one([0.05, 0.15, 0.4])
    const end = begin + Math.max(1_000, Math.floor(random.next() * lengthMs * share))
    const kind = random.one(['engine', 'engine', 'stall', 'stall', 'agent'] as const)
    const span = { from: formatInstant(instant(begin)), to: formatInstant(instant(end)) }
    if (kind !== 'agent') return { kind, ...span }
    const effect = random.one(['network', 'executor_http_5xx', 'offline'] as const)
    return { kind, ...span, effect, ...(random.chance(0.5) ? { agent_id: 'ada' } : {}) }
  })
}

function drawInterventions(random: Random, { from, lengthMs }: Stage, ids: readonly string[]): readonly Intervention[] {
  return Array.from({ length: random.one([0, 0, 1, 2, 4]) }, () => ({
    at: formatInstant(instant(from + 1 + Math.floor(random.next() * (lengthMs - 1)))),
    schedule_id: random.one(ids),
    action: random.one(['run_now', 'run_now', 'disable', 'enable'] as const),
  }))
}

const drawBudgets = (random: Random, ids: readonly string[]): readonly SimulatedBudget[] =>
  Array.from({ length: random.int(1, 2) }, (_, index) => ({
    id: `bud_${index + 1}`,
    ...random.one([{}, { agent_id: 'ada' }, { schedule_id: random.one(ids) }]),
    unit: 'tokens',
    amount: random.int(20, 200),
    period: random.one(['day', 'month'] as const),
    timezone: random.one(['UTC', 'Europe/Berlin']),
    on_exceed: random.one(['skip', 'queue', 'pause'] as const),
    default_reserve: random.int(0, 20),
  }))

const drawSettings = (random: Random, { isLong }: Stage): Readonly<Record<string, unknown>> => ({
  node: { stop_grace_ms: random.one([0, 1_000, 5_000]) },
  lanes: { main: 1, cron: random.one([1, 2, 3, 30]) },
  schedules: {
    misfire_grace_seconds: random.one([0, 5, 60]),
    catchup_window_seconds: isLong ? random.one([900, 36_000]) : random.one([10, 60, 900]),
    catchup_spacing_ms: random.one([0, 1_000, 1_000, 3_000]),
    catchup_max_active: random.one([1, 2, 10]),
  },
})
