import type { OrgId, RunId, ScheduleId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection } from './database.ts'
import { timestampOrNull } from './rows.ts'
import { column, columns, type RowOf } from './table.ts'

const ended = columns({
  id: column.text(),
  status: column.text('state'),
  reason: column.text<string | null>("coalesce(why ->> 'reason', 'completed')"),
  errorCode: column.text<string | null>(),
  output: column.json(),
  summary: column.text<string | null>(),
  createdAt: column.instant(),
  finishedAt: column.instant(),
})

/** A run that has ended, as far as a probe can look at it. */
export type EndedRun = RowOf<typeof ended>

/** The newest run of a schedule that was executed and has ended; those that a probe has saved say nothing. */
export async function loadLastExecuted(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly without: RunId | null },
): Promise<EndedRun | null> {
  const rows = await connection.query(
    `select ${ended.list} from run
      where org_id = $1 and schedule_id = $2 and state in ('success', 'failed', 'timeout', 'cancelled')
        and (why is null or why ->> 'reason' <> 'probe_no') and ($3::text is null or id <> $3)
      order by created_at desc, id desc limit 1`,
    [asked.orgId, asked.scheduleId, asked.without],
  )
  return ended.first(rows) ?? null
}

const sights = columns({
  waiting: column.bigint(`(select count(*) from run r join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.session_key = $2 and ($4::text is null or r.id <> $4))`),
  messages: column.bigint('count(*)'),
  lastMessageAt: column.instant<Instant | null>('max(m.created_at)'),
})

/** A session, as far as a probe can look at it. */
export type SessionSight = RowOf<typeof sights>

/** What waits in a session, and how many messages came since a moment; null: ever. */
export async function loadSessionSight(
  connection: Connection,
  asked: {
    readonly orgId: OrgId
    readonly key: SessionKey
    readonly since: Instant | null
    readonly without: RunId | null
  },
): Promise<SessionSight> {
  const rows = await connection.query(
    `select ${sights.list}
       from run m where m.org_id = $1 and m.session_key = $2 and m.trigger = 'message'
        and ($3::timestamptz is null or m.created_at > $3::timestamptz)`,
    [asked.orgId, asked.key, timestampOrNull(asked.since), asked.without],
  )
  return sights.only(rows)
}
