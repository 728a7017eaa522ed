import type { OrgId } from '../domain/ids.ts'
import type { Connection } from './database.ts'
import { column, columns } from '../platform/db/table.ts'

const sizes = columns({
  bytes: column.bigint(`((select coalesce(sum(octet_length(executor::text)), 0) from agent where org_id = $1)
      + (select coalesce(sum(coalesce(payload_bytes, 0) + octet_length(input::text)), 0) from schedule
          where org_id = $1))::bigint`),
})

/** How many bytes the agents and schedules of an org have together. */
export async function measureDocument(connection: Connection, orgId: OrgId): Promise<number> {
  return sizes.only(await connection.query(`select ${sizes.list}`, [orgId])).bytes
}
