import { agentId, orgId, type AgentId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row } from './database.ts'
import { brandOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `org`. A limit that is null does not limit. */
export interface OrgRow {
  readonly id: OrgId
  readonly name: string
  readonly defaultTimezone: string
  readonly defaultAgentId: AgentId | null
  readonly maxConcurrent: number | null
  readonly maxSchedules: number | null
  readonly runsPerDay: number | null
  readonly createdAt: Instant
}

/** What an org is made of when it is made by being used. */
export interface NewOrg {
  readonly id: OrgId
  readonly name: string
  readonly defaultTimezone: string
  readonly defaultAgentId: AgentId | null
  readonly at: Instant
}

const COLUMNS = `id, name, default_timezone, default_agent_id, max_concurrent, max_schedules, runs_per_day, created_at`

/** Makes an org unless there is one of this id, which then stays as it is. True when it was made. */
export async function ensureOrg(connection: Connection, org: NewOrg): Promise<boolean> {
  const rows = await connection.query(
    `insert into org (id, name, default_timezone, default_agent_id, created_at)
     values ($1, $2, $3, $4, $5::timestamptz)
     on conflict (id) do nothing returning id`,
    [org.id, org.name, org.defaultTimezone, org.defaultAgentId, toTimestamp(org.at)],
  )
  return rows.length > 0
}

/** The org, or undefined. */
export async function loadOrg(connection: Connection, id: OrgId): Promise<OrgRow | undefined> {
  const [row] = await connection.query(`select ${COLUMNS} from org where id = $1`, [id])
  return row === undefined ? undefined : orgOf(row)
}

/** All orgs of the deployment, by id. */
export async function listOrgs(connection: Connection): Promise<readonly OrgRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from org order by id`, [])
  return rows.map(orgOf)
}

const orgOf = (row: Row): OrgRow => ({
  id: orgId(row['id'] as string),
  name: row['name'] as string,
  defaultTimezone: row['default_timezone'] as string,
  defaultAgentId: brandOrNull(row['default_agent_id'], agentId),
  maxConcurrent: row['max_concurrent'] as number | null,
  maxSchedules: row['max_schedules'] as number | null,
  runsPerDay: row['runs_per_day'] as number | null,
  createdAt: row['created_at'] as Instant,
})

/** Says whom work wakes that names nobody. */
export async function setDefaultAgent(
  connection: Connection,
  choice: { readonly orgId: OrgId; readonly agentId: AgentId },
): Promise<void> {
  await connection.query('update org set default_agent_id = $2 where id = $1', [choice.orgId, choice.agentId])
}
