import type { AgentId, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const heartbeatRowColumns = table('heartbeat', {
  orgId: column.text<OrgId>(),
  agentId: column.text<AgentId>(),
  /** In the form of the API, with every default filled in. */
  settings: column.json<Readonly<Record<string, unknown>>>(),
  enabled: column.boolean(),
  dueAt: column.instant<Instant | null>(),
  nextAt: column.instant<Instant | null>(),
  lastDueAt: column.instant<Instant | null>(),
  okStreak: column.int(),
  runId: column.text<RunId | null>(),
  lastSession: column.text<SessionKey | null>(),
  lastSessionAt: column.instant<Instant | null>(),
  /** The search for the last session has read runs up to this time. */
  lookedUntil: column.instant<Instant | null>(),
  /** Consecutive heartbeats that failed or had no route. */
  failingStreak: column.int(),
  /** The open alert about them. */
  alertId: column.text<string | null>(),
  version: column.int(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** A row of `heartbeat`. */
export interface HeartbeatRow extends Omit<RowOf<typeof heartbeatRowColumns>, 'lastSession' | 'lastSessionAt'> {
  /** The newest session outside of channels in which the agent received a message. */
  readonly lastSession: { readonly key: SessionKey; readonly at: Instant } | null
}

const heartbeatOf = ({ lastSession, lastSessionAt, ...row }: RowOf<typeof heartbeatRowColumns>): HeartbeatRow => ({
  ...row,
  lastSession: lastSession === null || lastSessionAt === null ? null : { key: lastSession, at: lastSessionAt },
})

/** Loads the heartbeats of some agents; agents without one are left out. */
export async function loadHeartbeats(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly agentIds: readonly AgentId[] },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${heartbeatRowColumns.list} from heartbeat where org_id = $1 and agent_id = any($2::text[])`,
    [filter.orgId, filter.agentIds],
  )
  return heartbeatRowColumns.read(rows).map(heartbeatOf)
}

/** Loads the enabled heartbeats of an org. */
export async function loadEnabledHeartbeats(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly limit: number },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${heartbeatRowColumns.list} from heartbeat where org_id = $1 and enabled order by agent_id limit $2`,
    [filter.orgId, filter.limit],
  )
  return heartbeatRowColumns.read(rows).map(heartbeatOf)
}

/** Loads due heartbeats, longest overdue first, without those of the orgs in `except`. */
export async function loadDueHeartbeats(
  connection: Connection,
  due: { readonly now: Instant; readonly limit: number; readonly except: readonly OrgId[] },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${heartbeatRowColumns.list} from heartbeat h
      where next_at <= $1::timestamptz and exists (select 1 from org o where o.id = h.org_id and o.deleted_at is null)
        and org_id <> all($3::text[])
      order by next_at limit $2`,
    [toTimestamp(due.now), due.limit, due.except],
  )
  return heartbeatRowColumns.read(rows).map(heartbeatOf)
}

const nextColumns = columns({ nextAt: column.instant() })

/** Loads the earliest time after `after` at which a heartbeat is due. */
export async function loadNextHeartbeat(connection: Connection, after: Instant): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${nextColumns.list} from heartbeat where next_at > $1::timestamptz order by next_at limit 1`,
    [toTimestamp(after)],
  )
  return nextColumns.first(rows)?.nextAt ?? null
}

const WRITTEN_COLUMNS = heartbeatRowColumns.omit('runId', 'lastSession', 'lastSessionAt', 'lookedUntil', 'version')
const EDITED = WRITTEN_COLUMNS.omit('orgId', 'agentId', 'createdAt')

/** Creates a heartbeat, or updates its settings and increments its version. */
export function upsertHeartbeat(tx: Transaction, row: HeartbeatRow): void {
  tx.send(
    `${WRITTEN_COLUMNS.insert} on conflict (org_id, agent_id) do update set ${EDITED.assignedFrom('excluded')},
       version = heartbeat.version + 1`,
    WRITTEN_COLUMNS.values(row),
  )
}

const PROGRESS_COLUMNS = heartbeatRowColumns.pick(
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

/** Writes the progress of heartbeats, without their settings. */
export function saveHeartbeatProgress(tx: Transaction, org: OrgId, rows: readonly HeartbeatRow[]): void {
  tx.send(
    `update heartbeat h set ${PROGRESS_COLUMNS.assignedFrom('i')} from unnest(${PROGRESS_COLUMNS.arrays(2)}) as i (${PROGRESS_COLUMNS.names})
     where h.org_id = $1 and h.agent_id = i.agent_id`,
    [
      org,
      ...PROGRESS_COLUMNS.lists(
        rows.map(({ lastSession, ...row }) => ({
          ...row,
          lastSession: lastSession?.key ?? null,
          lastSessionAt: lastSession?.at ?? null,
        })),
      ),
    ],
  )
}
