import type { DeliveryKind } from '../core/delivery/run-delivery.ts'
import { runId, type OrgId } from '../core/ids.ts'
import { DAY_MS, earlier, instant, SECOND_MS, type Instant } from '../core/instant.ts'
import { RAIL_BOUNDS } from '../core/rails/guard-rails.ts'
import { deleteOldAlerts } from '../store/alerts.ts'
import { deleteOldBackfills } from '../store/backfills.ts'
import type { Connection } from '../store/database.ts'
import { deleteOldDeliveries } from '../store/deliveries.ts'
import { createHistoryPartitions, deleteLooseTurns, dropOldPartitions } from '../store/history.ts'
import { deleteOldBeats, deleteSurplusBeats } from '../store/heartbeat-log.ts'
import { deleteOldConsoleSessions } from '../store/console-sessions.ts'
import { deleteOrg, deleteRowsOfOrg, listOrgs, loadDeletedOrgs, ORG_TABLES } from '../store/orgs.ts'
import { deleteOrphanedProbes } from '../store/probes.ts'
import { deleteOldRailActs } from '../store/rails.ts'
import {
  deleteEndedTasks,
  deleteOldCallbacks,
  deleteOldKeys,
  deleteOldNodes,
  deleteOldRuns,
  deleteSurplusRuns,
  foldSkippedRuns,
  loadBusySchedules,
  type WalkPosition,
} from '../store/retention.ts'
import { deleteOldSignIns } from '../store/sign-ins.ts'
import { deleteOldWorkerAttempts } from '../store/worker-attempts.ts'
import { deleteOldWorkers } from '../store/workers.ts'
import { IDLE_MS } from './console-sessions.ts'
import type { Ports } from './ports.ts'
import type { EngineSettings } from './settings.ts'
import { addUp } from './stats.ts'
import { addUpTaskCounts } from './task-stats.ts'

/** How many rows of each kind a pass has removed. */
export interface Pruned {
  readonly tasks: number
  readonly runs: number
  readonly folded: number
  readonly turns: number
  readonly deliveries: number
  readonly alerts: number
  readonly backfills: number
  /** Entries of the logs of heartbeats. */
  readonly heartbeats: number
  readonly callbacks: number
  readonly keys: number
  readonly nodes: number
  readonly workers: number
  readonly signIns: number
  readonly consoleSessions: number
  /** What guard rails have counted. */
  readonly railActs: number
  readonly orgs: number
}

/** Events, idempotency keys and tokens are kept this long. */
const KEPT_MS = DAY_MS

/** Rows per statement: few enough to be done in milliseconds. */
const BATCH = 500

/** Statements per kind, org and pass; what is left is for the next pass. */
const MOST_BATCHES = 100

const BEGINNING: WalkPosition = { createdAt: instant(-Infinity), id: runId('') }

export interface Retention {
  /** Removes what has outlived its use. Small statements, no lock of an org: dispatch never waits for it. */
  readonly pass: () => Promise<Pruned>
}

export interface RetentionOptions {
  /** Lets others have the database between two statements. */
  readonly pause?: () => Promise<void>
  readonly batch?: number
}

interface Pass {
  readonly connection: Connection
  readonly now: Instant
  readonly settings: EngineSettings
  readonly pause: () => Promise<void>
  readonly batch: number
}

/** How far the walks through an org's runs have come, between passes. */
interface Progress {
  /** Skipped runs up to here have been folded: each is looked at once per process. */
  readonly folded: Map<OrgId, WalkPosition>
  /** Where a walk through old runs was interrupted. Runs that are kept would otherwise stop it at the same place. */
  readonly pruned: Map<OrgId, WalkPosition>
}

