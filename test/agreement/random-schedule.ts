import type { CadenceInput } from '../../src/features/schedules/rules-schema.ts'
import type { ScheduleInput } from '../../src/features/schedules/schema.ts'
import { formatInstant, instant, type Instant } from '../../src/domain/instant.ts'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../src/domain/schedule/rules.ts'
import type { Random } from '../simulation/random.ts'

/** The stretch of time that a history takes. A long one has hours between its occurrences, a short one seconds. */
export interface Stage {
  readonly isLong: boolean
  readonly from: Instant
  readonly to: Instant
  readonly lengthMs: number
}

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']
const DST = ['vixie', 'skip', 'shift', 'both'] as const

/** When a schedule fires, in a kind that suits the stage. */
export function drawTiming(random: Random, stage: Stage): ScheduleInput {
  const timing = random.one([drawEvery, drawEvery, drawCron, drawCron, drawCron, drawRule, drawAt])(random, stage)
  // A moment that its own limits rule out is refused.
  return timing.at === undefined ? { ...timing, ...drawLimits(random, stage) } : timing
}

function drawEvery(random: Random, { isLong, from }: Stage): ScheduleInput {
  const every_seconds = isLong ? random.int(3_600, 40_000) : random.int(5, 60)
  return random.chance(0.3)
    ? { every_seconds, anchor: formatInstant(instant(from + random.int(-100_000, 100_000))) }
    : { every_seconds }
}

/** How far an interval may move by itself. */
export const drawCadence = (random: Random, every: number): CadenceInput => ({
  min_seconds: random.int(Math.ceil(every / 3), every),
  max_seconds: every * random.int(1, 4),
  ...(random.chance(0.5) ? { stretch: random.one([1, 1.5, 2, 3]) } : {}),
  ...(random.chance(0.4) ? { quiet_after: random.int(1, 3) } : {}),
})

function drawCron(random: Random, { isLong }: Stage): ScheduleInput {
  const second = random.int(0, 59)
  const cron = isLong
    ? random.one([`${second} * * * *`, '30 1,2 * * *', '*/40 0-3 * * *', '0 */5 * * *', '15 2 * * 0', '5 0 L * *'])
    : random.one([
        `*/${random.int(7, 30)} * * * * *`,
        `${second} * * * * *`,
        '* * * * *',
        '*/2 * * * *',
        '10,20 * * * * *',
      ])
  return { cron, timezone: random.one(ZONES), ...(random.chance(0.4) ? { dst: random.one(DST) } : {}) }
}

function drawRule(random: Random, { isLong }: Stage): ScheduleInput {
  const step = random.int(2, 5)
  const rrule = isLong
    ? random.one([
        `FREQ=HOURLY;INTERVAL=${step}`,
        'FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=30;BYSECOND=0',
        'FREQ=HOURLY;COUNT=7',
      ])
    : random.one([`FREQ=SECONDLY;INTERVAL=${step * 5}`, 'FREQ=MINUTELY', 'FREQ=SECONDLY;INTERVAL=20;COUNT=6'])
  return { rrule, timezone: random.one(ZONES) }
}

const drawAt = (random: Random, { from, lengthMs }: Stage): ScheduleInput => ({
  at: formatInstant(instant(from + 1 + Math.floor(random.next() * lengthMs * 0.8))),
  ...(random.chance(0.5) ? { delete_after_run: random.chance(0.5) } : {}),
})

function drawLimits(random: Random, { from, to, lengthMs }: Stage): ScheduleInput {
  const inside = (share: number): string => formatInstant(instant(from + Math.floor(lengthMs * share * random.next())))
  return {
    ...(random.chance(0.12) ? { starts_at: inside(0.3) } : {}),
    ...(random.chance(0.12)
      ? { ends_at: formatInstant(instant(to - Math.floor(random.next() * lengthMs * 0.4))) }
      : {}),
    ...(random.chance(0.15) ? { max_fires: random.int(1, 6) } : {}),
    ...(random.chance(0.12) ? { exclude: [drawWindow(random, { from, lengthMs })] } : {}),
  }
}

function drawWindow(
  random: Random,
  { from, lengthMs }: Pick<Stage, 'from' | 'lengthMs'>,
): { readonly from: string; readonly to: string } {
  const begin = from + Math.floor(random.next() * lengthMs)
  return {
    from: formatInstant(instant(begin)),
    to: formatInstant(instant(begin + 1_000 + Math.floor(random.next() * lengthMs * 0.3))),
  }
}

/** What becomes of the occurrences: any policy with any other. */
export function drawPolicies(random: Random, { isLong }: Pick<Stage, 'isLong'>): ScheduleInput {
  const ladder = isLong ? [600, 7_200] : [3, 10, 40]
  return {
    misfire_policy: random.one(MISFIRE_POLICIES),
    catchup_limit: random.int(1, 4),
    ...(random.chance(0.2) ? { catchup_window_seconds: random.one([0, 5, 30, 100_000]) } : {}),
    overlap_action: random.one(OVERLAP_ACTIONS),
    ...(random.chance(0.3) ? { max_parallel: random.int(1, 3) } : {}),
    failure_action: random.one(FAILURE_ACTIONS),
    failure_options: {
      ladder_seconds: ladder,
      threshold: random.int(1, 3),
      cooldown_seconds: isLong ? 20_000 : random.int(5, 60),
    },
    concurrency_policy: random.one(CONCURRENCY_POLICIES),
    max_concurrency: random.int(1, 2),
    queue_depth: random.int(0, 3),
    ...(random.chance(0.5) ? { timeout_seconds: isLong ? random.int(60, 6_000) : random.int(1, 20) } : {}),
    ...(random.chance(0.3) ? { jitter_ms: random.int(0, 900) } : {}),
    ...(random.chance(0.4) ? { retry_policy: drawRetries(random, ladder) } : {}),
    ...(random.chance(0.1) ? { enabled: false } : {}),
  }
}

const drawRetries = (random: Random, ladder: readonly number[]): Readonly<Record<string, unknown>> =>
  random.one([
    { max_retries: random.int(0, 2) },
    { strategy: 'fixed', base_ms: random.int(100, 9_000), max_retries: random.int(1, 3) },
    { strategy: 'ladder', ladder_seconds: ladder },
    { strategy: 'exponential', base_ms: 1_000, max_ms: 4_000, jitter: random.one([0, 0.5]) },
  ])
