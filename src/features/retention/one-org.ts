import type { DeliveryKind } from '../../domain/delivery/delivery.ts'
import { type OrgId, runId, sessionKey, type SessionKey } from '../../domain/ids.ts'
import { DAY_MS, earlier, instant, type Instant } from '../../domain/instant.ts'
import { deleteOldAlerts } from '../alerts/store.ts'
import { deleteOldBackfills } from '../backfill/store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { deleteOldDeliveries } from '../deliveries/store.ts'
import { deleteOldHeartbeatLog, deleteSurplusHeartbeatLog } from '../heartbeats/log-store.ts'
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
import { deleteOldTimelineCounts, TIMELINE_LEVELS } from '../stats/timeline-store.ts'
import type { OldRows } from '../../platform/db/table.ts'
import type { EngineSettings } from '../config/settings.ts'
import type { Commands, Command } from '../../engine/commands-port.ts'

type PruneOrg = (pass: PassContext, orgId: OrgId) => Steps

/** The time before which runs are old; null when runs are kept forever. */
const runsBefore = ({ now, settings }: PassContext): Instant | null => {
  const { runDays } = settings.retention
  return runDays === null ? null : earlier(now, runDays * DAY_MS)
}

export async function* pruneTasks(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit, now, settings, pruned } = pass
  const endedBefore = earlier(now, settings.tasks.resultTtlSeconds * 1_000)
  pruned.tasks += yield* walk((after) => deleteEndedTasks(connection, { orgId, endedBefore, after, limit }))
}

async function* foldSkips({ connection, now, batch: limit, folded, pruned }: PassContext, orgId: OrgId): Steps {
  const madeBefore = earlier(now, DAY_MS)
  pruned.folded += yield* walk(
    async (after) => {
      const step = await foldSkippedRuns(connection, { orgId, madeBefore, after, limit, now })
      if (step.last !== null) folded.set(orgId, step.last)
      return step
    },
    folded.get(orgId) ?? WALK_START,
  )
}

async function* pruneRuns(pass: PassContext, orgId: OrgId): Steps {
  const madeBefore = runsBefore(pass)
  if (madeBefore === null) return
  const { connection, batch: limit, pruned } = pass
  const { runsPerSchedule: keep } = pass.settings.retention
  pruned.runs += yield* walk((after) => deleteOldRuns(connection, { orgId, madeBefore, keep, after, limit }))
}

async function* pruneSurplus(pass: PassContext, orgId: OrgId): Steps {
  const { maxRunsPerSchedule: keep } = pass.settings.retention
  const { connection, batch: limit, pruned } = pass
  for (let after = ''; ;) {
    const ids = await loadBusySchedules(connection, { orgId, firedMoreThan: keep, after, limit })
    for (const scheduleId of ids)
      pruned.runs += yield* repeat(pass, () => deleteSurplusRuns(connection, { orgId, scheduleId, keep, limit }))
    const last = ids.at(-1)
    if (last === undefined || ids.length < limit) return
    after = last
  }
}

/** Deliveries to targets are kept as long as runs; callbacks of tasks for a day, because there are so many. */
async function* pruneDeliveries(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit, pruned } = pass
  const deleteOld = (kind: DeliveryKind, before: Instant): Steps<number> =>
    repeat(pass, () => deleteOldDeliveries(connection, { orgId, kind, before, limit }))
  pruned.deliveries += yield* deleteOld('callback', earlier(pass.now, SHORT_RETENTION_MS))
  const before = runsBefore(pass)
  if (before === null) return
  for (const kind of ['saved', 'session', 'channel'] as const) pruned.deliveries += yield* deleteOld(kind, before)
}

/** Creates a step for rows that are kept as long as runs. */
const asLongAsRuns = (
  kind: keyof Pruned,
  statement: (connection: Connection, deleteOld: OldRows) => Promise<number>,
): PruneOrg =>
  async function* (pass, orgId) {
    const before = runsBefore(pass)
    if (before === null) return
    const { connection, batch: limit, pruned } = pass
    pruned[kind] += yield* repeat(pass, () => statement(connection, { orgId, before, limit }))
  }

const pruneOldHeartbeatLog = asLongAsRuns('heartbeats', deleteOldHeartbeatLog)

/** Log entries are kept as long as runs, and at most as many per agent as runs per schedule. */
async function* pruneHeartbeatLog(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit, pruned } = pass
  const { maxRunsPerSchedule: keep } = pass.settings.retention
  pruned.heartbeats += yield* repeat(pass, () => deleteSurplusHeartbeatLog(connection, { orgId, keep, limit }))
  yield* pruneOldHeartbeatLog(pass, orgId)
}

async function* pruneProbes({ connection }: PassContext, orgId: OrgId): Steps {
  await deleteOrphanedProbes(connection, orgId)
  yield
}

/**
 * Sessions are deleted by a command, so that every node drops them from its org state. A deleted session has no runs
 * and no rules of its own, and the next message creates it again.
 */
