import { instant, later, type Instant } from '../../src/domain/instant.ts'
import type { Row, SqlValue } from '../../src/platform/db/database.ts'
import type { Owner } from './clock.ts'
import type { Lock } from './faulty-database.ts'
import type { World } from './shapes.ts'

/** How long a server lets a statement wait for a lock. */
const LOCK_TIMEOUT_MS = 5_000

/** How often a waiting statement of a simulation looks whether the lock is free. */
const LOCK_LOOK_MS = 250

/** Waits while another client holds the lock. False: for longer than a server lets a statement wait. */
export async function awaitLock({ heldLocks, clock }: World, owner: Owner, [, number]: Lock): Promise<boolean> {
  for (let waitedMs = 0; heldLocks.has(number); waitedMs += LOCK_LOOK_MS) {
    if (waitedMs >= LOCK_TIMEOUT_MS) return false
    await new Promise<void>((resolve) => {
      clock.at(later(clock.now(), LOCK_LOOK_MS), owner, resolve)
    })
  }
  return true
}

/** Takes down who holds a lease since when, and sees to it that no node is declared lost before its lease is over. */
export function noteLeases(world: World, text: string, { params, rows }: Answered): void {
  const { journal, clock } = world
  const [id] = params
  const renews =
    text.startsWith('insert into node') || (text.startsWith('update node set lease_until') && rows.length > 0)
  if (renews && typeof id === 'string') {
    const known = journal.leases.get(id)
    if (known === undefined) journal.leases.set(id, [clock.now()])
    else known.push(clock.now())
  }
  if (text.startsWith('delete from node') && typeof id === 'string') journal.left.add(id)
  if (!/^update node (n )?set lost/.test(text)) return
  for (const row of rows) {
    const lost = row['id'] as string
    if (holdsLease(world, lost, clock.now()))
      journal.broken.push({ invariant: 'alive_is_not_lost', message: `${lost} was declared lost at ${clock.now()}` })
  }
}

export interface Answered {
  readonly params: readonly SqlValue[]
  readonly rows: readonly Row[]
}

/** Whether the node had renewed its lease less than a lease before, by the time that really passes. */
export function holdsLease({ journal, settings }: World, id: string, at: Instant): boolean {
  const renewals = journal.leases.get(id) ?? []
  return renewals.some((renewed) => renewed <= at && at < instant(renewed + settings.node.leaseMs))
}
