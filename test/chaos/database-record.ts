import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Trigger } from '../../src/domain/run/run.ts'
import { isTerminal, type RunState, type TerminalState } from '../../src/domain/run/run-machine.ts'
import { groupBy } from './audit/spans.ts'
import type { LeaseSample, MissedRange, StoredAttempt, StoredRun } from './records.ts'
import type { Server } from './server.ts'
import { ordersIn } from './work.ts'

// What the database holds, read with statements of our own: an audit that asked the engine would believe it.

const SCHEMA = 'escapement'
const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`

interface RunRow {
  readonly id: string
  readonly org: string
  readonly trigger: Trigger
  readonly agent_id: string
  readonly session_key: string | null
  readonly schedule_id: string | null
  readonly nominal: number | null
  readonly lane: string
  readonly created: number
  readonly finished: number | null
  readonly state: TerminalState | null
  readonly reason: string | null
  readonly superseded: boolean | null
  readonly payload: unknown
  readonly attempt: number | null
  readonly attempt_id: string | null
  readonly node_id: string | null
  readonly started: number | null
  readonly error_code: string | null
}

interface AttemptRow {
  readonly run_id: string
  readonly number: number
  readonly id: string
  readonly node_id: string | null
  readonly started: number
  readonly finished: number
  readonly error_code: string | null
}

const RUNS = `
  select r.id, r.org_id as org, r.trigger, r.agent_id, r.session_key, r.schedule_id, ${ms('r.nominal_at')} as nominal, r.lane,
         ${ms('r.created_at')} as created, ${ms('r.finished_at')} as finished, r.state,
         coalesce(r.why, p.why, r.decision) ->> 'reason' as reason,
         coalesce(r.superseded, p.superseded) as superseded, r.payload,
         coalesce(r.attempt, p.attempt, r.first_attempt) as attempt, coalesce(r.attempt_id, p.attempt_id) as attempt_id,
         coalesce(r.node_id, p.node_id) as node_id, ${ms('coalesce(r.started_at, p.started_at)')} as started, r.error_code
    from ${SCHEMA}.run r
    left join ${SCHEMA}.pending p on p.org_id = r.org_id and p.id = r.id`

const ATTEMPTS = `
  select run_id, number, id, node_id, ${ms('started_at')} as started, ${ms('finished_at')} as finished, error_code
    from ${SCHEMA}.attempt order by run_id, number`

const EVENTS = `
  select event ->> 1 as run, event -> 2 ->> 'status' as state
    from ${SCHEMA}.turn, jsonb_array_elements(events::jsonb) as event
   where event ->> 0 = 'run.changed'`

const RANGES = `
  select schedule_id, ${ms('first_at')} as first, ${ms('last_at')} as last, count::float8 from ${SCHEMA}.decision`

/** Every run with its attempts and endings, and every range of missed occurrences. */
export async function readDatabase(
  server: Server,
): Promise<{ readonly runs: readonly StoredRun[]; readonly ranges: readonly MissedRange[] }> {
  const client = await server.connect()
  try {
    const { rows: runs } = await client.query<RunRow>(RUNS)
    const { rows: attempts } = await client.query<AttemptRow>(ATTEMPTS)
    const { rows: events } = await client.query<{ run: string; state: RunState }>(EVENTS)
    const { rows: ranges } = await client.query<{ schedule_id: string; first: number; last: number; count: number }>(
      RANGES,
    )
    const earlier = groupBy(attempts, (attempt) => attempt.run_id)
    const endings = new Map<string, number>()
    for (const { run, state } of events) if (isTerminal(state)) endings.set(run, (endings.get(run) ?? 0) + 1)
    return {
      runs: runs.map((run) => storedRun(run, earlier.get(run.id) ?? [], endings.get(run.id) ?? 0)),
      ranges: ranges.map(({ schedule_id: schedule, first, last, count }) => ({ schedule, first, last, count })),
    }
  } finally {
    await client.end()
  }
}

function storedRun(run: RunRow, earlier: readonly AttemptRow[], endings: number): StoredRun {
  return {
    ...{ id: run.id, org: run.org, trigger: run.trigger, agent: run.agent_id, session: run.session_key },
    schedule: run.schedule_id,
    ...{ nominal: run.nominal, lane: run.lane, createdAt: run.created, finishedAt: run.finished, ending: run.state },
    reason: run.reason,
    superseded: run.superseded ?? false,
    submissions: ordersIn(run.payload).map(({ id }) => id),
    attempts: [
      ...earlier.map((attempt): StoredAttempt => ({
        ...{ id: attempt.id, number: attempt.number, node: attempt.node_id, errorCode: attempt.error_code },
        ...{ startedAt: attempt.started, finishedAt: attempt.finished },
      })),
      ...lastAttempt(run),
    ],
    endings,
  }
}

/** The last attempt is in the run itself; there is none when the run ended between two, or before the first. */
function lastAttempt(run: RunRow): readonly StoredAttempt[] {
  if (run.attempt_id === null || run.started === null) return []
  return [
    {
      ...{ id: run.attempt_id, number: run.attempt ?? 0, node: run.node_id, errorCode: run.error_code },
      ...{ startedAt: run.started, finishedAt: run.finished },
    },
  ]
}

/** How many runs have not ended. */
export async function countPending(server: Server): Promise<number> {
  const client = await server.connect()
  try {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int4 as count from ${SCHEMA}.run where finished_at is null`,
    )
    return rows[0]?.count ?? 0
  } finally {
    await client.end()
  }
}

