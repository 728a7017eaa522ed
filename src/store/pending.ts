import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Reserve } from '../core/picking/gates.ts'
import type { Why } from '../core/reasons.ts'
import { ACCEPTED } from '../core/usual-why.ts'
import type { RetryPolicy } from '../core/run/retry-policy.ts'
import type { Connection, Row } from './database.ts'
import { firstStart, readRetryPolicy } from './run-columns.ts'
import type { RunRow } from './run-row.ts'

const NOTHING_RESERVED: readonly Reserve[] = []

/** A payload of more bytes than this stays on record until somebody executes the run or merges into it. */
const SMALL_PAYLOAD = 512

/** What changes while a run is pending. */
const LIVE = `p.state, p.attempt, p.seq, p.not_before, p.debouncing, p.slot, p.superseded, p.attempt_id, p.node_id,
  p.started_at, ${firstStart('p', 'p.attempt')} as first_started_at, p.ends_by, p.grace_until, p.why, p.reserves`

const FACTS = `r.id, r.job_run_id, r.agent_id, r.executor_key, r.session_key, r.generation, r.schedule_id, r.nominal_at,
  r.trigger, r.lane, r.priority, r.created_at, r.sender, r.interrupts, r.deadline, r.timeout_seconds, r.retry_policy,
  r.failure_action_retries, r.first_attempt, r.retry_of, r.parent_run_id, r.owner, r.lineage, r.decision, r.held_decision, r.delivery,
  r.trace,
  ${LIVE}`

const SMALL = `pg_column_size(r.payload) <= ${SMALL_PAYLOAD}`

/**
 * Pending runs of the org by key, so that a million of them come in pieces; `after` is the last one seen. `payloads`: with
 * those that are small; without, only what is still merged into has one.
 */
export async function loadPending(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly after: string; readonly limit: number; readonly payloads: boolean },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(
    `select ${FACTS}, case when p.debouncing or ($4 and ${SMALL}) then r.payload end as payload from pending p join run r on r.org_id = p.org_id and r.id = p.id
      where p.org_id = $1 and p.id > $2 order by p.id limit $3`,
    [asked.orgId, asked.after, asked.limit, asked.payloads],
  )
  return rows.map((row) => runOf(row, asked.orgId))
}

/** Those of the runs that are pending. */
export async function loadPendingByIds(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(
    // `offset 0` keeps each look-up to itself: joined freely, statistics of an empty table put every run of the org first.
    `select ${FACTS}, case when p.debouncing or ${SMALL} then r.payload end as payload from unnest($2::text[]) as i (id)
      cross join lateral (select * from pending where org_id = $1 and id = i.id offset 0) p
      cross join lateral (select * from run where org_id = $1 and id = i.id offset 0) r`,
    [asked.orgId, asked.ids],
  )
  return rows.map((row) => runOf(row, asked.orgId))
}

/** Those of the runs that are still pending, as they are now. What is on record for good is taken from what is known. */
export async function loadLives(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly runs: ReadonlyMap<RunId, RunRow> },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(
    `select p.id, ${LIVE} from unnest($2::text[]) as i (id)
      cross join lateral (select * from pending where org_id = $1 and id = i.id offset 0) p`,
    [asked.orgId, [...asked.runs.keys()]],
  )
  return rows.flatMap((row) => {
    const known = asked.runs.get(row['id'] as RunId)
    return known === undefined
      ? []
      : [{ ...known, ...liveOf(row), ...UNTOLD, debouncing: row['debouncing'] as boolean }]
  })
}

function runOf(row: Row, orgId: OrgId): RunRow {
  const trigger = row['trigger'] as RunRow['trigger']
  const debouncing = row['debouncing'] as boolean
  return {
    id: row['id'] as RunId,
    orgId,
    agentId: row['agent_id'] as AgentId,
    executorKey: row['executor_key'] as string,
    sessionKey: row['session_key'] as SessionKey | null,
    generation: row['generation'] as number,
    scheduleId: row['schedule_id'] as ScheduleId | null,
    nominal: row['nominal_at'] as Instant | null,
    jobRunId: (row['job_run_id'] as string | null) ?? (row['id'] as string),
    trigger,
    lane: row['lane'] as LaneName,
    priority: row['priority'] as number,
    createdAt: row['created_at'] as Instant,
    sender: row['sender'] as string | null,
    interrupts: row['interrupts'] as boolean,
    deadline: row['deadline'] as Instant | null,
    timeoutSeconds: row['timeout_seconds'] as number | null,
    retryPolicy: readRetryPolicy(row['retry_policy'] as RetryPolicy | null, trigger),
    failureActionRetries: row['failure_action_retries'] as boolean,
    firstAttempt: row['first_attempt'] as number,
    retryOf: row['retry_of'] as RunId | null,
    parentRunId: row['parent_run_id'] as RunId | null,
    owner: row['owner'] as string | null,
    lineage: row['lineage'] as RunRow['lineage'],
    decision: (row['decision'] as Why | null) ?? ACCEPTED,
    heldDecision: row['held_decision'] as Why | null,
    delivery: row['delivery'] as RunRow['delivery'],
    trace: row['trace'] as string | null,
    ...liveOf(row),
    debouncing,
    payload: row['payload'] ?? undefined,
    ...UNTOLD,
  }
}

/** What a pending run has not said, and what is remembered of it only where it is remembered. */
const UNTOLD = {
  output: null,
  summary: null,
  usage: null,
  finishedAt: null,
  errorCode: null,
  errorMessage: null,
  reported: null,
  // Whoever knows the session says whether it has been reset since.
  inGeneration: true,
  toldIn: 0,
  heldBy: null,
} as const

function liveOf(
  row: Row,
): Pick<
  RunRow,
  | 'state'
  | 'attempt'
  | 'seq'
  | 'notBefore'
  | 'slot'
  | 'superseded'
  | 'attemptId'
  | 'nodeId'
  | 'startedAt'
  | 'firstStartedAt'
  | 'endsBy'
  | 'graceUntil'
  | 'why'
  | 'reserves'
> {
  return {
    state: row['state'] as RunRow['state'],
    attempt: row['attempt'] as number,
    seq: row['seq'] as number | null,
    notBefore: row['not_before'] as Instant | null,
    slot: row['slot'] as RunRow['slot'],
    superseded: row['superseded'] as boolean,
    attemptId: row['attempt_id'] as AttemptId | null,
    nodeId: row['node_id'] as string | null,
    startedAt: row['started_at'] as Instant | null,
    firstStartedAt: row['first_started_at'] as Instant | null,
    endsBy: row['ends_by'] as Instant | null,
    graceUntil: row['grace_until'] as Instant | null,
    why: row['why'] as Why | null,
    reserves: (row['reserves'] as readonly Reserve[] | null) ?? NOTHING_RESERVED,
  }
}
