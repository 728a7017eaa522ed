import type { AgentId, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const stored = table('heartbeat', {
  orgId: column.text<OrgId>(),
  agentId: column.text<AgentId>(),
  /** As everybody reads them, with every default filled in. */
  settings: column.json<Readonly<Record<string, unknown>>>(),
  enabled: column.boolean(),
  dueAt: column.instant<Instant | null>(),
  nextAt: column.instant<Instant | null>(),
  lastDueAt: column.instant<Instant | null>(),
  okStreak: column.int(),
  runId: column.text<RunId | null>(),
  lastSession: column.text<SessionKey | null>(),
  lastSessionAt: column.instant<Instant | null>(),
  /** Runs up to here were looked at for it. */
  lookedUntil: column.instant<Instant | null>(),
  /** Heartbeats in a row that failed or had no route. */
  failingStreak: column.int(),
  /** The alert about them while it is open. */
  alertId: column.text<string | null>(),
  version: column.int(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** A row of `heartbeat`. */
export interface HeartbeatRow extends Omit<RowOf<typeof stored>, 'lastSession' | 'lastSessionAt'> {
  /** The newest conversation outside of channels in which the agent was sent a message. */
  readonly lastSession: { readonly key: SessionKey; readonly at: Instant } | null
}

const heartbeatOf = ({ lastSession, lastSessionAt, ...row }: RowOf<typeof stored>): HeartbeatRow => ({
  ...row,
  lastSession: lastSession === null || lastSessionAt === null ? null : { key: lastSession, at: lastSessionAt },
})

/** The heartbeats of the agents among the ids that have one. */
export async function loadHeartbeats(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentIds: readonly AgentId[] },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${stored.list} from heartbeat where org_id = $1 and agent_id = any($2::text[])`,
    [wanted.orgId, wanted.agentIds],
  )
  return stored.read(rows).map(heartbeatOf)
}

/** The heartbeats of the org that are switched on. */
export async function loadEnabledHeartbeats(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly limit: number },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${stored.list} from heartbeat where org_id = $1 and enabled order by agent_id limit $2`,
    [wanted.orgId, wanted.limit],
  )
  return stored.read(rows).map(heartbeatOf)
}

/** Heartbeats whose moment has come, longest overdue first, of all orgs but some. */
export async function loadDueHeartbeats(
  connection: Connection,
  due: { readonly now: Instant; readonly limit: number; readonly except: readonly OrgId[] },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${stored.list} from heartbeat h
      where next_at <= $1::timestamptz and exists (select 1 from org o where o.id = h.org_id and o.deleted_at is null)
        and org_id <> all($3::text[])
      order by next_at limit $2`,
    [toTimestamp(due.now), due.limit, due.except],
  )
  return stored.read(rows).map(heartbeatOf)
}

const next = columns({ nextAt: column.instant() })

/** The earliest moment after this one at which anybody has to look. */
export async function loadNextHeartbeat(connection: Connection, after: Instant): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${next.list} from heartbeat where next_at > $1::timestamptz order by next_at limit 1`,
    [toTimestamp(after)],
  )
  return next.first(rows)?.nextAt ?? null
}

const PUT = stored.omit('runId', 'lastSession', 'lastSessionAt', 'lookedUntil', 'version')
const EDITED = PUT.omit('orgId', 'agentId', 'createdAt')

/** Writes what somebody has set, one version on; the first time it is made. */
export function putHeartbeat(tx: Transaction, row: HeartbeatRow): void {
  tx.send(
    `${PUT.insert} on conflict (org_id, agent_id) do update set ${EDITED.assignedFrom('excluded')},
       version = heartbeat.version + 1`,
    PUT.values(row),
  )
}

const STANDING = stored.pick(
  'agentId',
  'dueAt',
  'nextAt',
  'lastDueAt',
  'okStreak',
  'runId',
  'lastSession',
  'lastSessionAt',
  'lookedUntil',
  'failingStreak',
  'alertId',
)

/** Where heartbeats stand after they were looked at. What a person has set stays. */
export function saveHeartbeats(tx: Transaction, org: OrgId, rows: readonly HeartbeatRow[]): void {
  tx.send(
    `update heartbeat h set ${STANDING.assignedFrom('i')} from unnest(${STANDING.arrays(2)}) as i (${STANDING.names})
     where h.org_id = $1 and h.agent_id = i.agent_id`,
    [
      org,
      ...STANDING.lists(
        rows.map(({ lastSession, ...row }) => ({
          ...row,
          lastSession: lastSession?.key ?? null,
          lastSessionAt: lastSession?.at ?? null,
        })),
      ),
    ],
  )
}
