import { isWorkerId } from '../../core/executor/worker-agent.ts'
import type { AttemptId, OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { declareNodesLost, leaveNodes, lookAtNodes } from '../../service/membership.ts'
import { orphanWork, recoverLostWork } from '../../service/turn/works.ts'
import { lookAtWorkers, loseWorkers } from '../../features/workers/service.ts'
import type { NodeParts } from '../node-parts.ts'

/** Looks at the other nodes of the deployment, and settles what those held that do nothing any more. */
export async function watchNodes(parts: NodeParts): Promise<void> {
  const { ctx, health } = parts
  // Before the look: whoever holds something was on record before it did.
  const holders = holdersOf(parts, (id) => !isWorkerId(id))
  const askedAt = ctx.clock.counter()
  const { now, nodes } = await lookAtNodes(parts.control)
  health.answered()
  const others = nodes.filter(({ id }) => id !== parts.id())
  const { node, schedules } = ctx.settings()
  const look = { askedAt, answeredAt: ctx.clock.counter(), leaseMs: node.leaseMs, everyMs: schedules.pollMs }
  const unrenewed = parts.nodeLeases.look(others, look)
  const alive = others.filter(({ id, lost }) => !lost && !unrenewed.has(id))
  parts.company.others = alive.length > 0
  parts.company.executors = new Set(alive.flatMap(({ draining, executors }) => (draining ? [] : executors)))
  const lost = new Map<string, Instant>()
  for (const { id, lost: isLost, leaseUntil } of others) if (isLost) lost.set(id, leaseUntil)
  // After the database was away for everybody, everybody gets the time to say that they are still there.
  const steady = health.steadyMs() >= node.leaseMs || parts.state.stopped
  const lapsed = others.filter(({ id, lost: isLost }) => !isLost && unrenewed.has(id))
  if (steady && lapsed.length > 0)
    for (const id of await declareNodesLost(parts.control, lapsed)) {
      lost.set(id, now)
      ctx.log({ level: 'warn', message: 'A node was lost; what it held is settled', facts: { node: id } })
    }
  const known = new Set(nodes.map(({ id }) => id))
  for (const held of holders.values()) for (const id of held) if (!known.has(id) && id !== parts.id()) lost.set(id, now)
  recoverFrom(parts, { lost, holders, handed: parts.handed.nodes })
  await forgetNodes(parts, { lost, holders, now })
}

/** Who holds runs in each org that is loaded. */
export function holdersOf(parts: NodeParts, isAsked: (id: string) => boolean): ReadonlyMap<OrgId, readonly string[]> {
  const holders = new Map<OrgId, readonly string[]>()
  for (const office of parts.offices.values()) {
    const here = [...(office.memory()?.byNode.keys() ?? [])].filter(isAsked)
    if (here.length > 0) holders.set(office.orgId, here)
  }
  return holders
}

interface Recovering {
  readonly lost: ReadonlyMap<string, Instant>
  readonly holders: ReadonlyMap<OrgId, readonly string[]>
  readonly handed: NodeParts['handed']['nodes']
}

/** Hands in the settling of what lost nodes or workers held. */
export function recoverFrom(parts: NodeParts, { lost, holders, handed }: Recovering): void {
  // Reports who has waited for too long.
  handed.busy()
  for (const [orgId, held] of holders) {
    const gone = new Map<string, Instant>()
    for (const id of held) {
      const lapsedAt = lost.get(id)
      if (lapsedAt !== undefined) gone.set(id, lapsedAt)
    }
    if (gone.size > 0 && !handed.isBusy(orgId))
      handed.hand(recoverLostWork(orgId, gone, () => parts.offices.get(orgId)?.memory() ?? null))
  }
}

const FORGET_AFTER_MS = 3_600_000

/** A lost node that holds nothing in any org that was looked at has nothing left to be remembered for. */
async function forgetNodes(
  parts: NodeParts,
  { lost, holders, now }: Omit<Recovering, 'handed'> & { readonly now: Instant },
): Promise<void> {
  const holding = new Set([...holders.values()].flat())
  for (const [id, leaseUntil] of lost)
    if (!holding.has(id) && now - leaseUntil > FORGET_AFTER_MS) await leaveNodes(parts.control, id)
}

/**
 * Runs that the tables say this node executes and that it does not: a start that never happened, because something went
 * wrong between the commit and the start. Seen twice in a row they are settled as if the node had been lost.
 */
export function settleOrphans(parts: NodeParts): void {
  const { orphans } = parts.state
  const seen = new Set<string>()
  for (const office of parts.offices.values()) {
    const found = new Map<RunId, AttemptId>()
    for (const { id, attemptId } of office.memory()?.byNode.get(parts.id()) ?? []) {
      if (attemptId === null || parts.executions.holds(attemptId)) continue
      seen.add(attemptId)
      if (orphans.has(attemptId)) found.set(id, attemptId)
    }
    if (found.size > 0 && !parts.handed.orphans.isBusy(office.orgId)) settleIn(parts, office.orgId, found)
  }
  orphans.clear()
  for (const id of seen) orphans.add(id)
}

function settleIn(parts: NodeParts, orgId: OrgId, found: ReadonlyMap<RunId, AttemptId>): void {
  // What a turn under way has claimed looks like it; only in a turn of its own is it certain.
  parts.handed.orphans.hand(orphanWork(orgId, found, parts.executions.holds), (runs) => {
    if (runs.length > 0)
      parts.ctx.log({ level: 'warn', message: 'Runs were claimed and never started', facts: { runs } })
  })
}

/**
 * Looks at the workers of the deployment, and settles what those held that do nothing any more. A worker cannot renew
 * while nobody is there to renew with, so nobody is declared lost before a lease has passed in which it could have.
 */
export async function watchWorkers(parts: NodeParts): Promise<void> {
  const { ctx, health } = parts
  // Before the look: whoever holds something was on record before it did.
  const holders = holdersOf(parts, isWorkerId)
  const askedAt = ctx.clock.counter()
  const { now, workers } = await lookAtWorkers(parts.control)
  const { node, schedules } = ctx.settings()
  const look = { askedAt, answeredAt: ctx.clock.counter(), leaseMs: node.leaseMs, everyMs: schedules.pollMs }
  const unrenewed = parts.workerLeases.look(workers, look)
  parts.workers.see(workers.filter(({ id, lost }) => !lost && !unrenewed.has(id)))
  const holding = new Set([...holders.values()].flat())
  const gone = new Map<string, Instant>()
  for (const { id, lost, leaseUntil } of workers) if (lost && holding.has(id)) gone.set(id, leaseUntil)
  const lapsed = workers.filter(({ id, lost }) => !lost && unrenewed.has(id))
  if (lapsed.length > 0 && health.steadyMs() >= node.leaseMs)
    for (const id of await loseWorkers(parts.control, lapsed)) {
      gone.set(id, now)
      if (holding.has(id))
        ctx.log({ level: 'warn', message: 'A worker was lost; what it held is settled', facts: { worker: id } })
    }
  const known = new Set(workers.map(({ id }) => id))
  for (const id of holding) if (!known.has(id)) gone.set(id, now)
  recoverFrom(parts, { lost: gone, holders, handed: parts.handed.workers })
}
