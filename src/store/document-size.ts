import type { OrgId } from '../core/ids.ts'
import type { Connection } from './database.ts'

/** How many bytes the agents and schedules of an org have together. */
export async function measureDocument(connection: Connection, orgId: OrgId): Promise<number> {
  const [row] = await connection.query(
    `select (select coalesce(sum(octet_length(executor::text)), 0) from agent where org_id = $1)
          + (select coalesce(sum(coalesce(payload_bytes, 0) + octet_length(input::text)), 0) from schedule
              where org_id = $1) as bytes`,
    [orgId],
  )
  return Number(row?.['bytes'] ?? 0)
}
