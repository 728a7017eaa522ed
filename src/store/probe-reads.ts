import type { OrgId, RunId, ScheduleId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection } from './database.ts'
import { timestampOrNull } from './rows.ts'

/** A run that has ended, as far as a probe can look at it. */
export interface EndedRun {
  readonly id: string
  readonly status: string
  readonly reason: string | null
  readonly errorCode: string | null
  readonly output: unknown
  readonly summary: string | null
  readonly createdAt: Instant
  readonly finishedAt: Instant
}

/** The newest run of a schedule that was executed and has ended; those that a probe has saved say nothing. */
export async function loadLastExecuted(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly without: RunId | null },
): Promise<EndedRun | null> {
  const [row] = await connection.query(
    `select id, state, why ->> 'reason' as reason, error_code, output, summary, created_at, finished_at from run
      where org_id = $1 and schedule_id = $2 and state in ('success', 'failed', 'timeout', 'cancelled')
        and (why is null or why ->> 'reason' <> 'probe_no') and ($3::text is null or id <> $3)
      order by created_at desc, id desc limit 1`,
    [asked.orgId, asked.scheduleId, asked.without],
  )
  if (row === undefined) return null
  return {
    id: row['id'] as string,
    status: row['state'] as string,
    reason: (row['reason'] as string | null) ?? 'completed',
    errorCode: row['error_code'] as string | null,
    output: row['output'],
    summary: row['summary'] as string | null,
    createdAt: row['created_at'] as Instant,
    finishedAt: row['finished_at'] as Instant,
  }
}

/** A session, as far as a probe can look at it. */
export interface SessionSight {
  readonly waiting: number
  readonly messages: number
  readonly lastMessageAt: Instant | null
}

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
  const [row] = await connection.query(
    `select (select count(*) from run r join pending p on p.org_id = r.org_id and p.id = r.id
              where r.org_id = $1 and r.session_key = $2 and ($4::text is null or r.id <> $4)) as waiting,
            count(*) as messages, max(m.created_at) as last_at
       from run m where m.org_id = $1 and m.session_key = $2 and m.trigger = 'message'
        and ($3::timestamptz is null or m.created_at > $3::timestamptz)`,
    [asked.orgId, asked.key, timestampOrNull(asked.since), asked.without],
  )
  return {
    waiting: (row?.['waiting'] as number | undefined) ?? 0,
    messages: (row?.['messages'] as number | undefined) ?? 0,
    lastMessageAt: (row?.['last_at'] as Instant | null | undefined) ?? null,
  }
}
