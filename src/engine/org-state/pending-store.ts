import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import type { Why } from '../../domain/reasons.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import { ACCEPTED } from '../../core/usual-why.ts'
import type { Connection } from '../../store/database.ts'
import { firstStart, readRetryPolicy, type RunRow } from '../../store/run-row.ts'
import { column, columns, type RowOf } from '../../platform/db/table.ts'

const NOTHING_RESERVED: readonly Reserve[] = []

/** A payload of more bytes than this stays on record until somebody executes the run or merges into it. */
const SMALL_PAYLOAD = 512

/** What changes while a run is pending. */
const live = columns({
  state: column.text<RunRow['state']>(),
  attempt: column.int(),
  seq: column.bigint<number | null>(),
  notBefore: column.instant<Instant | null>(),
  debouncing: column.boolean(),
  slot: column.text<RunRow['slot']>(),
  superseded: column.boolean(),
  attemptId: column.text<AttemptId | null>(),
  nodeId: column.text<string | null>(),
  startedAt: column.instant<Instant | null>(),
  firstStartedAt: column.instant<Instant | null>(firstStart('p', 'p.attempt')),
  endsBy: column.instant<Instant | null>(),
  graceUntil: column.instant<Instant | null>(),
  why: column.json<Why | null>(),
  reserves: column.json<readonly Reserve[] | null>(),
})
const lives = columns({ id: column.text<RunId>(), ...live.definitions })

const facts = columns({
  id: column.text<RunId>(),
  jobRunId: column.text<string | null>(),
  agentId: column.text<AgentId>(),
  executorKey: column.text(),
  sessionKey: column.text<SessionKey | null>(),
  generation: column.int(),
  scheduleId: column.text<ScheduleId | null>(),
  nominal: column.instant<Instant | null>('nominal_at'),
  trigger: column.text<RunRow['trigger']>(),
  lane: column.text<LaneName>(),
  priority: column.int(),
  createdAt: column.instant(),
  sender: column.text<string | null>(),
  interrupts: column.boolean(),
  deadline: column.instant<Instant | null>(),
  timeoutSeconds: column.int<number | null>(),
  retryPolicy: column.json<RetryPolicy | null>(),
  failureActionRetries: column.boolean(),
  firstAttempt: column.int(),
  retryOf: column.text<RunId | null>(),
  parentRunId: column.text<RunId | null>(),
  owner: column.text<string | null>(),
  lineage: column.json<RunRow['lineage']>(),
  decision: column.json<Why | null>(),
  heldDecision: column.json<Why | null>(),
  delivery: column.json<RunRow['delivery']>(),
  trace: column.text<string | null>(),
})
const FACTS = `${facts.of('r')}, ${live.of('p')}`

const pending = columns({ ...facts.definitions, ...live.definitions, payload: column.json() })

const SMALL = `pg_column_size(r.payload) <= ${SMALL_PAYLOAD}`

/** Both keys have their lower bound: merged with an index that is read from its beginning, each piece took longer than the last. */
const LOAD_PENDING = `select ${FACTS}, case when p.debouncing or ($4 and ${SMALL}) then r.payload end as payload
  from pending p join run r on r.org_id = p.org_id and r.id = p.id
 where p.org_id = $1 and p.id > $2 and r.org_id = $1 and r.id > $2 order by p.id limit $3`

/**
 * Pending runs of the org by key, so that a million of them come in pieces; `after` is the last one seen. `payloads`: with
 * those that are small; without, only what is still merged into has one.
 */
export async function loadPending(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly after: string; readonly limit: number; readonly payloads: boolean },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(LOAD_PENDING, [asked.orgId, asked.after, asked.limit, asked.payloads])
  return pending.read(rows).map((row) => runOf(row, asked.orgId))
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
  return pending.read(rows).map((row) => runOf(row, asked.orgId))
}

/** Those of the runs that are still pending, as they are now. What is on record for good is taken from what is known. */
export async function loadLives(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly runs: ReadonlyMap<RunId, RunRow> },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(
    `select ${lives.of('p')} from unnest($2::text[]) as i (id)
      cross join lateral (select * from pending where org_id = $1 and id = i.id offset 0) p`,
    [asked.orgId, [...asked.runs.keys()]],
  )
  return lives.read(rows).flatMap((row) => {
    const known = asked.runs.get(row.id)
    return known === undefined ? [] : [{ ...known, ...liveOf(row), ...UNTOLD, debouncing: row.debouncing }]
  })
}

function runOf(row: RowOf<typeof pending>, orgId: OrgId): RunRow {
  const { trigger, debouncing } = row
  return {
    id: row.id,
    orgId,
    agentId: row.agentId,
    executorKey: row.executorKey,
    sessionKey: row.sessionKey,
    generation: row.generation,
    scheduleId: row.scheduleId,
    nominal: row.nominal,
    jobRunId: row.jobRunId ?? row.id,
    trigger,
    lane: row.lane,
    priority: row.priority,
    createdAt: row.createdAt,
    sender: row.sender,
    interrupts: row.interrupts,
    deadline: row.deadline,
    timeoutSeconds: row.timeoutSeconds,
    retryPolicy: readRetryPolicy(row.retryPolicy, trigger),
    failureActionRetries: row.failureActionRetries,
    firstAttempt: row.firstAttempt,
    retryOf: row.retryOf,
    parentRunId: row.parentRunId,
    owner: row.owner,
    lineage: row.lineage,
    decision: row.decision ?? ACCEPTED,
    heldDecision: row.heldDecision,
    delivery: row.delivery,
    trace: row.trace,
    ...liveOf(row),
    debouncing,
    payload: row.payload ?? undefined,
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
  row: RowOf<typeof live>,
): Omit<RowOf<typeof live>, 'debouncing' | 'reserves'> & Pick<RunRow, 'reserves'> {
  return {
    state: row.state,
    attempt: row.attempt,
    seq: row.seq,
    notBefore: row.notBefore,
    slot: row.slot,
    superseded: row.superseded,
    attemptId: row.attemptId,
    nodeId: row.nodeId,
    startedAt: row.startedAt,
    firstStartedAt: row.firstStartedAt,
    endsBy: row.endsBy,
    graceUntil: row.graceUntil,
    why: row.why,
    reserves: row.reserves ?? NOTHING_RESERVED,
  }
}
