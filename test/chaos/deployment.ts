import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import { countPending, readDatabase } from './database-record.ts'
import { foldAttempts, foldSubmissions, readJournals } from './journal.ts'
import type { MadeSchedule } from './node-process.ts'
import type { ProcessRecord, Records, TickingSchedule } from './records.ts'
import type { Server } from './server.ts'
import { LIMITS, ORDERED_SESSIONS, ORGS } from './orgs.ts'
import { LEASE_MS, SCHEDULES } from './world.ts'

const SETTLES_WITHIN_MS = 45_000

/** The schedule as the audit wants it: its occurrences had to be decided up to this time. */
export function ticking({ id, name, intervalMs }: MadeSchedule, until: number): TickingSchedule {
  const limit = SCHEDULES.find((schedule) => schedule.name === name)?.limit ?? null
  return { id, name, intervalMs, until, limit }
}

/** Waits until nothing is pending; answers how much still is when the patience ends. */
export async function settle(server: Server): Promise<number> {
  const deadline = Date.now() + SETTLES_WITHIN_MS
  for (;;) {
    const pending = await countPending(server)
    if (pending === 0 || Date.now() > deadline) return pending
    await sleep(200)
  }
}

/** The orgs with their limits and agents, before the first node looks at them. The migrations are those of this build or of another. */
export async function prepareDatabase(
  server: Server,
  { orgs: count, migrations }: { readonly orgs: number; readonly migrations?: string },
): Promise<void> {
  const orgs = ORGS.slice(0, count)
  const database = await openPostgres({ target: server.url() })
  try {
    await migrate(database, migrations === undefined ? {} : { directory: migrations })
    await database.query(
      `insert into org (id, name, max_concurrent, created_at)
       select *, now() from unnest($1::text[], $1::text[], $2::int[])`,
      [orgs.map(({ id }) => id), orgs.map(({ id }) => LIMITS.orgs.get(id) ?? null)],
    )
    const agents = orgs.flatMap((org) => org.agents.map((id) => ({ org: org.id, id })))
    await database.query(
      `insert into agent (org_id, id, name, executor, created_at, updated_at)
       select org, id, id, '{"kind": "in-process"}', now(), now() from unnest($1::text[], $2::text[]) as n (org, id)`,
      [agents.map(({ org }) => org), agents.map(({ id }) => id)],
    )
  } finally {
    await database.close()
  }
}

/** What happened, apart from what the database and the journals say. */
export type Suffered = Pick<Records, 'leases' | 'faults' | 'schedules' | 'load'>

/** Everything the audit looks at, read from the database and from the journals in a directory. */
export async function collect(
  server: Server,
  processes: readonly ProcessRecord[],
  from: { readonly suffered: Suffered; readonly directory: string },
): Promise<Records> {
  const { runs, ranges } = await readDatabase(server)
  const { leases, faults, schedules, load } = from.suffered
  return {
    ...{ runs, ranges, processes, leases, faults, schedules, load },
    submissions: foldSubmissions(readJournals(from.directory, 'submissions')),
    handled: foldAttempts(readJournals(from.directory, 'handlers')),
    ...{ leaseMs: LEASE_MS, limits: LIMITS, orderedSessions: ORDERED_SESSIONS },
  }
}
