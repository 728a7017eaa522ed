import type { Exchange } from '../executors/chat/conversation.ts'
import type { OrgId, RunId, SessionKey } from '../domain/ids.ts'
import type { Trigger } from '../domain/run/run.ts'
import { runOfSession } from '../core/session/run-session.ts'
import type { Connection } from './database.ts'
import { inRunSession } from './run-row.ts'
import { column, columns, type RowOf } from '../platform/db/table.ts'

const hooks = columns({
  generation: column.int(),
  sender: column.text<string | null>(),
  retryOf: column.text<RunId | null>(),
})

/** What the conversation of a run hangs on. */
export type RunInConversation = RowOf<typeof hooks>

/** The run, as far as its conversation is concerned; undefined: it is gone. */
export async function loadRunInConversation(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: RunId },
): Promise<RunInConversation | undefined> {
  const rows = await connection.query(`select ${hooks.list} from run where org_id = $1 and id = $2`, [
    wanted.orgId,
    wanted.id,
  ])
  return hooks.first(rows)
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

const added = columns({
  runId: column.text<RunId>(),
  reply: column.text('content'),
  startedAt: column.instant('finished_at'),
})

/** News that heartbeats have added to a session since it was last reset, newest first, as exchanges that began there. */
export async function loadAddedExchanges(
  connection: Connection,
  choice: Pick<ConversationChoice, 'orgId' | 'sessionKey' | 'generation' | 'limit'>,
): Promise<readonly Exchange[]> {
  const rows = await connection.query(
    `select ${added.list} from heartbeat_log
      where org_id = $1 and session_key = $2 and finished_at > coalesce(
        (select max(created_at) from run where org_id = $1 and session_key = $2 and generation < $3), '-infinity')
      order by finished_at desc, run_id desc limit $4`,
    [choice.orgId, choice.sessionKey, choice.generation, choice.limit],
  )
  return added.read(rows).map((row) => ({
    ...row,
    trigger: 'heartbeat',
    sender: null,
    retryOf: null,
    // Servers of models want each answer to follow a message.
    payload: { text: '[heartbeat]' },
  }))
}

const exchanges = columns({
  runId: column.text<RunId>('id'),
  trigger: column.text<Trigger>(),
  sender: column.text<string | null>(),
  payload: column.json(),
  reply: column.json('output'),
  retryOf: column.text<RunId | null>(),
  startedAt: column.instant(),
})

/**
 * What was said in a session and answered, newest first: runs that succeeded, and runs that were stopped while they were
 * being answered. How large they are is added up where they are, so that a long conversation is not read to be thrown away.
 */
export async function loadExchanges(connection: Connection, choice: ConversationChoice): Promise<readonly Exchange[]> {
  const rows = await connection.query(
    `select ${exchanges.list} from (
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
  return exchanges.read(rows)
}
