import type { Instant } from '../../domain/instant.ts'
import {
  closedGate,
  explainWait,
  type LaneLoad,
  type Load,
  type Standing,
  type Wait,
} from '../../domain/queue/gates.ts'
import { firstOf, hold, postpone, setAside, wakeDue } from './line-up-lines.ts'
import { placeOf } from './line-up-making.ts'
import {
  type Entry,
  type Kind,
  KINDS,
  type Lane,
  type Line,
  type Mutable,
  type Places,
  type Standee,
} from './line-up-places.ts'
import { holdForProvider } from './line-up-providers.ts'
import { goesFirst, isServedFirst } from './picking-order.ts'

/** What a node says of itself when it asks for a run. */
export interface PickingMoment {
  readonly now: Instant
  readonly lane: LaneLoad
  /** Catch-up runs on this node. */
  readonly catchup: Load
}

/** What has to be known beside the line-up to say why a run waits. */
export interface ExplainMoment extends PickingMoment {
  /** Somebody alive can execute it. */
  readonly executable: boolean
  /** How many slots the schedule of the run has. Only read for a run that waits for one. */
  readonly scheduleSlots?: number
}

/** The run that may start now in the lane. Whoever is refused on the way leaves the lane until something changes. */
export function nextIn(places: Places, at: PickingMoment): Standee | null {
  wakeDue(places, at.now)
  const lane = places.lanes.get(at.lane.name)
  if (lane === undefined) return null
  const standing = standingAt(places, at)
  const closed: Kind[] = []
  for (let line = firstLine(lane, closed); line !== undefined; line = firstLine(lane, closed)) {
    const entry = firstOf(line)
    if (entry === undefined) return null
    standFor(standing, entry)
    const holds = closedGate(entry, standing)
    if (holds === null) return entry.run
    if (holds === 'lane' || holds === 'org') return null
    if (holds === 'agent') hold(line)
    else if (holds === 'provider') holdForProvider(line)
    else makeWay(places, { entry, line, standing, closed })
  }
  return null
}

/** Why the run has not started, as the gates say it. */
export function explainEntry(places: Places, entry: Entry, at: ExplainMoment): Wait {
  const standing = standingAt(places, at)
  standFor(standing, entry)
  const parkedBehind = entry.parkedBehind === null ? null : (at.scheduleSlots ?? entry.parkedBehind)
  return explainWait({ ...entry, executable: at.executable, parkedBehind }, standing, placeOf(entry))
}

const standingAt = (places: Places, at: PickingMoment): Mutable<Standing> => ({
  now: at.now,
  session: null,
  agent: places.load,
  agentTasks: places.tasks,
  org: places.load,
  orgTasks: places.tasks,
  budgets: places.budgets,
  provider: null,
  catchup: at.catchup,
  lane: at.lane,
})

function standFor(standing: Mutable<Standing>, entry: Entry): void {
  const { agent } = entry.share
  standing.session = entry.session?.load ?? null
  standing.agent = agent.load
  standing.agentTasks = agent.tasks
  standing.provider = agent.provider
}

function firstLine(lane: Lane, closed: readonly Kind[]): Line | undefined {
  let first: Line | undefined
  for (const kind of KINDS) {
    const line = lane.lines[kind].items[0]
    if (line === undefined || closed.includes(kind)) continue
    if (first === undefined || isFirst(line, first)) first = line
  }
  return first
}

function isFirst(a: Line, b: Line): boolean {
  if (a.share !== b.share) return isServedFirst(a.share, b.share)
  const [first, second] = [firstOf(a), firstOf(b)]
  return first !== undefined && second !== undefined && goesFirst(first, second)
}

const isFull = (load: Load): boolean => load.limit !== null && load.inFlight >= load.limit

interface Refused {
  readonly entry: Entry
  readonly line: Line
  readonly standing: Standing
  readonly closed: Kind[]
}

/**
 * A gate is closed for this run, and for how many others with it depends on which: for all of its kind in the lane, for
 * those of its agent, for those that set the same aside, or for itself. All that share its fate make way together.
 */
function makeWay(places: Places, refused: Refused): void {
  const { entry, line, standing, closed } = refused
  const { kind } = line
  if (entry.notBefore !== null && entry.notBefore > standing.now) postpone(places, entry)
  else if (kind === 'task' && isFull(standing.agentTasks)) hold(line)
  else if (kind === 'task' && isFull(standing.orgTasks)) closed.push(kind)
  else if (kind === 'catchup' && isFull(standing.catchup)) closed.push(kind)
  else if (entry.bundle !== null) setAside(places, entry.bundle)
}
