import { randomUUID } from 'node:crypto'
import type { OrgId } from '../../domain/ids.ts'
import { DAY_MS, earlier, HOUR_MS, type Instant, SECOND_MS } from '../../domain/instant.ts'
import { RESTRICTION_BOUNDS } from '../../domain/access/restrictions.ts'
import { deleteOldConsoleSessions, deleteOldSignIns } from '../access/members-store.ts'
import { createHistoryPartitions, deleteUnpartitionedHistory, dropOldPartitions } from './history-store.ts'
import { deleteOrgRow, deleteRowsOfOrg, loadDeletedOrgs, ORG_TABLES } from '../access/orgs-store.ts'
import { loadOrgsWithUncountedHistory, loadOrgsToPrune, loadOrgsWithOldTasks, acquirePruneLease } from './org-store.ts'
import { deleteOldRestrictedActions } from '../access/restrictions-store.ts'
import { deleteOldCallbacks, deleteOldKeys, deleteOldNodes } from './store.ts'
import { deleteOldWorkerAttempts, deleteOldWorkers } from '../workers/store.ts'
import { IDLE_MS } from '../access/console-sessions.ts'
import type { Ports } from '../../engine/ports.ts'
import {
  SHORT_RETENTION_MS,
  nothingPruned,
  type PassContext,
  PRUNE_STEPS,
  type Pruned,
  pruneTasks,
  repeat,
  type Steps,
} from './one-org.ts'
import { updateRunCounts } from '../stats/service.ts'
import { updateTimelineCounts } from '../stats/timeline.ts'
import { sealSigningSecrets } from '../targets/signing-secret.ts'
import { updateTaskCounts } from '../tasks/view.ts'

export interface Retention {
  /** Deletes all old rows in small statements without locking an org, so that runs never wait for it. */
  readonly pass: () => Promise<Pruned>
  /**
   * Continues a pass or begins one, for about `forMs`. Returns whether it must be called again at once. Each pass
   * deletes what becomes old within minutes; a whole pass runs less often.
   */
  readonly resume: (forMs: number) => Promise<boolean>
}

export interface RetentionOptions {
  /** Rows per statement. */
  readonly batch?: number
}

/** Rows per statement: few enough to take milliseconds. */
const ROWS_PER_STATEMENT = 500

/** Orgs checked in one statement. */
const ORGS_PER_STATEMENT = 500

/** The interval of whole passes: partitions are dropped by the hour, and most rows are kept for days. */
const WHOLE_PASS_INTERVAL_MS = HOUR_MS / 6

type RetentionPorts = Pick<Ports, 'database' | 'clock' | 'settings' | 'commands'>

/** Creates the retention job, which keeps its progress between calls. */
export function createRetention(ports: RetentionPorts, options: RetentionOptions = {}): Retention {
  const folded: PassContext['folded'] = new Map()
  const begin = (): PassContext => ({
    connection: ports.database,
    commands: ports.commands,
    now: ports.clock.now(),
    settings: ports.settings(),
    batch: options.batch ?? ROWS_PER_STATEMENT,
    folded,
    pruned: nothingPruned(),
  })
  let running: { readonly steps: Steps; readonly wholeAt: Instant | null } | null = null
  let lastWhole: Instant | null = null
  const next = (): NonNullable<typeof running> => {
    const pass = begin()
    const isWhole = lastWhole === null || pass.now - lastWhole >= WHOLE_PASS_INTERVAL_MS
    return isWhole ? { steps: wholePass(pass), wholeAt: pass.now } : { steps: shortPass(pass), wholeAt: null }
  }
  return {
    pass: async () => {
      const pass = begin()
      for await (const _ of wholePass(pass));
      return pass.pruned
    },
    resume: async (forMs) => {
      const until = performance.now() + forMs
      const pass = running ?? next()
      // Cleared first, so that a pass that fails starts over.
      running = null
      do {
        if ((await pass.steps.next()).done === true) {
          lastWhole = pass.wholeAt ?? lastWhole
          return false
        }
      } while (performance.now() < until)
      running = pass
      return true
    },
  }
}

/** Deletes the kinds of rows that grow within minutes. */
async function* shortPass(pass: PassContext): Steps {
  await createHistoryPartitions(pass.connection, pass.now)
  yield
  const endedBefore = earlier(pass.now, pass.settings.tasks.resultTtlSeconds * 1_000)
  for (const orgId of await loadOrgsWithOldTasks(pass.connection, endedBefore)) yield* pruneTasks(pass, orgId)
  yield* pruneDeployment(pass)
  yield* pruneOrgs(pass)
}

