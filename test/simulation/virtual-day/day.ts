import { instant, later, type Instant } from '../../../src/domain/instant.ts'
import { isTerminal } from '../../../src/domain/run/run-machine.ts'
import { createWorld } from '../create-world.ts'
import { createChecker } from '../invariants.ts'
import { createRandom, type Random } from '../random.ts'
import { comeToRest, nextTimer, work } from '../simulate.ts'
import { happen, revive, schedulesOf, type OperationKind } from '../traffic.ts'
import type { World } from '../world.ts'
import { noFigures, withFigures, type Figures } from './figures.ts'
import { dayOf, planDay, type Day } from './plan.ts'

export interface DayOptions {
  readonly seed: number
  /** About so many occurrences fall into the whole day. */
  readonly occurrences: number
  /** How much of the day happens; all of it unless told otherwise. The clocks change after three hours. */
  readonly hours?: number
  /** Told now and then how far the day has come. */
  readonly progress?: (now: Instant, day: Day, figures: Figures) => void
}

/** Nodes look at what is due this often at most; what falls between two looks is seen together. */
const SHORTEST_STEP_MS = 250

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Rows beyond those that are pending, before retention takes the ended ones. */
const ROOM_FOR_ENDED = 2_000

/** What people and machines do meanwhile; time passes by itself here, and lanes and agents stay as they are. */
const OPERATIONS: readonly OperationKind[] = [
  ...(['message', 'task', 'stop', 'stopall', 'reset', 'cancel', 'run_now', 'crash', 'drain', 'session_rules'] as const),
]

interface Outage {
  readonly from: Instant
  readonly lastsMs: number
}

/** Times at which nobody is there: short ones, ones beyond every catch-up window, and one across the clock change. */
function planOutages(day: Day, random: Random): readonly Outage[] {
  const sometime = (): Instant => later(day.start, random.int(10 * MINUTE_MS, day.end - day.start - HOUR_MS))
  const lengths = [
    ...Array.from({ length: 12 }, () => random.int(1_000, MINUTE_MS)),
    ...Array.from({ length: 5 }, () => random.int(2 * MINUTE_MS, 10 * MINUTE_MS)),
    ...Array.from({ length: 2 }, () => random.int(20 * MINUTE_MS, 50 * MINUTE_MS)),
  ]
  const across = { from: later(day.change, -random.int(1, 10 * MINUTE_MS)), lastsMs: random.int(11, 20) * MINUTE_MS }
  return [...lengths.map((lastsMs) => ({ from: sometime(), lastsMs })), across].sort((a, b) => a.from - b.from)
}

/** Lets a whole day happen and throws the first Violation. What has ended is checked for the last time and forgotten. */
export function simulateDay({ seed, occurrences, hours = 24, progress }: DayOptions): Figures {
  const random = createRandom(seed)
  const whole = dayOf(seed)
  const day = { ...whole, end: later(whole.start, hours * HOUR_MS) }
  const { plan, planned } = planDay(day, occurrences, random)
  const figures = noFigures()
  const world = createWorld(plan, withFigures(createChecker(planned), figures))
  const outages = [...planOutages(day, random)]
  let operationAt = later(day.start, random.int(0, MINUTE_MS))
  while (world.now < day.end) {
    world.now = nextMoment(world, [operationAt, outages[0]?.from ?? day.end, day.end])
    if (outages[0] !== undefined && outages[0].from <= world.now) {
      beAway(world, outages.shift()?.lastsMs ?? 0)
      figures.outages += 1
    }
    revive(world)
    if (operationAt <= world.now) {
      happen(world, OPERATIONS)
      operationAt = later(world.now, random.int(1_000, 40_000))
    }
    work(world)
    if (world.runs.size > pendingIn(world) + ROOM_FOR_ENDED) forgetEnded(world)
    progress?.(world.now, day, figures)
  }
  comeToRest(world)
  return figures
}

/** The next moment at which something is to be done. */
function nextMoment(world: World, others: readonly Instant[]): Instant {
  let next = Math.min(nextTimer(world), ...others)
  for (const { nextRunAt } of schedulesOf(world)) next = Math.min(next, nextRunAt ?? Infinity)
  return instant(Math.max(next, world.now + SHORTEST_STEP_MS))
}

/** Every node is gone for a while. */
function beAway(world: World, lastsMs: number): void {
  for (const node of world.nodes) node.diedAt ??= world.now
  world.now = later(world.now, lastsMs)
}

const pendingIn = ({ orgs }: World): number => orgs.reduce((sum, { memory }) => sum + memory.state.runs.size, 0)

/** Retention: what has ended goes. */
function forgetEnded({ runs, told, observer }: World): void {
  for (const run of runs.values()) {
    if (!isTerminal(run.state)) continue
    runs.delete(run.id)
    told.delete(run.id)
    observer.forgotten(run)
  }
}
