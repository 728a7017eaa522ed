import type { OrgId, RunId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row } from './database.ts'
import type { OrgPage } from './page.ts'
import { timestampOrNull } from './rows.ts'

/** A run or a schedule, as far as the tree of what woke what shows it. */
export interface LineageRow {
  readonly kind: 'run' | 'schedule'
  readonly id: string
  readonly parentRunId: string | null
  readonly agentId: string
  readonly scheduleId: string | null
  readonly name: string | null
  readonly state: string
  readonly trigger: string | null
  readonly owner: string | null
  readonly createdAt: Instant
}

const RUN = `'run' as kind, r.id, r.parent_run_id, r.agent_id, r.schedule_id, null as name,
  coalesce(r.state, (select p.state from pending p where p.org_id = r.org_id and p.id = r.id)) as state, r.trigger, r.owner,
  r.created_at`
const SCHEDULE = `'schedule' as kind, s.id, s.created_by_run as parent_run_id, s.agent_id, null as schedule_id, s.name,
  s.state, null as trigger, s.owner, s.created_at`

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
     select ${RUN} from above a join run r on r.org_id = $1 and r.id = a.id order by a.no`,
    [asked.orgId, asked.id, asked.most],
  )
  return rows.map(lineageOf)
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
       (select ${RUN} from run r where r.org_id = $1 and r.parent_run_id = $2 and ($3::text is null or r.owner = $3)
           and ($4::timestamptz is null or (r.created_at, r.id) > ($4::timestamptz, $5::text))
         order by r.created_at, r.id limit $6)
       union all
       (select ${SCHEDULE} from schedule s where s.org_id = $1 and s.created_by_run = $2
           and ($3::text is null or s.owner = $3)
           and ($4::timestamptz is null or (s.created_at, s.id) > ($4::timestamptz, $5::text))
         order by s.created_at, s.id limit $6)) below
     order by created_at, id limit $6`,
    [
      asked.orgId,
      asked.id,
      asked.owner,
      timestampOrNull(asked.after?.createdAt ?? null),
      asked.after?.id ?? null,
      asked.limit,
    ],
  )
  return rows.map(lineageOf)
}

const lineageOf = (row: Row): LineageRow => ({
  kind: row['kind'] as LineageRow['kind'],
  id: row['id'] as string,
  parentRunId: row['parent_run_id'] as string | null,
  agentId: row['agent_id'] as string,
  scheduleId: row['schedule_id'] as string | null,
  name: row['name'] as string | null,
  state: row['state'] as string,
  trigger: row['trigger'] as string | null,
  owner: row['owner'] as string | null,
  createdAt: row['created_at'] as Instant,
})