async function* pruneSessions(pass: PassContext, orgId: OrgId): Steps {
  const before = runsBefore(pass)
  if (before === null) return
  const { connection, batch: limit, commands, pruned } = pass
  let after: SessionPosition | null = { createdAt: instant(-Infinity), key: sessionKey('') }
  while (after !== null) {
    const step: Awaited<ReturnType<typeof loadIdleSessions>> = await loadIdleSessions(connection, {
      ...{ orgId, before, limit, after },
    })
    if (step.idle.length > 0) pruned.sessions += await commands.execute(deleteSessionsCommand(orgId, step.idle))
    after = step.next
    yield
  }
}

const deleteSessionsCommand = (orgId: OrgId, keys: readonly SessionKey[]): Command<number> => ({
  orgId,
  prepare: (tx) => deleteIdleSessions(tx, { orgId, keys }),
  apply: (state, prepared) => {
    const removed = prepared as readonly SessionKey[]
    for (const key of removed) {
      state.sessions.delete(key)
      state.changes.events.push({ kind: 'session.changed', subject: key, data: {} })
    }
    return removed.length
  },
})

async function* pruneTimeline({ connection, now, batch: limit, pruned }: PassContext, orgId: OrgId): Steps {
  for (const { name: step, keptMs } of TIMELINE_LEVELS) {
    const old = { orgId, step, before: earlier(now, keptMs), limit }
    pruned.timelineCounts += yield* repeat({ batch: limit }, () => deleteOldTimelineCounts(connection, old))
  }
}

/** The step for each kind of old rows. */
export const PRUNE_STEPS: Readonly<Record<PrunedKind, PruneOrg>> = {
  tasks: pruneTasks,
  skips: foldSkips,
  runs: pruneRuns,
  surplus: pruneSurplus,
  deliveries: pruneDeliveries,
  alerts: asLongAsRuns('alerts', deleteOldAlerts),
  backfills: asLongAsRuns('backfills', deleteOldBackfills),
  heartbeats: pruneHeartbeatLog,
  probes: pruneProbes,
  sessions: pruneSessions,
  taskCounts: asLongAsRuns('taskCounts', deleteOldTaskCounts),
  timelineCounts: pruneTimeline,
}

/** How many rows of each kind a pass has deleted. */
export interface Pruned {
  tasks: number
  runs: number
  folded: number
  /** Rows of the history that were deleted, plus partitions that were dropped. */
  historyRows: number
  deliveries: number
  alerts: number
  backfills: number
  /** Entries of heartbeat logs. */
  heartbeats: number
  sessions: number
  /** Counts of tasks by agent. */
  taskCounts: number
  callbacks: number
  keys: number
  nodes: number
  workers: number
  signIns: number
  consoleSessions: number
  /** Counts of the timeline. */
  timelineCounts: number
  /** Actions counted for the limits of restricted keys. */
  restrictedActs: number
  orgs: number
}

export const nothingPruned = (): Pruned => ({
  ...{
    tasks: 0,
    runs: 0,
    folded: 0,
    historyRows: 0,
    deliveries: 0,
    alerts: 0,
    backfills: 0,
    heartbeats: 0,
    sessions: 0,
  },
  ...{ taskCounts: 0, callbacks: 0, keys: 0, nodes: 0, workers: 0, signIns: 0, consoleSessions: 0, restrictedActs: 0 },
  ...{ timelineCounts: 0 },
  orgs: 0,
})

/** How long events, idempotency keys and tokens are kept. */
export const SHORT_RETENTION_MS = DAY_MS

export interface PassContext {
  readonly connection: Connection
  readonly commands: Commands
  readonly now: Instant
  readonly settings: EngineSettings
  /** Rows per statement. */
  readonly batch: number
  /** Skipped runs up to these positions have been folded, so that a process reads each run once. */
  readonly folded: Map<OrgId, WalkPosition>
  readonly pruned: Pruned
}

/** Work in small statements that can be paused after each of them. */
export type Steps<Answer = void> = AsyncGenerator<undefined, Answer, undefined>

/** Repeats a statement until it deletes fewer rows than its limit. */
export async function* repeat({ batch }: Pick<PassContext, 'batch'>, statement: () => Promise<number>): Steps<number> {
  for (let removed = 0; ;) {
    const pruned = await statement()
    removed += pruned
    yield
    if (pruned < batch) return removed
  }
}

const WALK_START: WalkPosition = { createdAt: instant(-Infinity), id: runId('') }

/** Walks through the rows of an org, one statement at a time, and deletes old ones. */
async function* walk(step: (after: WalkPosition) => Promise<WalkStep>, from: WalkPosition = WALK_START): Steps<number> {
  let removed = 0
  for (let after: WalkPosition | null = from; after !== null;) {
    const done: WalkStep = await step(after)
    removed += done.removed
    after = done.next
    yield
  }
  return removed
}
