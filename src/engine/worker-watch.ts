import { isWorkerId } from '../core/executor/worker-agent.ts'
import type { Instant } from '../core/instant.ts'
import { lookAtWorkers, loseWorkers } from '../service/worker/workers.ts'
import type { NodeParts } from './node-parts.ts'
import { holdersOf, recoverFrom } from './node-watch.ts'

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