/** Makes the job, which remembers how far it has come. */
export function createRetention(
  ports: Pick<Ports, 'database' | 'clock' | 'settings'>,
  options: RetentionOptions = {},
): Retention {
  const progress: Progress = { folded: new Map(), pruned: new Map() }
  return {
    pass: async () => {
      const pass: Pass = {
        connection: ports.database,
        now: ports.clock.now(),
        settings: ports.settings(),
        pause: options.pause ?? (() => Promise.resolve()),
        batch: options.batch ?? BATCH,
      }
      await createHistoryPartitions(pass.connection, pass.now)
      const found = { tasks: 0, runs: 0, folded: 0, turns: 0, deliveries: 0, alerts: 0, backfills: 0, heartbeats: 0 }
      for (const { id } of await listOrgs(pass.connection)) {
        found.tasks += await pruneTasks(pass, id)
        found.folded += await foldSkips(pass, id, progress)
        found.runs += (await pruneByAge(pass, id, progress)) + (await pruneSurplus(pass, id))
        await addUp(pass.connection, id)
        await addUpTaskCounts(pass.connection, id, pass.now)
        found.deliveries += await pruneDeliveries(pass, id)
        found.alerts += await pruneAlerts(pass, id)
        found.backfills += await pruneBackfills(pass, id)
        found.heartbeats += await pruneBeats(pass, id)
        await deleteOrphanedProbes(pass.connection, id)
      }
      found.turns = await pruneHistory(pass)
      return { ...found, ...(await pruneDeployment(pass)), orgs: await pruneOrgs(pass) }
    },
  }
}

/** Repeats a statement until it finds less than it may take. */
async function repeat(pass: Pass, statement: () => Promise<number>): Promise<number> {
  let removed = 0
  for (let round = 0; round < MOST_BATCHES; round += 1) {
    const found = await statement()
    removed += found
    if (found < pass.batch) break
    await pass.pause()
  }
  return removed
}

function pruneTasks(pass: Pass, orgId: OrgId): Promise<number> {
  const endedBefore = earlier(pass.now, pass.settings.tasks.resultTtlSeconds * 1_000)
  return repeat(pass, () => deleteEndedTasks(pass.connection, { orgId, endedBefore, limit: pass.batch }))
}

async function foldSkips(pass: Pass, orgId: OrgId, { folded }: Progress): Promise<number> {
  const { connection, now, batch: limit } = pass
  const madeBefore = earlier(now, DAY_MS)
  let removed = 0
  for (let round = 0; round < MOST_BATCHES; round += 1) {
    const after = folded.get(orgId) ?? BEGINNING
    const step = await foldSkippedRuns(connection, { orgId, madeBefore, after, limit, now })
    removed += step.removed
    if (step.last !== null) folded.set(orgId, step.last)
    if (step.next === null) break
    await pass.pause()
  }
  return removed
}

async function pruneByAge(pass: Pass, orgId: OrgId, { pruned }: Progress): Promise<number> {
  const { runDays, runsPerSchedule: keep } = pass.settings.retention
  if (runDays === null) return 0
  const { connection, batch: limit } = pass
  const madeBefore = earlier(pass.now, runDays * DAY_MS)
  let removed = 0
  for (let round = 0; round < MOST_BATCHES; round += 1) {
    const after = pruned.get(orgId) ?? BEGINNING
    const step = await deleteOldRuns(connection, { orgId, madeBefore, keep, after, limit })
    removed += step.removed
    if (step.next === null) {
      pruned.delete(orgId)
      break
    }
    pruned.set(orgId, step.next)
    await pass.pause()
  }
  return removed
}

async function pruneSurplus(pass: Pass, orgId: OrgId): Promise<number> {
  const { maxRunsPerSchedule: keep } = pass.settings.retention
  const { connection, batch: limit } = pass
  let removed = 0
  for (let after = ''; ;) {
    const ids = await loadBusySchedules(connection, { orgId, firedMoreThan: keep, after, limit })
    for (const scheduleId of ids)
      removed += await repeat(pass, () => deleteSurplusRuns(connection, { orgId, scheduleId, keep, limit }))
    const last = ids.at(-1)
    if (last === undefined || ids.length < limit) return removed
    after = last
  }
}

/** Only after all orgs have been added up: how runs ended is told by turns alone, and counts outlive them. */
async function pruneHistory(pass: Pass): Promise<number> {
  const { connection, batch: limit } = pass
  const before = earlier(pass.now, KEPT_MS)
  const turns = await repeat(pass, () => deleteLooseTurns(connection, { before, limit }))
  return turns + (await dropOldPartitions(connection, before))
}

