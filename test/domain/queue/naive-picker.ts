import type { GateCandidate, Load } from '../../../src/domain/queue/gates.ts'
import type { LaneName } from '../../../src/domain/ids.ts'
import { resolveLane } from '../../../src/domain/queue/lanes.ts'
import type { PickingFacts } from './picking-facts.ts'

/**
 * The picking rule written down as plainly as possible: for every single run look at everything again. Slow on purpose,
 * and sharing nothing with the line-up, which is held to it, but the names of lanes.
 */
export function naivePick(facts: PickingFacts): readonly GateCandidate[] {
  const picked: GateCandidate[] = []
  let progressed = true
  while (progressed) {
    progressed = false
    for (const lane of facts.lanes.keys()) {
      const next = best(facts, picked, lane)
      if (next === undefined) continue
      picked.push(next)
      progressed = true
    }
  }
  return picked
}

const laneOf = (facts: PickingFacts, run: GateCandidate): LaneName => resolveLane(run.lane, facts.lanes)

function best(facts: PickingFacts, picked: readonly GateCandidate[], lane: LaneName): GateCandidate | undefined {
  const rank = (run: GateCandidate): readonly (number | string)[] => {
    const org = facts.orgs.get(run.orgId)
    const agent = org?.agents.get(run.agentId)
    const served = (
      same: (other: GateCandidate) => boolean,
      before: { inFlight: number; servedAt: number } | undefined,
    ) => {
      const mine = picked.flatMap((other, index) => (laneOf(facts, other) === lane && same(other) ? [index] : []))
      const last = mine.at(-1)
      return [(before?.inFlight ?? 0) + mine.length, last === undefined ? (before?.servedAt ?? -1) : 1_000_000 + last]
    }
    return [
      ...served((other) => other.orgId === run.orgId, org?.shares.get(lane)),
      run.orgId,
      ...served((other) => other.orgId === run.orgId && other.agentId === run.agentId, agent?.shares.get(lane)),
      run.agentId,
      run.priority,
      run.createdAt,
      run.id,
    ]
  }
  const open = facts.candidates.filter((run) => laneOf(facts, run) === lane && mayStart(facts, picked, run))
  const ranked = open.map((run) => ({ run, rank: rank(run) }))
  return ranked.toSorted((a, b) => compare(a.rank, b.rank))[0]?.run
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? left
    if (left < right) return -1
    if (left > right) return 1
  }
  return 0
}

function mayStart(facts: PickingFacts, picked: readonly GateCandidate[], run: GateCandidate): boolean {
  if (picked.includes(run) || run.parkedBehind !== null || !run.executable) return false
  if (run.notBefore !== null && run.notBefore > facts.now) return false
  const org = facts.orgs.get(run.orgId)
  const mine = picked.filter((other) => other.orgId === run.orgId)
  const same = mine.filter((other) => other.agentId === run.agentId)
  const isTask = (other: GateCandidate): boolean => other.trigger === 'task'
  const lane = laneOf(facts, run)
  const slots = facts.lanes.get(lane) ?? { size: 0, held: 0 }
  const agent = org?.agents.get(run.agentId)
  return (
    sessionOpen(facts, picked, run) &&
    room(agent?.load, same.length) &&
    room(org?.load, mine.length) &&
    (!isTask(run) ||
      (room(agent?.tasks, same.filter(isTask).length) && room(org?.tasks, mine.filter(isTask).length))) &&
    run.reserves.every(({ budgetId, amount }) => {
      const budget = org?.budgets.get(budgetId)
      const spent = mine.flatMap((other) => other.reserves).filter((other) => other.budgetId === budgetId)
      const left = spent.reduce((sum, other) => sum - other.amount, budget?.remaining ?? 0)
      return budget === undefined || (left > 0 && left >= amount)
    }) &&
    providerOpen(facts, mine, run) &&
    (run.trigger !== 'catchup' || room(facts.catchup, picked.filter((other) => other.trigger === 'catchup').length)) &&
    slots.held + picked.filter((other) => laneOf(facts, other) === lane).length < slots.size
  )
}

const room = (load: Load | undefined, more: number): boolean =>
  load === undefined || load.limit === null || load.inFlight + more < load.limit

/** What the agent calls has a place in flight and a request left; the last one closes it for the rest of the turn. */
function providerOpen({ orgs, now }: PickingFacts, mine: readonly GateCandidate[], run: GateCandidate): boolean {
  const org = orgs.get(run.orgId)
  const called = (other: GateCandidate): string | null => org?.agents.get(other.agentId)?.provider ?? null
  const provider = [...(org?.providers ?? [])].find(([name]) => name === called(run))?.[1]
  if (provider === undefined) return true
  const { until, limit } = provider.load
  const calls = mine.filter((other) => called(other) === called(run)).length
  const hasRequest = provider.requests === null || calls === 0 || calls < provider.requests
  return (until === null || until <= now) && hasRequest && room({ inFlight: provider.inFlight, limit }, calls)
}

function sessionOpen(facts: PickingFacts, picked: readonly GateCandidate[], run: GateCandidate): boolean {
  if (run.sessionKey === null) return true
  const inSession = (other: GateCandidate): boolean => other.orgId === run.orgId && other.sessionKey === run.sessionKey
  const session = facts.orgs.get(run.orgId)?.sessions.get(run.sessionKey)
  const ahead = facts.candidates.filter(
    (other) => inSession(other) && other.parkedBehind === null && !picked.includes(other) && isAhead(other, run),
  )
  const { tokens, contextWindow } = session?.context ?? { tokens: 0, contextWindow: 0 }
  const limit = contextWindow > 0 && tokens >= 0.6 * contextWindow ? 1 : (session?.maxConcurrent ?? 1)
  // What has executed before is among the active ones already.
  const active = (session?.active ?? 0) + picked.filter((other) => inSession(other) && !other.retrying).length
  return ahead.length === 0 && (run.retrying || active < limit) && !(run.interrupts && (session?.stopping ?? 0) > 0)
}

/** By their places in the session; what has none yet follows by age. */
const isAhead = (a: GateCandidate, b: GateCandidate): boolean =>
  compare([a.seq ?? Infinity, a.createdAt, a.id], [b.seq ?? Infinity, b.createdAt, b.id]) < 0

/** The place of a run among the queued runs of its agent, counted from 1. */
export function positionOf(run: Placed, queuedOfAgent: readonly Placed[]): number {
  const rank = ({ priority, createdAt, id }: Placed): readonly (number | string)[] => [priority, createdAt, id]
  return 1 + queuedOfAgent.filter((other) => compare(rank(other), rank(run)) < 0).length
}

type Placed = Pick<GateCandidate, 'id' | 'priority' | 'createdAt'>
