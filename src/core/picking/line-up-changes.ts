import type { RunId } from '../ids.ts'
import { count, serve } from './line-up-counts.ts'
import { NOWHERE } from './line-up-heap.ts'
import { release } from './line-up-lines.ts'
import { agentOf, servingLane, shareOf, tidy } from './line-up-making.ts'
import type { Entry, Places } from './line-up-places.ts'
import { dequeue, enqueue, reviewHead } from './line-up-sessions.ts'

/** Takes back all that was counted for a run and counts what it is now. Null: it is gone. */
export function change(places: Places, id: RunId, entry: Entry | null): void {
  const before = places.runs.get(id)
  const agent = before?.share.agent
  const [inFlight, tasks] = [agent?.load.inFlight ?? 0, agent?.tasks.inFlight ?? 0]
  if (before !== undefined) leave(places, before)
  if (entry !== null) {
    enter(places, entry)
    if (entry.inFlight && before?.inFlight !== true) serve(places, entry)
  }
  if (agent !== undefined && (agent.load.inFlight < inFlight || agent.tasks.inFlight < tasks)) release(agent)
  if (before !== undefined) reviewHead(places, before.session)
  if (entry !== null && entry.session !== before?.session) reviewHead(places, entry.session)
  if (before !== undefined) tidy(places, before)
}

/** A queued run goes into flight, and nothing else about it has changed: it is counted anew where it stands. */
export function begin(places: Places, entry: Entry, isActive: boolean): void {
  dequeue(places, entry)
  count(places, entry, -1)
  entry.isQueued = false
  entry.inFlight = true
  entry.isActive = isActive
  entry.retrying = false
  count(places, entry, 1)
  serve(places, entry)
  reviewHead(places, entry.session)
}

function leave(places: Places, entry: Entry): void {
  places.runs.delete(entry.id)
  if (entry.isQueued) dequeue(places, entry)
  count(places, entry, -1)
}

function enter(places: Places, entry: Entry): void {
  places.runs.set(entry.id, entry)
  count(places, entry, 1)
  if (entry.isQueued) enqueue(places, entry)
}

/** Moves a run to the lane that serves it now, if that is another. */
export function moveToLane(places: Places, entry: Entry): void {
  const name = servingLane(places, entry)
  if (name === entry.share.lane.name) return
  const share = shareOf(places, agentOf(places, entry.agentId), name)
  change(places, entry.id, { ...entry, share, heap: null, bundle: null, seat: NOWHERE })
}
