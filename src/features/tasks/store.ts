import { ACCEPTED } from '../../domain/run/run.ts'
import type { AgentId, OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { TASK_COUNTS, type TaskCount } from '../../domain/run/ended-counts.ts'
import { type RunRecord, runRecordColumns } from '../runs/record-store.ts'
import { countPassColumns } from '../stats/store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { withValues, column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

const { definitions } = runRecordColumns
const taskRunColumns = columns({
  id: definitions.id,
  agentId: definitions.agentId,
  priority: definitions.priority,
  createdAt: definitions.createdAt,
  deadline: definitions.deadline,
  payload: definitions.payload,
  decision: definitions.decision,
  state: definitions.state,
  startedAt: definitions.startedAt,
  firstStartedAt: definitions.firstStartedAt,
  finishedAt: definitions.finishedAt,
  why: definitions.why,
  errorCode: definitions.errorCode,
  errorMessage: definitions.errorMessage,
  output: definitions.output,
})

/** The fields of a run that a task view needs, less than half of them. */
export type TaskRecord = Pick<RunRecord, keyof RowOf<typeof taskRunColumns>>

/** The task, or undefined. Clients poll it, so only the columns of the view are read. */
export async function loadTask(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: RunId },
): Promise<TaskRecord | undefined> {
  const rows = await connection.query(
    `select ${taskRunColumns.list}
       from run r left join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.id = $2 and r.trigger = 'task'`,
    [query.orgId, query.id],
  )
  const task = taskRunColumns.first(rows)
  return task === undefined ? undefined : withValues(task, { decision: task.decision ?? ACCEPTED })
}

const TASK_COUNT_COLUMNS = TASK_COUNTS.join(', ')

/** Expands the task counts of transactions into rows of agent, kind and count. */
const TASK_COUNTS_JOIN = `cross join lateral jsonb_each(f.tasks) as a (agent_id, counts)
  cross join lateral jsonb_each_text(a.counts) as c (kind, count)`

/**
 * Counts how tasks ended in the next transactions that are not counted yet. The statement locks the counting position
 * of the org, so that each transaction is counted once across all nodes; nothing else waits for this lock. Returns the
 * number of transactions. Null: the org has no position yet.
 */
export async function addUpTransactionTasks(
  connection: Connection,
  options: { readonly orgId: OrgId; readonly limit: number; readonly now: Instant },
): Promise<number | null> {
  const sums = TASK_COUNTS.map((kind) => `coalesce(sum(c.count::bigint) filter (where c.kind = '${kind}'), 0)`)
  const more = TASK_COUNTS.map((kind) => `${kind} = task_count.${kind} + excluded.${kind}`)
  const rows = await connection.query(
    `with place as (select no from task_count_place where org_id = $1 for update),
     fresh as (select t.no, t.tasks from turn t, place p
                where t.org_id = $1 and t.no > p.no order by t.no limit $2),
     added as (
       insert into task_count (org_id, agent_id, ${TASK_COUNT_COLUMNS}, counted_at)
       select $1, coalesce(a.agent_id, ''), ${sums.join(', ')}, $3::timestamptz
         from fresh f ${TASK_COUNTS_JOIN}
        group by grouping sets ((a.agent_id), ())
       having count(*) > 0
       on conflict (org_id, agent_id) do update set ${more.join(', ')}, counted_at = excluded.counted_at),
     moved as (
       update task_count_place set no = (select max(no) from fresh)
        where org_id = $1 and exists (select 1 from fresh))
     select ${countPassColumns.list}`,
    [options.orgId, options.limit, toTimestamp(options.now)],
  )
  const { places: positions, turns: transactions } = countPassColumns.only(rows)
  return positions === 0 ? null : transactions
}

/** Inserts the counting position of an org, at the start of its history, if it has none. */
export async function insertTaskCountPosition(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query('insert into task_count_place (org_id, no) values ($1, 0) on conflict (org_id) do nothing', [
    orgId,
  ])
}

/** Kinds of counts of pending tasks. */
type PendingTaskCount = 'queued' | 'inflight' | 'stopping'

const taskTotals = columns({
  /** Null: the sum over all agents. */
  agentId: column.text<AgentId | null>(),
  kind: column.text<TaskCount | PendingTaskCount>(),
  count: column.bigint('count::bigint'),
})

/** A number of tasks of an agent and kind. */
export type CountedTasks = RowOf<typeof taskTotals>

/** The pending tasks of an org. The common prefix of task ids makes this an index range. */
const PENDING_TASKS = `pending p join run r on r.org_id = p.org_id and r.id = p.id
  where p.org_id = $1 and p.id >= 'tsk_' and p.id < 'tsk\`' and r.trigger = 'task'`

/**
 * All task counts of an org at one time: the stored counts, those of transactions that are not counted yet, and pending
 * tasks. Rows of the same agent and kind must be added. Includes the most recently counted agents and all agents with
 * pending tasks.
 */
export async function loadTaskCounts(
  connection: Connection,
  options: { readonly orgId: OrgId; readonly agents: number },
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
       select a.agent_id, c.kind, sum(c.count::bigint) as count from fresh f ${TASK_COUNTS_JOIN} group by 1, 2
       union all select agent_id, kind, count(*) from open group by 1, 2
       union all select agent_id, 'queued', sum(count) from backlog_line where org_id = $1 and kind = 'task' group by 1
       union all select agent_id, 'dispatched', count(latency) from open group by 1
       union all select agent_id, 'dispatch_ms', coalesce(sum(greatest(extract(epoch from latency) * 1000, 0)), 0)
         from open group by 1),
     shown as (
       (select * from task_count where org_id = $1 and agent_id <> '' order by counted_at desc limit $2)
       union select * from task_count where org_id = $1 and agent_id in (select agent_id from counted union select ''))
     select ${taskTotals.list} from counted
     union all select null, kind, sum(count)::bigint from counted group by kind
     union all select nullif(s.agent_id, ''), v.kind, v.count
       from shown s cross join lateral (values ${values.join(', ')}) as v (kind, count)`,
    [options.orgId, options.agents],
  )
  return taskTotals.read(rows)
}
