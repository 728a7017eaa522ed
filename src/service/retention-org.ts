import type { DeliveryKind } from '../core/delivery/run-delivery.ts'
import { sessionKey, type OrgId, type SessionKey } from '../core/ids.ts'
import { DAY_MS, earlier, instant, type Instant } from '../core/instant.ts'
import { deleteOldAlerts } from '../store/alerts.ts'
import { deleteOldBackfills } from '../store/backfills.ts'
import type { Connection } from '../store/database.ts'
import { deleteOldDeliveries } from '../store/deliveries.ts'
import { deleteOldBeats, deleteSurplusBeats } from '../store/heartbeat-log.ts'
import { deleteOrphanedProbes } from '../store/probes.ts'
import {
  deleteIdleSessions,
  deleteOldTaskCounts,
  loadIdleSessions,
  type PrunedKind,
  type SessionPosition,
} from '../store/prune-orgs.ts'
import type { OldRows } from '../store/removal.ts'
import {
  deleteEndedTasks,
  deleteOldRuns,
  deleteSurplusRuns,
  foldSkippedRuns,
  loadBusySchedules,
} from '../store/retention.ts'
import { BEGINNING, KEPT_MS, repeat, walk, type PassContext, type Pruned, type Steps } from './retention-steps.ts'
import type { Work } from './turn-port.ts'

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
