import type { AgentId, OrgId, RunId } from '../domain/ids.ts'
import type { Connection } from './database.ts'
import { column, columns } from '../platform/db/table.ts'

const positions = columns({ id: column.text<RunId>(), position: column.bigint() })

/** The places of some queued runs of agents, each among those of its agent, counted from 1 in the order of picking. */
export async function loadPositions(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentIds: readonly AgentId[]; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, number>> {
  const rows = await connection.query(
    `select ${positions.list} from (
       select r.id, row_number() over (partition by r.agent_id order by r.priority, r.created_at, r.id) as position
         from pending p join run r on r.org_id = p.org_id and r.id = p.id
        where p.org_id = $1 and p.state = 'queued' and r.agent_id = any($2::text[])) placed
      where id = any($3::text[])`,
    [wanted.orgId, wanted.agentIds, wanted.ids],
  )
  return new Map(positions.read(rows).map(({ id, position }) => [id, position]))
}