/** What is wrong with the backlog, row by row: runs that are nowhere or in two places, and counts that have drifted. */
const BACKLOG_FLAWS = `
  with counted as (
    select org_id, agent_id, lane, executor_key, kind, count(*)::int as count, count(*) filter (where not behind)::int as waiting
      from ${SCHEMA}.backlog group by 1, 2, 3, 4, 5),
  sessions as (select org_id, session_key as key, count(*)::int as count, min(seq) as first from ${SCHEMA}.backlog
                where session_key is not null group by 1, 2)
  select 'run ' || r.id || ' is pending and nowhere' as flaw from ${SCHEMA}.run r
   where r.state is null and not exists (select from ${SCHEMA}.pending p where p.org_id = r.org_id and p.id = r.id)
     and not exists (select from ${SCHEMA}.backlog b where b.org_id = r.org_id and b.id = r.id)
  union all
  select 'run ' || b.id || ' is in the backlog, and also ended or in pending' from ${SCHEMA}.backlog b
    join ${SCHEMA}.run r on r.org_id = b.org_id and r.id = b.id
   where r.state is not null or exists (select from ${SCHEMA}.pending p where p.org_id = b.org_id and p.id = b.id)
  union all
  select 'the line ' || coalesce(l.agent_id, c.agent_id) || ' counts ' || coalesce(l.count, 0) || '/' || coalesce(l.waiting, 0)
         || ' and has ' || coalesce(c.count, 0) || '/' || coalesce(c.waiting, 0)
    from ${SCHEMA}.backlog_line l full join counted c using (org_id, agent_id, lane, executor_key, kind)
   where (l.count, l.waiting) is distinct from (c.count, c.waiting)
  union all
  select 'the line ' || l.agent_id || ' begins after its run ' || b.id from ${SCHEMA}.backlog_line l
    join ${SCHEMA}.backlog b using (org_id, agent_id, lane, executor_key, kind)
   where not b.behind and (b.priority, b.created_at, b.id) < (l.from_priority, l.from_created_at, l.from_id)
  union all
  select 'the session ' || s.key || ' counts ' || s.behind || ' from ' || s.behind_from || ' and has ' || coalesce(c.count, 0)
         || ' from ' || coalesce(c.first, 0)
    from ${SCHEMA}.session s left join sessions c using (org_id, key)
   where s.behind <> coalesce(c.count, 0) or s.behind_from > c.first`

/** Looks for flaws of the backlog while nothing or anything happens: one statement sees one moment. */
export async function findBacklogFlaws(server: Server): Promise<readonly string[]> {
  const client = await server.connect()
  try {
    const { rows } = await client.query<{ flaw: string }>(`select * from (${BACKLOG_FLAWS}) found limit 10`)
    return rows.map(({ flaw }) => flaw)
  } finally {
    await client.end()
  }
}

const SAMPLE_EVERY_MS = 150

/** Looks at the leases of all nodes again and again, from outside, until it is told to stop. */
export function watchLeases(server: Server): { readonly stop: () => Promise<readonly LeaseSample[]> } {
  const samples: LeaseSample[] = []
  let watching = true
  const watch = async (): Promise<void> => {
    let client: Client | undefined
    while (watching) {
      try {
        client ??= await server.connect()
        const { rows } = await client.query<LeaseSample>(
          `select id as node, ${ms('clock_timestamp()')} as at, ${ms('lease_until')} as until from ${SCHEMA}.node`,
        )
        samples.push(...rows)
        await sleep(SAMPLE_EVERY_MS)
      } catch {
        // The server is away just now, which is what this is about.
        await client?.end().catch(() => undefined)
        client = undefined
        await sleep(SAMPLE_EVERY_MS)
      }
    }
    await client?.end().catch(() => undefined)
  }
  const watched = watch()
  return {
    stop: async () => {
      watching = false
      await watched
      return samples
    },
  }
}
