import type { Restrictions, Lineage } from '../../domain/access/restrictions.ts'
import type { AgentId, AttemptId, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { EditedPart } from '../../domain/run/run.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const attemptColumns = table('attempt', {
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  number: column.int(),
  id: column.text<AttemptId>(),
  nodeId: column.text<string | null>(),
  startedAt: column.instant(),
  finishedAt: column.instant(),
  status: column.text<'failed' | 'timeout'>(),
  errorCode: column.text<ErrorCode | null>(),
  errorMessage: column.text<string | null>(),
  agentErrorCode: column.text<string | null>(),
})

/** A row of `attempt`: an attempt that was followed by another one. The last attempt is stored in the run itself. */
export interface AttemptRow extends Omit<RowOf<typeof attemptColumns>, 'agentErrorCode'> {
  /** Omitted or null: the runtime gave no error code of its own. */
  readonly agentErrorCode?: string | null
}

/** Stores attempts that will be retried. */
export function insertAttempts(tx: Transaction, rows: readonly AttemptRow[]): void {
  tx.send(
    attemptColumns.insertMany,
    attemptColumns.lists(rows.map((row) => ({ ...row, agentErrorCode: row.agentErrorCode ?? null }))),
  )
}

/** Loads the attempts of a run in order, without its last one. */
export async function loadAttempts(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<readonly AttemptRow[]> {
  const rows = await connection.query(
    `select ${attemptColumns.list} from attempt where org_id = $1 and run_id = $2 order by number`,
    [filter.orgId, filter.runId],
  )
  return attemptColumns.read(rows)
}

const attemptRunColumns = columns({
  agentId: column.text<AgentId>('r.agent_id'),
  sessionKey: column.text<SessionKey | null>('r.session_key'),
  scheduleId: column.text<ScheduleId | null>('r.schedule_id'),
  lineage: column.json<Lineage | null>('r.lineage'),
  parentRunId: column.text<string | null>('r.parent_run_id'),
  /** The current attempt and its state; null: the run has ended. */
  attemptId: column.text<string | null>('p.attempt_id'),
  state: column.text<string | null>('p.state'),
  /** The restrictions of its agent for self-service; null: the agent has no self-service, or was deleted. */
  selfService: column.json<Restrictions | null>('a.self_service'),
})

/** The fields of a run that authenticate the key of one of its attempts. */
export type AttemptRun = RowOf<typeof attemptRunColumns>

/** Loads the run of an attempt with its agent; undefined: the run or its org was deleted. */
export async function loadAttemptRun(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<AttemptRun | undefined> {
  const rows = await connection.query(
    `select ${attemptRunColumns.list}
       from run r join org o on o.id = r.org_id
       left join pending p on p.org_id = r.org_id and p.id = r.id
       left join agent a on a.org_id = r.org_id and a.id = r.agent_id
      where r.org_id = $1 and r.id = $2 and o.deleted_at is null`,
    [query.orgId, query.runId],
  )
  return attemptRunColumns.first(rows)
}

const callbackColumns = table('callback', {
  tokenHash: column.bytes(),
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  attemptId: column.text<AttemptId>(),
  createdAt: column.instant(),
  /** Work in the background that has to be fetched; null: the result is sent to the token. */
  work: column.json<BackgroundWork | null>(),
  /** When the work is fetched next; null: there is nothing left to fetch. */
  pollAt: column.instant<Instant | null>(),
})

/** Work that a service does in the background: the executor, and what it needs to fetch the result. */
export interface BackgroundWork {
  readonly executor: string
  readonly reference: Readonly<Record<string, unknown>>
}

/**
 * A row of `callback`: the hash of a token and its attempt. It is kept after the attempt has ended, to tell a repeated
 * report from a wrong token, until retention deletes it.
 */
export type CallbackRow = RowOf<typeof callbackColumns>

/** Stores callback tokens. */
export function insertCallbacks(tx: Transaction, rows: readonly CallbackRow[]): void {
  tx.send(callbackColumns.insertMany, callbackColumns.lists(rows))
}

/** Loads the attempt of a token by its hash, in any org: the token alone authenticates a report. */
export async function loadCallback(connection: Connection, tokenHash: Uint8Array): Promise<CallbackRow | undefined> {
  const rows = await connection.query(`select ${callbackColumns.list} from callback where token_hash = $1`, [tokenHash])
  return callbackColumns.first(rows)
}

/** A row of `callback` whose work has to be fetched. */
export interface PolledWork extends CallbackRow {
  readonly work: BackgroundWork
}

/** Claims work that is due: until the lease ends, no other node fetches it. */
export async function claimPolls(
  connection: Connection,
  { now, until, limit }: { readonly now: Instant; readonly until: Instant; readonly limit: number },
): Promise<readonly PolledWork[]> {
  const rows = await connection.query(
    `with due as (
       select token_hash from callback where poll_at <= $1::timestamptz
        order by poll_at limit $3 for update skip locked)
     update callback set poll_at = $2::timestamptz from due where callback.token_hash = due.token_hash
     returning ${callbackColumns.of('callback')}`,
    [toTimestamp(now), toTimestamp(until), limit],
  )
  return callbackColumns.read(rows).flatMap((row) => (row.work === null ? [] : [{ ...row, work: row.work }]))
}

/** Sets when work is fetched next; null: never again. */
export async function schedulePoll(
  connection: Connection,
  { tokenHash, pollAt }: Pick<CallbackRow, 'tokenHash' | 'pollAt'>,
): Promise<void> {
  await connection.query('update callback set poll_at = $2::timestamptz where token_hash = $1', [
    tokenHash,
    pollAt === null ? null : toTimestamp(pollAt),
  ])
}

/** Fetches the work of these runs now, because they have ended otherwise. */
export async function hastenPolls(connection: Connection, now: Instant, runIds: readonly RunId[]): Promise<void> {
  await connection.query(
    'update callback set poll_at = $1::timestamptz where poll_at is not null and run_id = any($2::text[])',
    [toTimestamp(now), runIds],
  )
}

/** When the next work is due; null: there is none. */
export async function nextPoll(connection: Connection): Promise<Instant | null> {
  const rows = await connection.query(`select ${nextColumns.list} from callback where poll_at is not null`)
  return nextColumns.first(rows)?.at ?? null
}

const nextColumns = columns({ at: column.instant<Instant | null>('min(poll_at)') })

/** How many runs of a session are searched for one that reported a session of its runtime. */
const MAX_RUNS_SEARCHED = 100

/** The session that the runtime of an agent reported in the latest run of a session, since its last reset; null: none. */
export async function loadReportedSession(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentId: AgentId; readonly sessionKey: SessionKey },
): Promise<string | null> {
  const rows = await connection.query(
    `with latest as (
       select r.agent_id, r.created_at, r.id, r.reported ->> 'session_id' as reported from run r
         join session s on s.org_id = r.org_id and s.key = r.session_key and s.generation = r.generation
        where r.org_id = $1 and r.session_key = $2
        order by r.created_at desc, r.id desc limit ${MAX_RUNS_SEARCHED})
     select ${reportedColumns.list} from latest
      where agent_id = $3 and reported is not null order by created_at desc, id desc limit 1`,
    [wanted.orgId, wanted.sessionKey, wanted.agentId],
  )
  return reportedColumns.first(rows)?.reported ?? null
}

const reportedColumns = columns({ reported: column.text<string | null>() })

const editColumns = table('run_edit', {
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  /** The parts that differ from the original run. */
  parts: column.texts<readonly EditedPart[]>(),
  /** The model that replaces that of the agent; null: it is the agent's. */
  model: column.text<string | null>(),
})

/** A row of `run_edit`: what a retry changed. */
export type RunEditRow = RowOf<typeof editColumns>

/** Stores what a retry changed. */
export function insertRunEdit(tx: Transaction, row: RunEditRow): void {
  tx.send(editColumns.insert, editColumns.values(row))
}

/** Loads what a retry changed; undefined: nothing. */
export async function loadRunEdit(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<RunEditRow | undefined> {
  const rows = await connection.query(`select ${editColumns.list} from run_edit where org_id = $1 and run_id = $2`, [
    query.orgId,
    query.runId,
  ])
  return editColumns.first(rows)
}
