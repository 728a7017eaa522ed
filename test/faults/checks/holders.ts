import type { Instant } from '../../../src/domain/instant.ts'
import type { World } from '../shapes.ts'
import { demand } from './invariants.ts'

/** Enough for a lease, for everybody to be sure that the database is steady, and for somebody to look. */
const MISSED_AFTER_MS = 28_000

/** Once nothing goes wrong any more, nothing hangs for long on a node that is not there. */
export async function expectNoDeadHolders({ database, clock, serverNow, orgs, calmSince }: World): Promise<void> {
  if (calmSince === null || clock.now() - calmSince < MISSED_AFTER_MS) return
  const rows = await database.query(
    `select p.id, p.node_id, p.started_at, n.lease_until from pending p left join node n on n.id = p.node_id
      where p.node_id is not null and p.org_id = any($1::text[])`,
    [orgs.map(({ id }) => id)],
  )
  for (const row of rows)
    demand(
      serverNow() - ((row['lease_until'] ?? row['started_at']) as Instant) < MISSED_AFTER_MS,
      'leases_are_kept',
      () => `${String(row['id'])} is held by ${String(row['node_id'])}, which has long been gone`,
    )
}
