import { agentId, laneName, orgId, scheduleId, sessionKey } from '../../../src/domain/ids.ts'
import { DAY_MS, durationMs, instant, later, type Instant } from '../../../src/domain/instant.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../../src/domain/schedule/rules.ts'
import { SESSION_MODES } from '../../../src/domain/session/session.ts'
import { DST_POLICIES } from '../../../src/domain/time/dst-policy.ts'
import type { Timing } from '../../../src/domain/time/timing.ts'
import { UTC } from '../../../src/domain/time/zone.ts'
import { firesOf, walkAround, type CronCase } from '../../domain/time/cron-oracle.ts'
import { cron } from '../../domain/time/world.ts'
import type { PlannedMoments } from '../invariants.ts'
import type { Random } from '../random.ts'
import { DEFAULT_WINDOW } from '../../../src/engine/org-state/backlog.ts'
import type { Plan, PlannedOrg, PlannedSchedule } from '../create-world.ts'

/** A day on which the clocks of a zone change. */
export interface Day {
  readonly start: Instant
  readonly end: Instant
  readonly zone: string
  /** When they change. */
  readonly change: Instant
  readonly way: 'forward' | 'back'
}

const dayAround = (change: string, way: Day['way']): Day => {
  const at = instant(Date.parse(change))
  const start = later(at, -3 * 3_600_000)
  return { start, end: later(start, DAY_MS), zone: 'Europe/Berlin', change: at, way }
}

const DAYS: readonly Day[] = [dayAround('2026-03-29T01:00:00Z', 'forward'), dayAround('2026-10-25T01:00:00Z', 'back')]

/** The day of a seed: every other one has an hour less, the rest an hour more. */
export const dayOf = (seed: number): Day => {
  const day = DAYS[seed % DAYS.length]
  if (day === undefined) throw new Error(`there is no day for seed ${seed}`)
  return day
}

const onMinute = (wall: number): boolean => wall % 60 === 0
const minuteOf = (wall: number): number => Math.floor(wall / 60) % 60
const hourOf = (wall: number): number => Math.floor(wall / 3600) % 24

/** Expressions of which a change of the clock makes something, said a second time in the plainest way. */
const CRON_CASES: readonly CronCase[] = [
  { text: '* * * * *', interval: true, matches: onMinute },
  { text: '*/15 * * * *', interval: true, matches: (wall) => onMinute(wall) && minuteOf(wall) % 15 === 0 },
  { text: '30 2 * * *', interval: false, matches: (wall) => onMinute(wall) && wall % 86_400 === 9_000 },
  {
    text: '5,25,45 1,2,3 * * *',
    interval: false,
    matches: (wall) => onMinute(wall) && [5, 25, 45].includes(minuteOf(wall)) && [1, 2, 3].includes(hourOf(wall)),
  },
  {
    text: '*/7 2 * * *',
    interval: true,
    matches: (wall) => onMinute(wall) && minuteOf(wall) % 7 === 0 && hourOf(wall) === 2,
  },
]

/** Schedules that tick evenly: enough of them that none is faster than about four seconds. */
const tickersFor = (occurrences: number): number => Math.max(60, Math.ceil((occurrences * 4_000) / DAY_MS))

/** Slower schedules come with slower work, so that runs of the same schedule still meet. */
const PACE_AT = 1_000_000

