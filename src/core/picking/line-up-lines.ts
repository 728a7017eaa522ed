import type { Candidate } from '../../domain/queue/gates.ts'
import { NOWHERE, reseat, seatHeap, seatIn, unseat } from './heap.ts'
import type { Agent, AgentInLane, Bundle, Entry, Kind, Line, Places } from './line-up-places.ts'
import { goesFirst } from './picking-order.ts'

/**
 * Who competes in a lane. A lane has a heap of lines per kind, a line a heap of bundles, a bundle a heap of runs. A line
 * is listed in its lane while it has something to offer and its agent has room; a bundle in its line while budgets have
 * room. Whoever is refused leaves the heap and comes back with the change that may let it in, never by being asked again.
 */
const kindOf = (run: Pick<Candidate, 'trigger'>): Kind =>
  run.trigger === 'task' || run.trigger === 'catchup' ? run.trigger : 'ordinary'

function isBundleFirst(a: Bundle, b: Bundle): boolean {
  const [first, second] = [a.runs.items[0], b.runs.items[0]]
  return first !== undefined && second !== undefined && goesFirst(first, second)
}

/** The run of the line that goes first. Undefined when budgets hold up all it has, or it has none. */
export const firstOf = (line: Line): Entry | undefined => line.bundles.items[0]?.runs.items[0]

/** Lets a run compete in its lane. */
export function offer(entry: Entry): void {
  const bundle = bundleFor(lineFor(entry.share, kindOf(entry)), entry)
  seatIn(bundle.runs, entry)
  entry.heap = bundle.runs
  entry.bundle = bundle
  if (bundle.isShort) return
  if (bundle.seat === NOWHERE) seatIn(bundle.line.bundles, bundle)
  else if (entry.seat === 0) reseat(bundle.line.bundles, bundle)
  list(bundle.line)
}

/** Takes a run from wherever it stands. */
export function withdraw(places: Places, entry: Entry): void {
  const { heap, bundle } = entry
  entry.heap = null
  entry.bundle = null
  if (heap === null) return
  const wasFirst = entry.seat === 0
  // The bundle leaves its line first: without runs it has no place in any order.
  if (bundle !== null && heap.items.length === 1) dissolve(places, bundle)
  unseat(heap, entry)
  if (bundle !== null && wasFirst && bundle.seat !== NOWHERE) reseat(bundle.line.bundles, bundle)
}

function lineFor(share: AgentInLane, kind: Kind): Line {
  const known = share.lines.get(kind)
  if (known !== undefined) return known
  const line: Line = {
    share,
    kind,
    bundles: seatHeap(isBundleFirst),
    byReserves: new Map(),
    isHeld: false,
    seat: NOWHERE,
  }
  share.lines.set(kind, line)
  return line
}

function bundleFor(line: Line, entry: Entry): Bundle {
  // Most runs set nothing aside; those must not pay for making a key.
  const { reserves } = entry
  const key = reserves.length === 0 ? '' : reserves.map(({ budgetId, amount }) => `${amount} ${budgetId}`).join('\n')
  const known = line.byReserves.get(key)
  if (known !== undefined) return known
  const bundle: Bundle = { line, key, runs: seatHeap<Entry>(goesFirst), isShort: false, seat: NOWHERE }
  line.byReserves.set(key, bundle)
  return bundle
}

function dissolve(places: Places, bundle: Bundle): void {
  const { line } = bundle
  line.byReserves.delete(bundle.key)
  places.short.delete(bundle)
  if (bundle.seat !== NOWHERE) unseat(line.bundles, bundle)
  unlistIfEmpty(line)
}

/** Lets the line compete in its lane, if it has something to offer. */
export function list(line: Line): void {
  if (line.isHeld || line.seat !== NOWHERE || line.bundles.items.length === 0) return
  seatIn(line.share.lane.lines[line.kind], line)
}

function unlist(line: Line): void {
  if (line.seat !== NOWHERE) unseat(line.share.lane.lines[line.kind], line)
}

function unlistIfEmpty(line: Line): void {
  if (line.bundles.items.length === 0) unlist(line)
}

/** The agent's share of the lane has changed: its lines move to where they belong now. */
export function moveLines(share: AgentInLane): void {
  for (const line of share.lines.values()) if (line.seat !== NOWHERE) reseat(share.lane.lines[line.kind], line)
}

/** A limit is reached: the line stays out until whoever holds it lets go; an agent does with `release`. */
export function hold(line: Line, held: Set<Line> = line.share.agent.held): void {
  unlist(line)
  line.isHeld = true
  held.add(line)
}

/** The agent may have room again. */
export function release(agent: Agent): void {
  for (const line of agent.held) {
    line.isHeld = false
    list(line)
  }
  agent.held.clear()
}

/** A budget has no room for what these runs set aside: they stay out until `competeAgain`. */
export function setAside(places: Places, bundle: Bundle): void {
  bundle.isShort = true
  places.short.add(bundle)
  unseat(bundle.line.bundles, bundle)
  unlistIfEmpty(bundle.line)
}

/** The budgets may have room again. */
export function competeAgain(places: Places, bundle: Bundle): void {
  bundle.isShort = false
  places.short.delete(bundle)
  seatIn(bundle.line.bundles, bundle)
  list(bundle.line)
}

/** Its time has not come: it waits for it instead of competing. */
export function postpone(places: Places, entry: Entry): void {
  withdraw(places, entry)
  seatIn(places.early, entry)
  entry.heap = places.early
}

/** Lets everybody compete whose time has come. */
export function wakeDue(places: Places, now: number): void {
  for (let entry = places.early.items[0]; entry !== undefined; entry = places.early.items[0]) {
    if ((entry.notBefore ?? 0) > now) return
    withdraw(places, entry)
    offer(entry)
  }
}
