import {
  hasPlace,
  type BudgetLoad,
  type Candidate,
  type LaneLoad,
  type Load,
  type SessionLoad,
  type Standing,
} from '../../../../src/core/picking/gates.ts'
import { pushToHeap } from '../../../../src/core/picking/heap.ts'
import type { AgentId, BudgetId, LaneName, OrgId, ProviderName, SessionKey } from '../../../../src/core/ids.ts'
import { resolveLane } from '../../../../src/core/lanes.ts'
import { inSessionOrder } from '../../../../src/core/session/session.ts'
import type { AgentFacts, OrgFacts, PickingFacts, ProviderFacts } from '../picking-facts.ts'
import { goesFirst, isServedFirst, type Share } from '../../../../src/core/picking/picking-order.ts'

/**
 * The world of one turn of picking: who competes where. It is built from the facts, changed by every run that is picked
 * and thrown away; nothing of it leaves `pickRuns`.
 */
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface Session {
  readonly load: Mutable<SessionLoad>
  readonly queue: Candidate[]
  next: number
}

interface Agent {
  readonly load: Mutable<Load>
  readonly tasks: Mutable<Load>
  readonly facts: AgentFacts | undefined
  readonly provider: Mutable<ProviderFacts> | null
  held: boolean
}

interface Org {
  readonly id: OrgId
  readonly load: Mutable<Load>
  readonly tasks: Mutable<Load>
  readonly facts: OrgFacts | undefined
  readonly agents: Map<AgentId, Agent>
  readonly sessions: Map<SessionKey, Session>
  readonly budgets: Map<BudgetId, BudgetLoad>
  readonly providers: Map<ProviderName, Mutable<ProviderFacts>>
  held: boolean
}

export interface AgentInLane extends Mutable<Share> {
  readonly id: string
  readonly agent: Agent
  /** A heap. */
  readonly ready: Candidate[]
  readonly standing: Mutable<Standing>
  listed: boolean
}

export interface OrgInLane extends Mutable<Share> {
  readonly id: string
  readonly org: Org
  /** A heap. */
  readonly agents: AgentInLane[]
  readonly byAgent: Map<AgentId, AgentInLane>
  listed: boolean
}

export interface Lane {
  readonly name: LaneName
  readonly load: Mutable<LaneLoad>
  /** A heap. */
  readonly orgs: OrgInLane[]
  readonly byOrg: Map<OrgId, OrgInLane>
}

export interface Turn {
  readonly facts: PickingFacts
  readonly lanes: Map<LaneName, Lane>
  readonly orgs: Map<OrgId, Org>
  readonly catchup: Mutable<Load>
  served: number
}

/** Everybody who may compete, in their places. */
export function openTurn(facts: PickingFacts): Turn {
  const catchup = { inFlight: facts.catchup.inFlight, limit: facts.catchup.limit }
  const turn: Turn = { facts, lanes: new Map(), orgs: new Map(), catchup, served: lastServed(facts) }
  for (const [name, { size, held }] of facts.lanes)
    turn.lanes.set(name, { name, load: { name, size, held }, orgs: [], byOrg: new Map() })
  for (const run of facts.candidates) {
    if (!hasPlace(run)) continue
    if (run.sessionKey === null) offer(turn, run)
    else sessionOf(orgOf(turn, run.orgId), run.sessionKey).queue.push(run)
  }
  for (const org of turn.orgs.values())
    for (const session of org.sessions.values()) {
      if (session.queue.length > 1) session.queue.sort(inSessionOrder)
      offerHead(turn, session)
    }
  return turn
}

/** Whoever is served in this turn is served after everybody who was before it. */
function lastServed(facts: PickingFacts): number {
  let last = 0
  const look = (shares: ReadonlyMap<LaneName, Share>): void => {
    for (const share of shares.values()) if (share.servedAt > last) last = share.servedAt
  }
  for (const org of facts.orgs.values()) {
    look(org.shares)
    for (const agent of org.agents.values()) look(agent.shares)
  }
  return last
}