/** A deployment for a day with about so many occurrences, and the moments at which its cron schedules have to fire. */
export function planDay(
  day: Day,
  occurrences: number,
  random: Random,
): { readonly plan: Plan; readonly planned: PlannedMoments } {
  const pace = Math.max(1, Math.round(PACE_AT / Math.max(1, occurrences)))
  const orgs = ['acme', 'globe'].map((name) => planOrg(random, name, pace))
  const people = { orgs, random, day }
  const clocks = DST_POLICIES.flatMap((dst, row) =>
    CRON_CASES.map((wanted, column) => {
      const timing: Timing = { kind: 'cron', ...cron(wanted.text, day.zone, { dst }), ...OPEN }
      const name = `cron_${dst}_${wanted.text.replaceAll(' ', '_')}`
      return { wanted, dst, scheduled: planSchedule({ name, turn: row * 7 + column }, timing, people) }
    }),
  )
  const walk = walkAround(day.zone, new Date(day.change).toISOString(), { hours: 60, step: 60 })
  const planned = new Map(
    clocks.map(({ wanted, dst, scheduled }) => [
      scheduled.schedule.id as string,
      firesOf(walk, wanted, dst).map((second) => second * 1_000),
    ]),
  )
  const midnight = later(day.start, DAY_MS)
  const byClock = [...planned.values()].flat().filter((at) => at > day.start && at <= midnight).length
  const tickers = planTickers(Math.max(60, occurrences - byClock), people)
  const all = [...clocks.map(({ scheduled }) => scheduled), ...tickers]
  const schedulesOf = ({ id }: PlannedOrg): readonly PlannedSchedule[] =>
    all.filter(({ org }) => org.id === id).map(({ schedule }) => schedule)
  return {
    planned,
    plan: {
      ...{ random, start: day.start, catchupMaxActive: 10, pace, window: DEFAULT_WINDOW },
      nodes: [1, 2, 3].map((number) => ({ name: `node_${number}`, sizes: lanes() })),
      orgs: orgs.map((org) => ({ ...org, schedules: schedulesOf(org) })),
    },
  }
}

const OPEN = { startsAt: null, endsAt: null, exclude: null } as const

const lanes = (): Plan['nodes'][number]['sizes'] =>
  new Map([
    [laneName('main'), 6],
    [laneName('cron'), 30],
    [laneName('task'), 4],
  ])

const planOrg = (random: Random, name: string, pace: number): PlannedOrg => ({
  ...{ id: orgId(name), maxConcurrent: random.one([null, 80]), schedules: [] },
  agents: [1, 2, 3].map((number) => ({
    id: agentId(`agent_${number}`),
    maxConcurrent: random.one([null, 20, 30]),
    timeoutSeconds: random.int(2, 8) * pace,
  })),
  sessions: [1, 2, 3, 4].map((number) => ({
    key: sessionKey(`session_${number}`),
    own: { mode: random.one([...SESSION_MODES, 'queue'] as const), maxConcurrent: number },
  })),
})

interface People {
  readonly orgs: readonly PlannedOrg[]
  readonly random: Random
  readonly day: Day
}

interface Scheduled {
  readonly org: PlannedOrg
  readonly schedule: PlannedSchedule
}

/** Schedules of different speed whose occurrences add up to so many in a day. */
function planTickers(occurrences: number, people: People): readonly Scheduled[] {
  const { random, day } = people
  const shares = Array.from({ length: tickersFor(occurrences) }, () => random.int(2, 8))
  const all = shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share, index) => {
    const intervalMs = durationMs(Math.max(1_000, Math.round((DAY_MS * all) / (share * occurrences))))
    const timing: Timing = { kind: 'every', intervalMs, anchor: day.start, zone: UTC, ...OPEN }
    return planSchedule({ name: `ticker_${index}`, turn: index }, timing, people)
  })
}

/** Every policy value comes round in turn, each at another speed, so that they meet in all combinations. */
function planSchedule(
  { name, turn }: { readonly name: string; readonly turn: number },
  timing: Timing,
  { orgs, random }: People,
): Scheduled {
  const org = random.one(orgs)
  const take = <T>(values: readonly T[], every: number): T => {
    const place = Math.floor(turn / every) % values.length
    return random.one(values.slice(place, place + 1))
  }
  const schedule: PlannedSchedule = {
    ...{ id: scheduleId(name), agentId: random.one(org.agents).id, timing },
    sessionKey: random.chance(0.03) ? random.one(org.sessions).key : null,
    rules: {
      ...DEFAULT_SCHEDULE_RULES,
      misfirePolicy: take(MISFIRE_POLICIES, 1),
      catchupLimit: random.int(1, 4),
      catchupWindowSeconds: random.one([30, 120, 900]),
      overlapAction: take(OVERLAP_ACTIONS, 1),
      maxParallel: random.one([2, 4]),
      failureAction: take(FAILURE_ACTIONS, 5),
      concurrencyPolicy: take(CONCURRENCY_POLICIES, 2),
      maxConcurrency: random.int(1, 2),
      queueDepth: random.int(0, 3),
    },
  }
  return { org, schedule }
}
