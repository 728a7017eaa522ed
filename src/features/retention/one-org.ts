import type { DeliveryKind } from '../../core/delivery/run-delivery.ts'
import { type OrgId, runId, sessionKey, type SessionKey } from '../../domain/ids.ts'
import { DAY_MS, earlier, instant, type Instant } from '../../domain/instant.ts'
import { deleteOldAlerts } from '../alerts/store.ts'
import { deleteOldBackfills } from '../backfill/store.ts'
import type { Connection } from '../../store/database.ts'
import { deleteOldDeliveries } from '../deliveries/store.ts'
import { deleteOldBeats, deleteSurplusBeats } from '../heartbeats/log-store.ts'
import { deleteOrphanedProbes } from '../probes/store.ts'
import {
  deleteIdleSessions,
  deleteOldTaskCounts,
  loadIdleSessions,
  type PrunedKind,
  type SessionPosition,
} from './org-store.ts'
import {
  deleteEndedTasks,
  deleteOldRuns,
  deleteSurplusRuns,
  foldSkippedRuns,
  loadBusySchedules,
  type WalkPosition,
  type WalkStep,
} from './store.ts'
import type { OldRows } from '../../platform/db/table.ts'
import type { EngineSettings } from '../config/settings.ts'
import type { Turns, Work } from '../../service/turn-port.ts'

type PruneOrg = (pass: PassContext, orgId: OrgId) => Steps

/** Before this time what is kept as long as runs is old; null when runs are kept for ever. */
const runsBefore = ({ now, settings }: PassContext): Instant | null => {
  const { runDays } = settings.retention
  return runDays === null ? null : earlier(now, runDays * DAY_MS)
}

export async function* pruneTasks(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit, now, settings, found } = pass
  const endedBefore = earlier(now, settings.tasks.resultTtlSeconds * 1_000)
  found.tasks += yield* walk((after) => deleteEndedTasks(connection, { orgId, endedBefore, after, limit }))
}

async function* foldSkips({ connection, now, batch: limit, folded, found }: PassContext, orgId: OrgId): Steps {
  const madeBefore = earlier(now, DAY_MS)
  found.folded += yield* walk(
    async (after) => {
      const step = await foldSkippedRuns(connection, { orgId, madeBefore, after, limit, now })
      if (step.last !== null) folded.set(orgId, step.last)
      return step
    },
    folded.get(orgId) ?? BEGINNING,
  )
}

async function* pruneRuns(pass: PassContext, orgId: OrgId): Steps {
  const madeBefore = runsBefore(pass)
  if (madeBefore === null) return
  const { connection, batch: limit, found } = pass
  const { runsPerSchedule: keep } = pass.settings.retention
  found.runs += yield* walk((after) => deleteOldRuns(connection, { orgId, madeBefore, keep, after, limit }))
}

async function* pruneSurplus(pass: PassContext, orgId: OrgId): Steps {
  const { maxRunsPerSchedule: keep } = pass.settings.retention
  const { connection, batch: limit, found } = pass
  for (let after = ''; ;) {
    const ids = await loadBusySchedules(connection, { orgId, firedMoreThan: keep, after, limit })
    for (const scheduleId of ids)
      found.runs += yield* repeat(pass, () => deleteSurplusRuns(connection, { orgId, scheduleId, keep, limit }))
    const last = ids.at(-1)
    if (last === undefined || ids.length < limit) return
    after = last
  }
}

/** What went to targets is kept as long as runs are; callbacks are as many as tasks and nobody looks for old ones. */
async function* pruneDeliveries(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit, found } = pass
  const old = (kind: DeliveryKind, before: Instant): Steps<number> =>
    repeat(pass, () => deleteOldDeliveries(connection, { orgId, kind, before, limit }))
  found.deliveries += yield* old('callback', earlier(pass.now, KEPT_MS))
  const before = runsBefore(pass)
  if (before === null) return
  for (const kind of ['saved', 'session', 'channel'] as const) found.deliveries += yield* old(kind, before)
}

/** Rows that are kept as long as runs are. */
const asLongAsRuns = (
  kind: keyof Pruned,
  statement: (connection: Connection, old: OldRows) => Promise<number>,
): PruneOrg =>
  async function* (pass, orgId) {
    const before = runsBefore(pass)
    if (before === null) return
    const { connection, batch: limit, found } = pass
    found[kind] += yield* repeat(pass, () => statement(connection, { orgId, before, limit }))
  }

const pruneOldBeats = asLongAsRuns('heartbeats', deleteOldBeats)

