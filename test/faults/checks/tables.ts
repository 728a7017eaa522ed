import type { Instant } from '../../../src/domain/instant.ts'
import { isTerminal, type RunState } from '../../../src/domain/run/run-machine.ts'
import type { Row } from '../../../src/platform/db/database.ts'
import { unpackEvents } from '../../../src/engine/transaction/history-store.ts'
import type { World } from '../shapes.ts'

/** A run as it is on record, with everything that was told about it. */
export interface StoredRun {
  readonly orgId: string
  readonly id: string
  readonly agentId: string
  readonly sessionKey: string | null
  readonly generation: number
  readonly scheduleId: string | null
  readonly nominal: Instant | null
  readonly trigger: string
  readonly createdAt: Instant
  readonly deadline: Instant | null
  readonly retryOf: string | null
  readonly payload: string
  readonly state: RunState | null
  readonly attemptId: string | null
  readonly finishedAt: Instant | null
  readonly superseded: boolean
  readonly rule: string
  readonly reason: string
  readonly errorMessage: string | null
  readonly output: Row | null
  /** In the order in which they were told. */
  readonly told: readonly Told[]
  /** All of its attempts, in order, as far as they have ended or it has. */
  readonly attempts: readonly StoredAttempt[]
}

/** What an event said about a run. `at` grows with the org's history. */
export interface Told {
  readonly at: number
  readonly status: RunState
}

export interface StoredAttempt {
  readonly id: string
  readonly number: number
  readonly nodeId: string | null
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly errorCode: string | null
  readonly errorMessage: string | null
}

export interface StoredOccurrence {
  readonly orgId: string
  readonly scheduleId: string
  readonly nominal: Instant
  readonly kind: string
  readonly runId: string
}

/** Everything that is on record about the orgs of a world. */
export interface Tables {
  readonly runs: readonly StoredRun[]
  readonly pending: readonly Row[]
  readonly turns: readonly Row[]
  readonly occurrences: readonly StoredOccurrence[]
  readonly ranges: readonly Row[]
  readonly schedules: readonly Row[]
  readonly nodes: readonly Row[]
  readonly callbacks: readonly Row[]
  readonly usage: readonly Row[]
  readonly audits: readonly Row[]
}

/** More events than this are never told in one turn. */
const EVENTS_PER_TURN = 100_000

/** Reads everything with statements of our own: a check that asked the engine would believe it. */
export async function readTables({ database }: World): Promise<Tables> {
  const turns = await database.query('select org_id, no, at, node_id, events from turn order by org_id, no')
  const attempts = groupBy(
    await database.query('select * from attempt order by run_id, number'),
    (row) => row['run_id'] as string,
  )
  const told = toldIn(turns)
  const runs = await database.query('select * from run order by created_at, id')
  const occurrences = await database.query('select * from occurrence order by schedule_id, nominal_at')
  return {
    runs: runs.map((row) => runOf(row, attempts.get(row['id'] as string) ?? [], told.get(row['id'] as string) ?? [])),
    pending: await database.query('select * from pending'),
    turns,
    occurrences: occurrences.map((row) => ({
      orgId: row['org_id'] as string,
      scheduleId: row['schedule_id'] as string,
      nominal: row['nominal_at'] as Instant,
      kind: row['kind'] as string,
      runId: row['run_id'] as string,
    })),
    ranges: await database.query('select * from decision'),
    schedules: await database.query('select * from schedule'),
    nodes: await database.query('select * from node'),
    callbacks: await database.query('select * from callback'),
    usage: await database.query('select * from usage'),
    audits: await database.query('select * from audit order by org_id, no'),
  }
}

function toldIn(turns: readonly Row[]): ReadonlyMap<string, readonly Told[]> {
  const told = new Map<string, Told[]>()
  for (const turn of turns)
    for (const [index, event] of unpackEvents(turn['events']).entries()) {
      const [kind, subject, data] = event
      if (kind !== 'run.changed') continue
      const at = (turn['no'] as number) * EVENTS_PER_TURN + index
      const known = told.get(subject) ?? []
      known.push({ at, status: data['status'] as RunState })
      told.set(subject, known)
    }
  return told
}

function runOf(row: Row, attempts: readonly Row[], told: readonly Told[]): StoredRun {
  const why = (row['why'] ?? row['decision']) as Row | null
  const state = row['state'] as RunState | null
  return {
    orgId: row['org_id'] as string,
    id: row['id'] as string,
    agentId: row['agent_id'] as string,
    sessionKey: row['session_key'] as string | null,
    generation: row['generation'] as number,
    scheduleId: row['schedule_id'] as string | null,
    nominal: row['nominal_at'] as Instant | null,
    trigger: row['trigger'] as string,
    createdAt: row['created_at'] as Instant,
    deadline: row['deadline'] as Instant | null,
    retryOf: row['retry_of'] as string | null,
    payload: JSON.stringify(row['payload']),
    state,
    attemptId: row['attempt_id'] as string | null,
    finishedAt: row['finished_at'] as Instant | null,
    superseded: row['superseded'] === true,
    rule: (why?.['rule'] as string | undefined) ?? '',
    reason: (why?.['reason'] as string | undefined) ?? '',
    errorMessage: row['error_message'] as string | null,
    output: row['output'] as Row | null,
    told,
    attempts: [...attempts.map(attemptOf), ...lastAttempt(row)],
  }
}

const attemptOf = (row: Row): StoredAttempt => ({
  id: row['id'] as string,
  number: row['number'] as number,
  nodeId: row['node_id'] as string | null,
  startedAt: row['started_at'] as Instant,
  finishedAt: row['finished_at'] as Instant,
  errorCode: row['error_code'] as string | null,
  errorMessage: row['error_message'] as string | null,
})

/** The last attempt of a run is in the run itself, unless it ended between two attempts. */
const lastAttempt = (row: Row): readonly StoredAttempt[] =>
  row['attempt_id'] === null || row['finished_at'] === null
    ? []
    : [attemptOf({ ...row, id: row['attempt_id'], number: row['attempt'] })]

export const isEnded = (run: StoredRun): boolean => run.state !== null && isTerminal(run.state)

export function groupBy<T, Key>(items: readonly T[], key: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>()
  for (const item of items) {
    const known = groups.get(key(item))
    if (known === undefined) groups.set(key(item), [item])
    else known.push(item)
  }
  return groups
}
