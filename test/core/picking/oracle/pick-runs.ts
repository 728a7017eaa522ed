import { closedGate, type Candidate } from '../../../../src/core/picking/gates.ts'
import { popFromHeap, sinkFirst } from '../../../../src/core/picking/heap.ts'
import { later, type Instant } from '../../../../src/core/instant.ts'
import type { PickingFacts } from '../picking-facts.ts'
import { goesFirst, isServedFirst, type Share } from '../../../../src/core/picking/picking-order.ts'
import {
  offerHead,
  openTurn,
  sessionOf,
  type AgentInLane,
  type Lane,
  type OrgInLane,
  type Session,
  type Turn,
} from './picking-turn.ts'

/**
 * Which queued runs start now. In every lane: the org with the fewest in flight in it, then the agent with the fewest –
 * each tie to the one unserved longest – then lower priority, then age, then id. Inside a session order comes first:
 * only its head competes.
 *
 * One call picks a whole turn. Nothing ends during a turn, so a limit that is reached stays reached, and whoever it
 * holds up is put aside instead of being asked again for every run.
 *
 * Answers with the runs that start, in the order they were picked.
 */
export function pickRuns(facts: PickingFacts): readonly Candidate[] {
  const turn = openTurn(facts)
  const picked: Candidate[] = []
  // Lanes take turns, one run each, so that a limit they share is not used up by whichever comes first.
  for (let before = -1; before < picked.length;) {
    before = picked.length
    for (const lane of turn.lanes.values()) {
      const run = pickOne(turn, lane)
      if (run !== null) picked.push(run)
    }
  }
  return picked
}

/** The place of a run among the queued runs of its agent, counted from 1. */
export function positionOf(
  run: Pick<Candidate, 'id' | 'priority' | 'createdAt'>,
  queuedOfAgent: readonly Pick<Candidate, 'id' | 'priority' | 'createdAt'>[],
): number {
  return 1 + queuedOfAgent.filter((other) => other.id !== run.id && goesFirst(other, run)).length
}

function pickOne(turn: Turn, lane: Lane): Candidate | null {
  for (let org = lane.orgs[0]; org !== undefined; org = lane.orgs[0]) {
    const agent = org.org.held ? undefined : org.agents[0]
    if (agent === undefined) {
      unlist(lane.orgs)
      continue
    }
    const run = agent.agent.held ? undefined : agent.ready[0]
    if (run === undefined) {
      unlist(org.agents)
      continue
    }
    const session = run.sessionKey === null ? null : sessionOf(org.org, run.sessionKey)
    agent.standing.session = session?.load ?? null
    const holds = closedGate(run, agent.standing)
    if (holds === 'lane') return null
    if (holds === 'org') org.org.held = true
    else if (holds === 'agent' || holds === 'provider') agent.agent.held = true
    else popFromHeap(agent.ready, goesFirst)
    if (holds !== null) continue
    take(turn, { run, lane, org, agent, session })
    return run
  }
  return null
}

function unlist(heap: (Share & { readonly id: string; listed: boolean })[]): void {
  const gone = popFromHeap(heap, isServedFirst)
  if (gone !== undefined) gone.listed = false
}

interface Taken {
  readonly run: Candidate
  readonly lane: Lane
  readonly org: OrgInLane
  readonly agent: AgentInLane
  readonly session: Session | null
}

function take(turn: Turn, taken: Taken): void {
  const { run, lane, org, agent, session } = taken
  turn.served += 1
  org.inFlight += 1
  org.servedAt = turn.served
  agent.inFlight += 1
  agent.servedAt = turn.served
  lane.load.held += 1
  org.org.load.inFlight += 1
  agent.agent.load.inFlight += 1
  if (run.trigger === 'task') {
    org.org.tasks.inFlight += 1
    agent.agent.tasks.inFlight += 1
  }
  if (run.trigger === 'catchup') turn.catchup.inFlight += 1
  if (agent.agent.provider !== null) callOnce(agent.agent.provider, turn.facts.now)
  for (const { budgetId, amount } of run.reserves) {
    const budget = org.org.budgets.get(budgetId)
    if (budget !== undefined) org.org.budgets.set(budgetId, { ...budget, remaining: budget.remaining - amount })
  }
  sinkFirst(org.agents, isServedFirst)
  sinkFirst(lane.orgs, isServedFirst)
  if (session === null) return
  if (!run.retrying) session.load.active += 1
  session.next += 1
  offerHead(turn, session)
}

/** One more of the provider's runs is in flight; the last request it had is followed by none in this turn. */
function callOnce(provider: NonNullable<AgentInLane['agent']['provider']>, now: Instant): void {
  provider.inFlight += 1
  if (provider.requests === null) return
  provider.requests -= 1
  if (provider.requests <= 0) provider.load = { ...provider.load, until: later(now, 1) }
}
