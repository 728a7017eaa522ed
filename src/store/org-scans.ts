import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection } from './database.ts'
import { column, columns } from './table.ts'
import { toTimestamp } from './timestamp.ts'
import { newestOfOrgs, versionOf, type OrgVersion } from './turns.ts'

const orgs = columns({ orgId: column.text<OrgId>() })
const firstTurns = columns({ no: column.bigint<number | null>('min(no)') })

/** Orgs that have pending runs, by id, from the one after `after` on. Skips from org to org, however many runs each has. */
export async function loadPendingOrgs(
  connection: Connection,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly OrgId[]> {
  const rows = await connection.query(
    `with recursive found (org_id) as (
       (select org_id from pending where org_id > $1 order by org_id limit 1)
       union all
       select (select p.org_id from pending p where p.org_id > f.org_id order by p.org_id limit 1)
         from found f where f.org_id is not null)
     select ${orgs.list} from found where org_id is not null limit $2`,
    [page.after, page.limit],
  )
  return orgs.read(rows).map(({ orgId }) => orgId)
}

/** Those of the orgs that have pending runs. */
export async function loadOrgsWithPending(connection: Connection, ids: readonly OrgId[]): Promise<ReadonlySet<OrgId>> {
  const rows = await connection.query(
    `select ${orgs.of('o')} from unnest($1::text[]) as o (org_id)
      where exists (select 1 from pending p where p.org_id = o.org_id)`,
    [ids],
  )
  return new Set(orgs.read(rows).map(({ orgId }) => orgId))
}

/** The versions of some orgs, also of those without a turn. */
export async function loadVersionsOf(
  connection: Connection,
  ids: readonly OrgId[],
): Promise<ReadonlyMap<OrgId, OrgVersion>> {
  const rows = await connection.query(`select ${newestOfOrgs.list} from org_version where org_id = any($1::text[])`, [
    ids,
  ])
  const found = new Map(newestOfOrgs.read(rows).map((row) => [row.org_id, row]))
  return new Map(ids.map((id) => [id, versionOf(found.get(id))]))
}

/** The number of an org's first turn from a time on, or null when there is none. */
export async function loadFirstTurnSince(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly since: Instant },
): Promise<number | null> {
  const rows = await connection.query(
    `select ${firstTurns.list} from turn where org_id = $1 and at >= $2::timestamptz`,
    [asked.orgId, toTimestamp(asked.since)],
  )
  return firstTurns.only(rows).no
}

/** Tells other nodes something on a channel, outside of any transaction. */
export async function notifyAll(connection: Connection, channel: string, payloads: readonly string[]): Promise<void> {
  await connection.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [channel, payloads])
}
