import type { Exchange } from '../core/chat/conversation.ts'
import { runId, type OrgId, type RunId, type SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Trigger } from '../core/run/run.ts'
import { runOfSession } from '../core/session/run-session.ts'
import type { Connection } from './database.ts'
import { brandOrNull } from './rows.ts'
import { inRunSession } from './run-columns.ts'

/** What the conversation of a run hangs on. */
export interface RunInConversation {
  readonly generation: number
  readonly sender: string | null
  readonly retryOf: RunId | null
}

/** The run, as far as its conversation is concerned; undefined: it is gone. */
export async function loadRunInConversation(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: RunId },
): Promise<RunInConversation | undefined> {
  const [row] = await connection.query('select generation, sender, retry_of from run where org_id = $1 and id = $2', [
    wanted.orgId,
    wanted.id,
  ])
  if (row === undefined) return undefined
  const [generation, sender] = [row['generation'] as number, row['sender'] as string | null]
  return { generation, sender, retryOf: brandOrNull(row['retry_of'], runId) }
}

/** Which exchanges of a session: of one generation, without one run, the newest ones up to so many rows and bytes. */
export interface ConversationChoice {
  readonly orgId: OrgId
  readonly sessionKey: SessionKey
  readonly generation: number
  readonly without: RunId
  readonly limit: number
  readonly mostBytes: number
}

const inSession = (key: SessionKey): string =>
  runOfSession(key) === null ? 'session_key = $2' : inRunSession('', '$2::text')

/** News that heartbeats have added to a session since it was last reset, newest first, as exchanges that began there. */
export async function loadAddedExchanges(
  connection: Connection,
  choice: Pick<ConversationChoice, 'orgId' | 'sessionKey' | 'generation' | 'limit'>,
): Promise<readonly Exchange[]> {
  const rows = await connection.query(
    `select run_id, content, finished_at from heartbeat_log
      where org_id = $1 and session_key = $2 and finished_at > coalesce(
        (select max(created_at) from run where org_id = $1 and session_key = $2 and generation < $3), '-infinity')
      order by finished_at desc, run_id desc limit $4`,
    [choice.orgId, choice.sessionKey, choice.generation, choice.limit],
  )
  return rows.map((row) => ({
    ...{ runId: runId(row['run_id'] as string), trigger: 'heartbeat', sender: null, retryOf: null },
    // Servers of models want each answer to follow a message.
    payload: { text: '[heartbeat]' },
    reply: row['content'],
    startedAt: row['finished_at'] as Instant,
  }))
}

/**
 * What was said in a session and answered, newest first: runs that succeeded, and runs that were stopped while they were
 * being answered. How large they are is added up where they are, so that a long conversation is not read to be thrown away.
 */
export async function loadExchanges(connection: Connection, choice: ConversationChoice): Promise<readonly Exchange[]> {
  const rows = await connection.query(
    `select id, trigger, sender, payload, output, retry_of, started_at from (
       select r.*, sum(octet_length(coalesce(r.payload, 'null')::text) + octet_length(coalesce(r.output, 'null')::text))
                     over (order by r.created_at desc, r.id desc) as bytes
         from (select id, trigger, sender, payload, output, retry_of, started_at, created_at from run
                where org_id = $1 and ${inSession(choice.sessionKey)} and generation = $3 and id <> $4
                  and state in ('success', 'cancelled') and started_at is not null
                  and (why is null or why ->> 'reason' <> 'probe_no')
                order by created_at desc, id desc limit $5) r) sized
      where bytes <= $6
      order by created_at desc, id desc`,
    [choice.orgId, choice.sessionKey, choice.generation, choice.without, choice.limit, choice.mostBytes],
  )
  return rows.map((row) => ({
    runId: runId(row['id'] as string),
    trigger: row['trigger'] as Trigger,
    sender: row['sender'] as string | null,
    payload: row['payload'],
    reply: row['output'],
    retryOf: brandOrNull(row['retry_of'], runId),
    startedAt: row['started_at'] as Instant,
  }))
}
