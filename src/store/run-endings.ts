import type { OrgId } from '../domain/ids.ts'
import type { Transaction } from './database.ts'
import type { RunRow } from './run-row.ts'
import { each, idsOf, placed, whyOf } from './runs.ts'
import { jsonOrNull, timestampOrNull, writes, type Written } from '../platform/db/table.ts'

/** What the runtime said itself; a summary that is not a text is part of it. */
function reportedOf({ reported, summary }: RunRow): string | null {
  const isPlain = summary === null || typeof summary === 'string'
  if (reported === null) return isPlain ? null : JSON.stringify({ summary })
  const { sessionId, messageId, errorCode } = reported
  const said = { session_id: sessionId, message_id: messageId, error_code: errorCode }
  return JSON.stringify(isPlain ? said : { ...said, summary })
}

/** How it ended. */
const ENDING_COLUMNS: readonly Written<RunRow>[] = [
  ['state', 'word', (run) => run.state],
  ['attempt', 'int', (run) => run.attempt],
  ['attempt_id', 'word', (run) => run.attemptId],
  ['node_id', 'word', (run) => run.nodeId],
  ['started_at', 'instant', (run) => timestampOrNull(run.startedAt)],
  ['finished_at', 'instant', (run) => timestampOrNull(run.finishedAt)],
  ['superseded', 'boolean', (run) => run.superseded],
  ['why', 'json', (run) => whyOf(run.why)],
  ['error_code', 'word', (run) => run.errorCode],
  ['error_message', 'text', (run) => run.errorMessage],
  ['output', 'json', (run) => jsonOrNull(run.output)],
  ['summary', 'text', (run) => (typeof run.summary === 'string' ? run.summary : null)],
  ['usage', 'json', (run) => jsonOrNull(run.usage)],
  ['reported', 'json', reportedOf],
]

const columnsOf = (...names: readonly string[]): readonly Written<RunRow>[] =>
  ENDING_COLUMNS.filter(([name]) => names.includes(name))

const ENDING = writes(ENDING_COLUMNS)

const GONE = 'with gone as (delete from pending where org_id = $1 and id = any($2::text[]) returning 1)'

/** All of the runs were pending, or, as those that ended in the turn that made them, none. */
const wereGone = (parameter: number): string =>
  `(select count(*) from gone) = case when $${parameter}::boolean then cardinality($2::text[]) else 0 end`

const END_RUNS = each(
  `${GONE}, written as (
  update run r set ${ENDING.assignedFrom('u')} from ${placed('run', ENDING, 3)} where r.ctid = u.place`,
  wereGone(3 + ENDING.count),
)

/** What differs between runs of one node that all succeeded at one moment with nothing more to say. */
const SUCCESS = writes(columnsOf('attempt', 'attempt_id', 'started_at'))

const END_SUCCESSES = each(
  `${GONE}, written as (
  update run r set state = 'success', node_id = $3, finished_at = $4, superseded = false, ${SUCCESS.assignedFrom('u')}
    from ${placed('run', SUCCESS, 5)} where r.ctid = u.place`,
  wereGone(5 + SUCCESS.count),
)

const END_SUCCESS = `with gone as (delete from pending where org_id = $1 and id = $2 returning 1), written as (
    update run set state = 'success', node_id = $3, finished_at = $4, superseded = false,
      ${SUCCESS.assigned(5)}
    where org_id = $1 and id = $2 returning 1)
  select case when (select count(*) from written) = 1
                and (select count(*) from gone) = $${5 + SUCCESS.count}::boolean::int then 1
              else refuse_unknown_rows() end`

/** What a plain success leaves empty. */
const SAID = columnsOf('why', 'error_code', 'error_message', 'output', 'summary', 'usage', 'reported')

const isPlainSuccess = (run: RunRow, like: RunRow): boolean =>
  run.state === 'success' &&
  !run.superseded &&
  run.nodeId === like.nodeId &&
  run.finishedAt === like.finishedAt &&
  SAID.every(([, , value]) => value(run) === null)

/** Whose runs end. */
export interface Endings {
  readonly orgId: OrgId
  /** False for runs that end in the turn that made them. */
  readonly arePending: boolean
}

/** Ends runs: they leave what is pending, and how they ended is written. Plain successes need a quarter of the columns. */
export function endRuns(tx: Transaction, { orgId, arePending }: Endings, runs: readonly RunRow[]): void {
  const [first] = runs
  if (first === undefined) return
  if (!runs.every((run) => isPlainSuccess(run, first))) {
    tx.send(END_RUNS, [orgId, idsOf(runs), ...ENDING.lists(runs), arePending])
    return
  }
  const same = [first.nodeId, timestampOrNull(first.finishedAt)]
  if (runs.length === 1) tx.send(END_SUCCESS, [orgId, first.id, ...same, ...SUCCESS.values(first), arePending])
  else tx.send(END_SUCCESSES, [orgId, idsOf(runs), ...same, ...SUCCESS.lists(runs), arePending])
}
