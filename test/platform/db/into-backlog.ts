import type { OrgId } from '../../../src/domain/ids.ts'
import type { Connection } from '../../../src/platform/db/database.ts'
import { ORG } from './records.ts'

/**
 * Moves queued runs of `pending` to the backlog, as if they had been put there when they were submitted; returns how
 * many. `which` is a condition on the columns of `run`.
 */
export async function intoBacklog(connection: Connection, which: string, orgId: OrgId = ORG): Promise<number> {
  const moved = await connection.query(
    `with moved as (
       delete from pending p using run r
        where r.org_id = p.org_id and r.id = p.id and p.org_id = $1 and p.state = 'queued' and r.schedule_id is null
          and exists (select from run q where q.org_id = r.org_id and q.id = r.id and ${which.replaceAll(/\bid\b/g, 'q.id')})
       returning r.*, coalesce(p.seq, 1) as seq)
     insert into backlog (org_id, id, agent_id, lane, executor_key, kind, session_key, seq, priority, created_at, behind, wake_at)
     select org_id, id, agent_id, lane, executor_key, case when trigger = 'task' then 'task' else 'ordinary' end, session_key,
            seq, priority, created_at,
            session_key is not null and row_number() over (partition by session_key order by seq, id) > 1, deadline
       from moved returning id`,
    [orgId],
  )
  await connection.query(
    `insert into backlog_line (org_id, agent_id, lane, executor_key, kind, count, waiting, from_priority, from_created_at, from_id)
     select b.org_id, b.agent_id, b.lane, b.executor_key, b.kind, count(*), count(*) filter (where not behind),
            case when bool_or(not behind) then min(priority) filter (where not behind) end,
            min(created_at) filter (where not behind), case when bool_or(not behind) then '' end
       from backlog b where org_id = $1 group by 1, 2, 3, 4, 5`,
    [orgId],
  )
  await connection.query(
    `update session s set behind = b.count, behind_from = b.seq
       from (select session_key, count(*), min(seq) as seq from backlog where org_id = $1 group by 1) b
      where s.org_id = $1 and s.key = b.session_key`,
    [orgId],
  )
  return moved.length
}