/** As long as runs are, and of an agent at most as many as a schedule may have runs. */
async function* pruneBeats(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit, found } = pass
  const { maxRunsPerSchedule: keep } = pass.settings.retention
  found.heartbeats += yield* repeat(pass, () => deleteSurplusBeats(connection, { orgId, keep, limit }))
  yield* pruneOldBeats(pass, orgId)
}

async function* pruneProbes({ connection }: PassContext, orgId: OrgId): Steps {
  await deleteOrphanedProbes(connection, orgId)
  yield
}

/**
 * Sessions are removed in a turn, so that every node forgets them. What is removed has no run and no rules of its own
 * left: a message to it begins it again.
 */
async function* pruneSessions(pass: PassContext, orgId: OrgId): Steps {
  const before = runsBefore(pass)
  if (before === null) return
  const { connection, batch: limit, turns, found } = pass
  let after: SessionPosition | null = { createdAt: instant(-Infinity), key: sessionKey('') }
  while (after !== null) {
    const step: Awaited<ReturnType<typeof loadIdleSessions>> = await loadIdleSessions(connection, {
      ...{ orgId, before, limit, after },
    })
    if (step.idle.length > 0) found.sessions += await turns.take(removeSessions(orgId, step.idle))
    after = step.next
    yield
  }
}

const removeSessions = (orgId: OrgId, keys: readonly SessionKey[]): Work<number> => ({
  orgId,
  prepare: (tx) => deleteIdleSessions(tx, { orgId, keys }),
  apply: (desk, prepared) => {
    const removed = prepared as readonly SessionKey[]
    for (const key of removed) {
      desk.sessions.delete(key)
      desk.changes.events.push({ kind: 'session.changed', subject: key, data: {} })
    }
    return removed.length
  },
})

/** What is done about each kind of which an org has something old. */
export const PRUNE: Readonly<Record<PrunedKind, PruneOrg>> = {
  tasks: pruneTasks,
  skips: foldSkips,
  runs: pruneRuns,
  surplus: pruneSurplus,
  deliveries: pruneDeliveries,
  alerts: asLongAsRuns('alerts', deleteOldAlerts),
  backfills: asLongAsRuns('backfills', deleteOldBackfills),
  heartbeats: pruneBeats,
  probes: pruneProbes,
  sessions: pruneSessions,
  taskCounts: asLongAsRuns('taskCounts', deleteOldTaskCounts),
}

/** How many rows of each kind a pass has removed. */
export interface Pruned {
  tasks: number
  runs: number
  folded: number
  /** Turns that were removed by row, and partitions of history that were dropped. */
  turns: number
  deliveries: number
  alerts: number
  backfills: number
  /** Entries of the logs of heartbeats. */
  heartbeats: number
  sessions: number
  /** Counts of tasks, by agent. */
  taskCounts: number
  callbacks: number
  keys: number
  nodes: number
  workers: number
  signIns: number
  consoleSessions: number
  /** What guard rails have counted. */
  railActs: number
  orgs: number
}

export const noneRemoved = (): Pruned => ({
  ...{ tasks: 0, runs: 0, folded: 0, turns: 0, deliveries: 0, alerts: 0, backfills: 0, heartbeats: 0, sessions: 0 },
  ...{ taskCounts: 0, callbacks: 0, keys: 0, nodes: 0, workers: 0, signIns: 0, consoleSessions: 0, railActs: 0 },
  orgs: 0,
})

/** Events, idempotency keys and tokens are kept this long. */
export const KEPT_MS = DAY_MS

export interface PassContext {
  readonly connection: Connection
  readonly turns: Turns
  readonly now: Instant
  readonly settings: EngineSettings
  /** Rows per statement. */
  readonly batch: number
  /** Skipped runs up to here have been folded: each is looked at once per process. */
  readonly folded: Map<OrgId, WalkPosition>
  readonly found: Pruned
}

/** Work in small statements: after each of them it can be interrupted. */
export type Steps<Answer = void> = AsyncGenerator<undefined, Answer, undefined>

/** Repeats a statement until it finds less than it may take. */
export async function* repeat({ batch }: Pick<PassContext, 'batch'>, statement: () => Promise<number>): Steps<number> {
  for (let removed = 0; ;) {
    const found = await statement()
    removed += found
    yield
    if (found < batch) return removed
  }
}

const BEGINNING: WalkPosition = { createdAt: instant(-Infinity), id: runId('') }

/** Walks through rows of an org, a statement at a time, and removes some. */
async function* walk(step: (after: WalkPosition) => Promise<WalkStep>, from: WalkPosition = BEGINNING): Steps<number> {
  let removed = 0
  for (let after: WalkPosition | null = from; after !== null;) {
    const done: WalkStep = await step(after)
    removed += done.removed
    after = done.next
    yield
  }
  return removed
}