/** What went to targets is kept as long as runs are; callbacks are as many as tasks and nobody looks for old ones. */
async function pruneDeliveries(pass: Pass, orgId: OrgId): Promise<number> {
  const { connection, batch: limit } = pass
  const old = (kind: DeliveryKind, keptMs: number): Promise<number> =>
    repeat(pass, () => deleteOldDeliveries(connection, { orgId, kind, before: earlier(pass.now, keptMs), limit }))
  const { runDays } = pass.settings.retention
  const callbacks = await old('callback', KEPT_MS)
  if (runDays === null) return callbacks
  let removed = callbacks
  for (const kind of ['saved', 'session', 'channel'] as const) removed += await old(kind, runDays * DAY_MS)
  return removed
}

async function pruneAlerts(pass: Pass, orgId: OrgId): Promise<number> {
  const { runDays } = pass.settings.retention
  if (runDays === null) return 0
  const before = earlier(pass.now, runDays * DAY_MS)
  return repeat(pass, () => deleteOldAlerts(pass.connection, { orgId, before, limit: pass.batch }))
}

async function pruneBackfills(pass: Pass, orgId: OrgId): Promise<number> {
  const { runDays } = pass.settings.retention
  if (runDays === null) return 0
  const before = earlier(pass.now, runDays * DAY_MS)
  return repeat(pass, () => deleteOldBackfills(pass.connection, { orgId, before, limit: pass.batch }))
}

/** As long as runs are, and of an agent at most as many as a schedule may have runs. */
async function pruneBeats(pass: Pass, orgId: OrgId): Promise<number> {
  const { runDays, maxRunsPerSchedule: keep } = pass.settings.retention
  const { connection, batch: limit } = pass
  const surplus = await repeat(pass, () => deleteSurplusBeats(connection, { orgId, keep, limit }))
  if (runDays === null) return surplus
  const before = earlier(pass.now, runDays * DAY_MS)
  return surplus + (await repeat(pass, () => deleteOldBeats(connection, { orgId, before, limit })))
}

type OfDeployment = 'callbacks' | 'keys' | 'nodes' | 'workers' | 'signIns' | 'consoleSessions' | 'railActs'

/** No rail looks further back. */
const LONGEST_RAIL_MS = RAIL_BOUNDS.minIntervalSeconds.max * SECOND_MS

async function pruneDeployment(pass: Pass): Promise<Pick<Pruned, OfDeployment>> {
  const { connection, batch: limit } = pass
  const before = earlier(pass.now, KEPT_MS)
  return {
    callbacks: await repeat(pass, () => deleteOldCallbacks(connection, { before, limit })),
    keys: await repeat(pass, () => deleteOldKeys(connection, { before, limit })),
    nodes: await deleteOldNodes(connection, before),
    workers:
      (await deleteOldWorkers(connection, before)) +
      (await repeat(pass, () => deleteOldWorkerAttempts(connection, { before, limit }))),
    signIns: await repeat(pass, () => deleteOldSignIns(connection, { now: pass.now, limit })),
    consoleSessions: await repeat(pass, () =>
      deleteOldConsoleSessions(connection, { now: pass.now, seenBefore: earlier(pass.now, IDLE_MS), limit }),
    ),
    railActs: await repeat(pass, () =>
      deleteOldRailActs(connection, { before, longBefore: earlier(pass.now, LONGEST_RAIL_MS), limit }),
    ),
  }
}

/** Removes what is left of orgs that were deleted, table by table; an org goes when nothing is left. */
async function pruneOrgs(pass: Pass): Promise<number> {
  const { connection, batch: limit } = pass
  let gone = 0
  for (const orgId of await loadDeletedOrgs(connection)) {
    if (!(await emptyOrg(pass, orgId, limit))) continue
    await deleteOrg(connection, orgId)
    gone += 1
  }
  return gone
}

/** True when everything is gone; what is left is for the next pass. */
async function emptyOrg(pass: Pass, orgId: OrgId, limit: number): Promise<boolean> {
  for (const table of ORG_TABLES) {
    const removed = await repeat(pass, () => deleteRowsOfOrg(pass.connection, table, { orgId, limit }))
    if (removed >= limit * MOST_BATCHES) return false
  }
  return true
}
