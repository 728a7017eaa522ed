import type { AgentId, OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { TASK_COUNTS, type TaskCount } from '../../core/run/task-counts.ts'
import type { Connection } from '../../store/database.ts'
import { addedUp } from '../stats/store.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

const NAMES = TASK_COUNTS.join(', ')

/** What turns say about tasks, as rows of agent, kind and count. */
const COUNTS_OF = `cross join lateral jsonb_each(f.tasks) as a (agent_id, counts)
  cross join lateral jsonb_each_text(a.counts) as c (kind, count)`

/**
 * Adds up what became of tasks in the next turns that have not been added up yet. Whoever does holds the org's place, so
 * each turn is added once, whichever node it is; nothing else waits for it. Answers with how many turns it was, null when
 * the org has no place yet.
 */
export async function addUpTasks(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly limit: number; readonly now: Instant },
): Promise<number | null> {
  const sums = TASK_COUNTS.map((kind) => `coalesce(sum(c.count::bigint) filter (where c.kind = '${kind}'), 0)`)
  const more = TASK_COUNTS.map((kind) => `${kind} = task_count.${kind} + excluded.${kind}`)
  const rows = await connection.query(
    `with place as (select no from task_count_place where org_id = $1 for update),
     fresh as (select t.no, t.tasks from turn t, place p
                where t.org_id = $1 and t.no > p.no order by t.no limit $2),
     added as (
       insert into task_count (org_id, agent_id, ${NAMES}, counted_at)
       select $1, coalesce(a.agent_id, ''), ${sums.join(', ')}, $3::timestamptz
         from fresh f ${COUNTS_OF}
        group by grouping sets ((a.agent_id), ())
       having count(*) > 0
       on conflict (org_id, agent_id) do update set ${more.join(', ')}, counted_at = excluded.counted_at),
     moved as (
       update task_count_place set no = (select max(no) from fresh)
        where org_id = $1 and exists (select 1 from fresh))
     select ${addedUp.list}`,
    [asked.orgId, asked.limit, toTimestamp(asked.now)],
  )
  const { places, turns } = addedUp.only(rows)
  return places === 0 ? null : turns
}

/** Gives the org its place at the beginning of its history, unless it has one. */
export async function insertTaskCountPlace(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query('insert into task_count_place (org_id, no) values ($1, 0) on conflict (org_id) do nothing', [
    orgId,
  ])
}

/** What is counted of tasks that have not ended. */
export type OpenCount = 'queued' | 'inflight' | 'stopping'

const tasks = columns({
  /** Null: of all agents together. */
  agentId: column.text<AgentId | null>(),
  kind: column.text<TaskCount | OpenCount>(),
  count: column.bigint('count::bigint'),
})

/** So many tasks of an agent are, or were, of this kind. */
export type CountedTasks = RowOf<typeof tasks>

/** Ids of tasks begin so; among all that is pending in an org they stand together. */
const PENDING_TASKS = `pending p join run r on r.org_id = p.org_id and r.id = p.id
  where p.org_id = $1 and p.id >= 'tsk_' and p.id < 'tsk\`' and r.trigger = 'task'`

/**
 * Everything counted about the tasks of an org at one moment: what was added up, what is in turns that were not, and
 * what is pending. A kind may come several times; the counts then belong together. Of agents those that were counted
 * last, and all that have something pending.
 */
export async function loadTaskCounts(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly agents: number },
): Promise<readonly CountedTasks[]> {
  const values = TASK_COUNTS.map((kind) => `('${kind}', s.${kind})`)
  const rows = await connection.query(
    `with fresh as (
       select t.tasks from turn t
        where t.org_id = $1 and t.tasks is not null
          and t.no > coalesce((select no from task_count_place where org_id = $1), 0)),
     open as (
       select r.agent_id, case when p.state in ('queued', 'waiting') then 'queued'
                               when p.state = 'stopping' then 'stopping' else 'inflight' end as kind,
              case when p.attempt = r.first_attempt then p.started_at - r.created_at end as latency
         from ${PENDING_TASKS}),
     counted as (
       select a.agent_id, c.kind, sum(c.count::bigint) as count from fresh f ${COUNTS_OF} group by 1, 2
       union all select agent_id, kind, count(*) from open group by 1, 2
       union all select agent_id, 'dispatched', count(latency) from open group by 1
       union all select agent_id, 'dispatch_ms', coalesce(sum(greatest(extract(epoch from latency) * 1000, 0)), 0)
         from open group by 1),
     shown as (
       (select * from task_count where org_id = $1 and agent_id <> '' order by counted_at desc limit $2)
       union select * from task_count where org_id = $1 and agent_id in (select agent_id from counted union select ''))
     select ${tasks.list} from counted
     union all select null, kind, sum(count)::bigint from counted group by kind
     union all select nullif(s.agent_id, ''), v.kind, v.count
       from shown s cross join lateral (values ${values.join(', ')}) as v (kind, count)`,
    [asked.orgId, asked.agents],
  )
  return tasks.read(rows)
}
