import type { OrgId, RunId } from '../core/ids.ts'
import type { Connection } from './database.ts'
import type { OrgPage } from './page.ts'
import { column, columns, type RowOf, timestampOrNull } from './table.ts'

const runs = columns({
  kind: column.text<'run' | 'schedule'>("'run'"),
  id: column.text('r.id'),
  parentRunId: column.text<string | null>('r.parent_run_id'),
  agentId: column.text('r.agent_id'),
  scheduleId: column.text<string | null>('r.schedule_id'),
  name: column.text<string | null>('null::text'),
  state: column.text('coalesce(r.state, (select p.state from pending p where p.org_id = r.org_id and p.id = r.id))'),
  trigger: column.text<string | null>('r.trigger'),
  owner: column.text<string | null>('r.owner'),
  createdAt: column.instant('r.created_at'),
})

const schedules = columns({
  kind: column.text("'schedule'"),
  id: column.text('s.id'),
  parentRunId: column.text('s.created_by_run'),
  agentId: column.text('s.agent_id'),
  scheduleId: column.text('null::text'),
  name: column.text('s.name'),
  state: column.text('s.state'),
  trigger: column.text('null::text'),
  owner: column.text('s.owner'),
  createdAt: column.instant('s.created_at'),
})

/** A run or a schedule, as far as the tree of what woke what shows it. */
export type LineageRow = RowOf<typeof runs>

/** The run and those above it that are still on record, the run itself first; no more than so many. */
export async function loadRunsAbove(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: RunId; readonly most: number },
): Promise<readonly LineageRow[]> {
  const rows = await connection.query(
    `with recursive above (no, id, parent_run_id) as (
       select 0, id, parent_run_id from run where org_id = $1 and id = $2
       union all
       select a.no + 1, r.id, r.parent_run_id from above a join run r on r.org_id = $1 and r.id = a.parent_run_id
        where a.no < $3)
     select ${runs.list} from above a join run r on r.org_id = $1 and r.id = a.id order by a.no`,
    [asked.orgId, asked.id, asked.most],
  )
  return runs.read(rows)
}

/** What a run made and woke itself, oldest first. */
export async function loadBelow(
  connection: Connection,
  asked: OrgPage & {
    readonly id: RunId
    /** Whose they must be; null: anybody's. */
    readonly owner: string | null
  },
): Promise<readonly LineageRow[]> {
  const rows = await connection.query(
    `select * from (
       (select ${runs.list} from run r where r.org_id = $1 and r.parent_run_id = $2 and ($3::text is null or r.owner = $3)
           and ($4::timestamptz is null or (r.created_at, r.id) > ($4::timestamptz, $5::text))
         order by r.created_at, r.id limit $6)
       union all
       (select ${schedules.list} from schedule s where s.org_id = $1 and s.created_by_run = $2
           and ($3::text is null or s.owner = $3)
           and ($4::timestamptz is null or (s.created_at, s.id) > ($4::timestamptz, $5::text))
         order by s.created_at, s.id limit $6)) below
     order by "createdAt", id limit $6`,
    [
      asked.orgId,
      asked.id,
      asked.owner,
      timestampOrNull(asked.after?.createdAt ?? null),
      asked.after?.id ?? null,
      asked.limit,
    ],
  )
  return runs.read(rows)
}