async function* wholePass(pass: PassContext): Steps {
  yield* shortPass(pass)
  const { connection, now, settings } = pass
  const { runDays, maxRunsPerSchedule: fires } = settings.retention
  const before = {
    tasks: earlier(now, settings.tasks.resultTtlSeconds * 1_000),
    day: earlier(now, DAY_MS),
    runs: runDays === null ? null : earlier(now, runDays * DAY_MS),
    fires,
  }
  for (let after = ''; ;) {
    const page = await loadOrgsToPrune(connection, { after, limit: ORGS_PER_STATEMENT, before })
    yield
    for (const { orgId, kinds } of page) for (const kind of kinds) yield* PRUNE_STEPS[kind](pass, orgId)
    const last = page.at(-1)
    if (last === undefined || page.length < ORGS_PER_STATEMENT) break
    after = last.orgId
  }
  yield* pruneHistory(pass)
}

/** Deletes old history, after its endings of runs have been added to the counts, which are kept longer. */
async function* pruneHistory(pass: PassContext): Steps {
  const { connection, now, batch: limit, pruned } = pass
  for (let after = ''; ;) {
    const orgIds = await loadOrgsWithUncountedHistory(connection, { after, limit: ORGS_PER_STATEMENT })
    yield
    for (const orgId of orgIds) {
      await updateRunCounts(connection, orgId)
      await updateTaskCounts(connection, orgId, now)
      await updateTimelineCounts(connection, orgId)
      yield
    }
    const last = orgIds.at(-1)
    if (last === undefined || orgIds.length < ORGS_PER_STATEMENT) break
    after = last
  }
  const before = earlier(now, SHORT_RETENTION_MS)
  pruned.historyRows += yield* repeat(pass, () => deleteUnpartitionedHistory(connection, { before, limit }))
  pruned.historyRows += await dropOldPartitions(connection, before)
}

/** Deletes the rows of deleted orgs table by table, and then the orgs. */
async function* pruneOrgs(pass: PassContext): Steps {
  for (const orgId of await loadDeletedOrgs(pass.connection)) {
    yield* deleteOrgRows(pass, orgId)
    await deleteOrgRow(pass.connection, orgId)
    pass.pruned.orgs += 1
  }
}

async function* deleteOrgRows(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit } = pass
  for (const table of ORG_TABLES) yield* repeat(pass, () => deleteRowsOfOrg(connection, table, { orgId, limit }))
}

/** The longest period that a limit of a restricted key looks back. */
const MAX_RESTRICTION_PERIOD_MS = RESTRICTION_BOUNDS.minIntervalSeconds.max * SECOND_MS

/** Deletes old rows of all orgs together, by their age. */
async function* pruneDeployment(pass: PassContext): Steps {
  const { connection, now, batch: limit, pruned } = pass
  const before = earlier(now, SHORT_RETENTION_MS)
  pruned.callbacks += yield* repeat(pass, () => deleteOldCallbacks(connection, { before, limit }))
  pruned.keys += yield* repeat(pass, () => deleteOldKeys(connection, { before, limit }))
  pruned.nodes += await deleteOldNodes(connection, before)
  pruned.workers += await deleteOldWorkers(connection, before)
  pruned.workers += yield* repeat(pass, () => deleteOldWorkerAttempts(connection, { before, limit }))
  pruned.signIns += yield* repeat(pass, () => deleteOldSignIns(connection, { now, limit }))
  const seenBefore = earlier(now, IDLE_MS)
  pruned.consoleSessions += yield* repeat(pass, () => deleteOldConsoleSessions(connection, { now, seenBefore, limit }))
  const longBefore = earlier(now, MAX_RESTRICTION_PERIOD_MS)
  pruned.restrictedActs += yield* repeat(pass, () =>
    deleteOldRestrictedActions(connection, { before, longBefore, limit }),
  )
}

/** The length of a slice, for which a node that stops may have to wait. */
const SLICE_MS = 200

/** The lease for pruning: after this time another node replaces one that has stopped. */
const PRUNE_LEASE_MS = 10_000

/**
 * Creates the periodic cleanup: it deletes old rows and encrypts signing secrets that are not encrypted yet. One node
 * at a time runs it, in short slices. Returns true while there is more to do at once.
 */
export function createPrune(ports: Ports, sliceMs = SLICE_MS): () => Promise<boolean> {
  const retention = createRetention(ports)
  const holder = randomUUID()
  return async () => {
    if (!(await acquirePruneLease(ports.database, { holder, now: ports.clock.now(), forMs: PRUNE_LEASE_MS })))
      return false
    if (await retention.resume(sliceMs)) return true
    await sealSigningSecrets(ports)
    return false
  }
}
