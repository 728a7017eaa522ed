import { isWorkerId } from '../../domain/agent.ts'
import type { AttemptId, OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { declareLapsedLost, leaveDeployment, lookAtNodes } from '../../features/nodes/membership.ts'
import { orphansCommand, recoverLostCommand } from '../commands/engine-commands.ts'
import { readWorkers, markWorkersLost } from '../../features/workers/service.ts'
import type { NodeParts } from '../node-parts.ts'

/** Checks the other nodes of the deployment and settles what lost ones held. */
export async function watchNodes(parts: NodeParts): Promise<void> {
  const { ctx, health } = parts
  // Read before the nodes: every holder was in the database before it held something.
  const holders = holdersOf(parts, (id) => !isWorkerId(id))
  const askedAt = ctx.clock.counter()
  const { now, nodes } = await lookAtNodes(parts.control)
  health.answered()
  const others = nodes.filter(({ id }) => id !== parts.id())
  const { node, schedules } = ctx.settings()
  const lookTimes = { askedAt, answeredAt: ctx.clock.counter(), leaseMs: node.leaseMs, everyMs: schedules.pollMs }
  const unrenewed = parts.nodeLeases.observe(others, lookTimes)
  const alive = others.filter(({ id, lost }) => !lost && !unrenewed.has(id))
  parts.peers.others = alive.length > 0
  parts.peers.executors = new Set(alive.flatMap(({ draining, executors }) => (draining ? [] : executors)))
  const lost = new Map<string, Instant>()
  for (const { id, lost: isLost, leaseUntil } of others) if (isLost) lost.set(id, leaseUntil)
  // After an outage every node gets the time of a lease to renew before it is declared lost.
  const steady = health.steadyMs() >= node.leaseMs || parts.state.stopped
  const lapsed = others.filter(({ id, lost: isLost }) => !isLost && unrenewed.has(id))
  if (steady && lapsed.length > 0)
    for (const id of await declareLapsedLost(parts.control, lapsed)) {
      lost.set(id, now)
      ctx.log({ level: 'warn', message: 'A node was declared lost; its runs are settled', facts: { node: id } })
    }
  const known = new Set(nodes.map(({ id }) => id))
  for (const held of holders.values()) for (const id of held) if (!known.has(id) && id !== parts.id()) lost.set(id, now)
  recoverFrom(parts, { lost, holders, commands: parts.submitted.nodes })
  await forgetNodes(parts, { lost, holders, now })
}

/** The holders of runs in each loaded org. */
export function holdersOf(parts: NodeParts, isAsked: (id: string) => boolean): ReadonlyMap<OrgId, readonly string[]> {
  const holders = new Map<OrgId, readonly string[]>()
  for (const actor of parts.actors.values()) {
    const here = [...(actor.loaded()?.byNode.keys() ?? [])].filter(isAsked)
    if (here.length > 0) holders.set(actor.orgId, here)
  }
  return holders
}

interface LostHolders {
  readonly lost: ReadonlyMap<string, Instant>
  readonly holders: ReadonlyMap<OrgId, readonly string[]>
  readonly commands: NodeParts['submitted']['nodes']
}

/** Submits commands that settle what lost nodes or workers held. */
export function recoverFrom(parts: NodeParts, { lost, holders, commands }: LostHolders): void {
  // Logs orgs that have waited for too long.
  commands.busy()
  for (const [orgId, held] of holders) {
    const gone = new Map<string, Instant>()
    for (const id of held) {
      const lapsedAt = lost.get(id)
      if (lapsedAt !== undefined) gone.set(id, lapsedAt)
    }
    if (gone.size > 0 && !commands.isBusy(orgId))
      commands.submit(recoverLostCommand(orgId, gone, () => parts.actors.get(orgId)?.loaded() ?? null))
  }
}

const FORGET_AFTER_MS = 3_600_000

/** A lost node that holds nothing in any loaded org is deleted. */
async function forgetNodes(
  parts: NodeParts,
  { lost, holders, now }: Omit<LostHolders, 'commands'> & { readonly now: Instant },
): Promise<void> {
  const holding = new Set([...holders.values()].flat())
  for (const [id, leaseUntil] of lost)
    if (!holding.has(id) && now - leaseUntil > FORGET_AFTER_MS) await leaveDeployment(parts.control, id)
}

/**
 * Settles runs that this node holds in the database but does not execute, because the start failed after the commit.
 * When seen twice in a row they are settled as if the node had been lost.
 */
export function settleOrphans(parts: NodeParts): void {
  const { orphans } = parts.state
  const seen = new Set<string>()
  for (const actor of parts.actors.values()) {
    const found = new Map<RunId, AttemptId>()
    for (const { id, attemptId } of actor.loaded()?.byNode.get(parts.id()) ?? []) {
      if (attemptId === null || parts.executions.holds(attemptId)) continue
      seen.add(attemptId)
      if (orphans.has(attemptId)) found.set(id, attemptId)
    }
    if (found.size > 0 && !parts.submitted.orphans.isBusy(actor.orgId)) settleOrphansOf(parts, actor.orgId, found)
  }
  orphans.clear()
  for (const id of seen) orphans.add(id)
}

function settleOrphansOf(parts: NodeParts, orgId: OrgId, found: ReadonlyMap<RunId, AttemptId>): void {
  // A claim of a transaction in progress looks the same, so the command checks again in its own transaction.
  parts.submitted.orphans.submit(orphansCommand(orgId, found, parts.executions.holds), (runs) => {
    if (runs.length > 0)
      parts.ctx.log({ level: 'warn', message: 'Runs were claimed and never started', facts: { runs } })
  })
}

/**
 * Checks the workers of the deployment and settles what lost ones held. A worker cannot renew while no node answers, so
 * none is declared lost before a lease has passed in which it could have.
 */
export async function watchWorkers(parts: NodeParts): Promise<void> {
  const { ctx, health } = parts
  // Read before the workers: every holder was in the database before it held something.
  const holders = holdersOf(parts, isWorkerId)
  const askedAt = ctx.clock.counter()
  const { now, workers } = await readWorkers(parts.control)
  const { node, schedules } = ctx.settings()
  const lookTimes = { askedAt, answeredAt: ctx.clock.counter(), leaseMs: node.leaseMs, everyMs: schedules.pollMs }
  const unrenewed = parts.workerLeases.observe(workers, lookTimes)
  parts.workers.setAlive(workers.filter(({ id, lost }) => !lost && !unrenewed.has(id)))
  const holding = new Set([...holders.values()].flat())
  const gone = new Map<string, Instant>()
  for (const { id, lost, leaseUntil } of workers) if (lost && holding.has(id)) gone.set(id, leaseUntil)
  const lapsed = workers.filter(({ id, lost }) => !lost && unrenewed.has(id))
  if (lapsed.length > 0 && health.steadyMs() >= node.leaseMs)
    for (const id of await markWorkersLost(parts.control, lapsed)) {
      gone.set(id, now)
      if (holding.has(id))
        ctx.log({ level: 'warn', message: 'A worker was declared lost; its runs are settled', facts: { worker: id } })
    }
  const known = new Set(workers.map(({ id }) => id))
  for (const id of holding) if (!known.has(id)) gone.set(id, now)
  recoverFrom(parts, { lost: gone, holders, commands: parts.submitted.workers })
}
