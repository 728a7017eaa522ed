import { ACCEPTED } from '../../domain/run/run.ts'
import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import { type Why } from '../../domain/reasons.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { Connection } from '../../platform/db/database.ts'
import { firstStartSql, readRetryPolicy, type RunRow } from '../../features/runs/store.ts'
import { column, columns, type RowOf } from '../../platform/db/table.ts'

const NO_RESERVES: readonly Reserve[] = []

/** A larger payload (bytes) is read only when its run starts or a message is merged into it. */
const SMALL_PAYLOAD = 512

/** Columns that change while a run is pending. */
const liveColumns = columns({
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
  firstStartedAt: column.instant<Instant | null>(firstStartSql('p', 'p.attempt')),
  endsBy: column.instant<Instant | null>(),
  graceUntil: column.instant<Instant | null>(),
  why: column.json<Why | null>(),
  reserves: column.json<readonly Reserve[] | null>(),
})
const liveRowColumns = columns({ id: column.text<RunId>(), ...liveColumns.definitions })

/** Columns that never change while a run is pending. */
export const fixedColumns = columns({
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
const PENDING_COLUMNS = `${fixedColumns.of('r')}, ${liveColumns.of('p')}`

const pendingColumns = columns({ ...fixedColumns.definitions, ...liveColumns.definitions, payload: column.json() })

export const IS_SMALL = `pg_column_size(r.payload) <= ${SMALL_PAYLOAD}`

/**
 * Both keys have their lower bound: merged with an index that is read from its beginning, each page took longer than
 * the last.
 */
const LOAD_PENDING = `select ${PENDING_COLUMNS}, case when p.debouncing or ($4 and ${IS_SMALL}) then r.payload end as payload
  from pending p join run r on r.org_id = p.org_id and r.id = p.id
 where p.org_id = $1 and p.id > $2 and r.org_id = $1 and r.id > $2 order by p.id limit $3`

/**
 * Pages through the pending runs of the org by id; `after` is the last one of the page before. `payloads` includes
 * small payloads; otherwise only runs in a debounce window have one.
 */
export async function loadPending(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly after: string; readonly limit: number; readonly payloads: boolean },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(LOAD_PENDING, [query.orgId, query.after, query.limit, query.payloads])
  return pendingColumns.read(rows).map((row) => toRunRow(row, query.orgId))
}

/** The pending ones of the runs. */
export async function loadPendingByIds(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(
    // `offset 0` keeps each lookup separate: with a free join, statistics of an empty table put every run of the org
    // first.
    `select ${PENDING_COLUMNS}, case when p.debouncing or ${IS_SMALL} then r.payload end as payload from unnest($2::text[]) as i (id)
      cross join lateral (select * from pending where org_id = $1 and id = i.id offset 0) p
      cross join lateral (select * from run where org_id = $1 and id = i.id offset 0) r`,
    [query.orgId, query.ids],
  )
  return pendingColumns.read(rows).map((row) => toRunRow(row, query.orgId))
}

/** The pending ones of the runs, with their present state. Columns that never change are copied from the known rows. */
export async function loadLiveRuns(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly runs: ReadonlyMap<RunId, RunRow> },
): Promise<readonly RunRow[]> {
  const rows = await connection.query(
    `select ${liveRowColumns.of('p')} from unnest($2::text[]) as i (id)
      cross join lateral (select * from pending where org_id = $1 and id = i.id offset 0) p`,
    [query.orgId, [...query.runs.keys()]],
  )
  return liveRowColumns.read(rows).flatMap((row) => {
    const known = query.runs.get(row.id)
    return known === undefined ? [] : [{ ...known, ...liveFields(row), ...UNSET_FIELDS, debouncing: row.debouncing }]
  })
}

export function toRunRow(row: RowOf<typeof pendingColumns>, orgId: OrgId): RunRow {
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
    ...liveFields(row),
    debouncing,
    payload: row.payload ?? undefined,
    ...UNSET_FIELDS,
  }
}

/** Fields a pending run does not have yet, and fields kept only in memory. */
const UNSET_FIELDS = {
  output: null,
  summary: null,
  usage: null,
  finishedAt: null,
  errorCode: null,
  errorMessage: null,
  reported: null,
  // Set by the caller, which knows the session.
  inGeneration: true,
  lastEventIn: 0,
  heldBy: null,
} as const

function liveFields(
  row: RowOf<typeof liveColumns>,
): Omit<RowOf<typeof liveColumns>, 'debouncing' | 'reserves'> & Pick<RunRow, 'reserves'> {
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
    reserves: row.reserves ?? NO_RESERVES,
  }
}