/** Lets the next run of the session compete: only the head ever does. */
export function offerHead(turn: Turn, session: Session): void {
  const head = session.queue[session.next]
  session.load.head = head?.id ?? null
  if (head !== undefined) offer(turn, head)
}

/** Lets a run compete in its lane. */
function offer(turn: Turn, run: Candidate): void {
  const lane = turn.lanes.get(run.lane) ?? turn.lanes.get(resolveLane(run.lane, turn.lanes))
  if (lane === undefined) return
  const org = orgInLane(turn, lane, run.orgId)
  const agent = agentInLane(turn, { lane, org, id: run.agentId })
  pushToHeap(agent.ready, run, goesFirst)
  if (!agent.listed) pushToHeap(org.agents, agent, isServedFirst)
  agent.listed = true
  if (!org.listed) pushToHeap(lane.orgs, org, isServedFirst)
  org.listed = true
}

// Copies are written out field by field here: spreading costs more than all the rest of a small turn.
const copyOf = (load: Load | undefined): Mutable<Load> => ({
  inFlight: load?.inFlight ?? 0,
  limit: load?.limit ?? null,
})

const UNSERVED: Share = { inFlight: 0, servedAt: -1 }

function orgOf(turn: Turn, id: OrgId): Org {
  const known = turn.orgs.get(id)
  if (known !== undefined) return known
  const facts = turn.facts.orgs.get(id)
  const org: Org = {
    id,
    facts,
    load: copyOf(facts?.load),
    tasks: copyOf(facts?.tasks),
    agents: new Map(),
    sessions: new Map(),
    budgets: new Map(facts?.budgets),
    providers: new Map([...(facts?.providers ?? [])].map(([name, provider]) => [name, { ...provider }])),
    held: false,
  }
  turn.orgs.set(id, org)
  return org
}

/** The session's standing in this turn. */
export function sessionOf(org: Org, key: SessionKey): Session {
  const known = org.sessions.get(key)
  if (known !== undefined) return known
  const facts = org.facts?.sessions.get(key)
  const load = {
    active: facts?.active ?? 0,
    stopping: facts?.stopping ?? 0,
    maxConcurrent: facts?.maxConcurrent ?? 1,
    context: facts?.context ?? null,
    head: null,
  }
  const session: Session = { load, queue: [], next: 0 }
  org.sessions.set(key, session)
  return session
}

function orgInLane(turn: Turn, lane: Lane, id: OrgId): OrgInLane {
  const known = lane.byOrg.get(id)
  if (known !== undefined) return known
  const org = orgOf(turn, id)
  const share = org.facts?.shares.get(lane.name) ?? UNSERVED
  const { inFlight, servedAt } = share
  const made: OrgInLane = { inFlight, servedAt, id, org, agents: [], byAgent: new Map(), listed: false }
  lane.byOrg.set(id, made)
  return made
}

function agentInLane(
  turn: Turn,
  of: { readonly lane: Lane; readonly org: OrgInLane; readonly id: AgentId },
): AgentInLane {
  const { lane, id } = of
  const { org } = of.org
  const known = of.org.byAgent.get(id)
  if (known !== undefined) return known
  const agent = agentOf(org, id)
  const { inFlight, servedAt } = agent.facts?.shares.get(lane.name) ?? UNSERVED
  const made: AgentInLane = {
    inFlight,
    servedAt,
    id,
    agent,
    ready: [],
    standing: {
      now: turn.facts.now,
      session: null,
      agent: agent.load,
      agentTasks: agent.tasks,
      org: org.load,
      orgTasks: org.tasks,
      budgets: org.budgets,
      provider: agent.provider,
      catchup: turn.catchup,
      lane: lane.load,
    },
    listed: false,
  }
  of.org.byAgent.set(id, made)
  return made
}

function agentOf(org: Org, id: AgentId): Agent {
  const known = org.agents.get(id)
  if (known !== undefined) return known
  const facts = org.facts?.agents.get(id)
  const name = facts?.provider ?? null
  const provider = name === null ? null : (org.providers.get(name) ?? null)
  const agent: Agent = { load: copyOf(facts?.load), tasks: copyOf(facts?.tasks), facts, provider, held: false }
  org.agents.set(id, agent)
  return agent
}
