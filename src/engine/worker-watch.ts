import { isWorkerId } from '../core/executor/worker-agent.ts'
import type { Instant } from '../core/instant.ts'
import { lookAtWorkers, loseWorkers } from '../service/worker/leases.ts'
import { recoverWork } from '../service/turn/works.ts'
import type { NodeParts } from './node-parts.ts'

/**
 * Looks at the workers of the deployment, and settles what those held that do nothing any more. `upMs`: how long this
 * node has been there. A worker cannot renew while nobody is there to renew with, so nobody is declared lost before a
 * lease has passed in which it could have.
 */
export async function watchWorkers(parts: NodeParts, upMs: number): Promise<void> {
  const { ctx, health } = parts
  // Before the look: whoever holds something was on record before it did.
  const holders = holdersOf(parts)
  const { now, workers } = await lookAtWorkers(ctx.database)
  const alive = workers.filter(({ lost, leaseUntil }) => !lost && leaseUntil > now)
  parts.workers.see(alive)
  const { leaseMs } = ctx.settings().node
  const gone = new Map<string, Instant>()
  for (const { id, lost, leaseUntil } of workers) if (lost && holders.has(id)) gone.set(id, leaseUntil)
  const lapsed = workers.filter(({ lost, leaseUntil }) => !lost && leaseUntil <= now).map(({ id }) => id)
  if (lapsed.length > 0 && Math.min(upMs, health.steadyMs()) >= leaseMs)
    for (const id of await loseWorkers(ctx.database, now, lapsed)) {
      gone.set(id, now)
      if (holders.has(id))
        ctx.log({ level: 'warn', message: 'A worker was lost; what it held is settled', facts: { worker: id } })
    }
  const known = new Set(workers.map(({ id }) => id))
  for (const id of holders) if (!known.has(id)) gone.set(id, now)
  await settleHeld(parts, gone)
}

function holdersOf(parts: NodeParts): ReadonlySet<string> {
  const holders = new Set<string>()
  for (const office of parts.offices.values())
    for (const holder of office.memory()?.byNode.keys() ?? []) if (isWorkerId(holder)) holders.add(holder)
  return holders
}

async function settleHeld(parts: NodeParts, gone: ReadonlyMap<string, Instant>): Promise<void> {
  if (gone.size === 0) return
  const works: Promise<unknown>[] = []
  for (const office of parts.offices.values()) {
    const here = new Map<string, Instant>()
    for (const holder of office.memory()?.byNode.keys() ?? []) {
      const lapsedAt = gone.get(holder)
      if (lapsedAt !== undefined) here.set(holder, lapsedAt)
    }
    if (here.size > 0) works.push(office.take(recoverWork(office.orgId, here, office.memory), true))
  }
  await Promise.all(works)
}
