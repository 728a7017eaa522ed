import { moveLines } from './line-up-lines.ts'
import type { Entry, Places } from './line-up-places.ts'
import { addRanked, rankOf, removeRanked } from './ranked-list.ts'

/** Counts a run for all it is, or with -1 takes back what it was counted for. */
export function count(places: Places, entry: Entry, by: 1 | -1): void {
  const { share, session } = entry
  share.runs += by
  if (session !== null) {
    session.runs += by
    if (entry.isActive) session.load.active += by
    if (entry.isStopping) session.load.stopping += by
  }
  if (entry.isQueued) countQueued(entry, by)
  if (!entry.inFlight) return
  share.agent.load.inFlight += by
  if (share.agent.provider !== null) share.agent.provider.inFlight += by
  places.load.inFlight += by
  if (entry.trigger === 'task') {
    share.agent.tasks.inFlight += by
    places.tasks.inFlight += by
  }
  share.lane.inFlight += by
  share.inFlight += by
  moveLines(share)
}

function countQueued(entry: Entry, by: 1 | -1): void {
  const { agent, lane } = entry.share
  lane.queued += by
  if (by === 1) addRanked(agent.queued, entry)
  else removeRanked(agent.queued, entry)
}

/** A run goes into flight: its agent was served, and what it sets aside is no longer there for others. */
export function serve(places: Places, entry: Entry): void {
  places.served += 1
  entry.share.servedAt = places.served
  moveLines(entry.share)
  for (const { budgetId, amount } of entry.reserves) {
    const budget = places.budgets.get(budgetId)
    if (budget !== undefined) places.budgets.set(budgetId, { ...budget, remaining: budget.remaining - amount })
  }
}

/** The place of a run among the queued runs of its agent, counted from 1. */
export const placeOf = (entry: Entry): number => rankOf(entry.share.agent.queued, entry) + 1
