import { randomUUID } from 'node:crypto'
import type { OrgId } from '../../domain/ids.ts'
import { DAY_MS, earlier, HOUR_MS, type Instant, SECOND_MS } from '../../domain/instant.ts'
import { RAIL_BOUNDS } from '../../core/rails/guard-rails.ts'
import { deleteOldConsoleSessions, deleteOldSignIns } from '../access/members-store.ts'
import { createHistoryPartitions, deleteLooseTurns, dropOldPartitions } from './history-store.ts'
import { deleteOrg, deleteRowsOfOrg, loadDeletedOrgs, ORG_TABLES } from '../access/orgs-store.ts'
import { loadOrgsBehind, loadOrgsToPrune, loadOrgsWithOldTasks, takePruning } from './org-store.ts'
import { deleteOldRailActs } from '../access/restrictions-store.ts'
import { deleteOldCallbacks, deleteOldKeys, deleteOldNodes } from './store.ts'
import { deleteOldWorkerAttempts } from '../../store/worker-attempts.ts'
import { deleteOldWorkers } from '../../store/workers.ts'
import { IDLE_MS } from '../access/console-sessions.ts'
import type { Ports } from '../../service/ports.ts'
import {
  KEPT_MS,
  noneRemoved,
  type PassContext,
  PRUNE,
  type Pruned,
  pruneTasks,
  repeat,
  type Steps,
} from './one-org.ts'
import { addUp } from '../../service/stats.ts'
import { sealSigningSecrets } from '../../service/target/signing-secret.ts'
import { addUpTaskCounts } from '../tasks/stats.ts'

export interface Retention {
  /** Removes everything that has outlived its use. Small statements, no lock of an org: dispatch never waits for it. */
  readonly pass: () => Promise<Pruned>
  /**
   * Goes on with a pass, or begins one, for about as long as is said. Answers with whether it has to be called again at
   * once. What becomes old within minutes is looked for in each pass, the rest in some.
   */
  readonly goOn: (forMs: number) => Promise<boolean>
}

export interface RetentionOptions {
  /** Rows per statement. */
  readonly batch?: number
}

/** Rows per statement: few enough to be done in milliseconds. */
const BATCH = 500

/** Orgs that are looked at in one statement. */
const PAGE = 500

/** Everything is looked for this often; partitions are dropped by the hour, and most rows are kept for days. */
const WHOLE_PASS_EVERY_MS = HOUR_MS / 6

type RetentionPorts = Pick<Ports, 'database' | 'clock' | 'settings' | 'turns'>

/** Creates the job, which remembers how far it has come. */
export function createRetention(ports: RetentionPorts, options: RetentionOptions = {}): Retention {
  const folded: PassContext['folded'] = new Map()
  const begin = (): PassContext => ({
    connection: ports.database,
    turns: ports.turns,
    now: ports.clock.now(),
    settings: ports.settings(),
    batch: options.batch ?? BATCH,
    folded,
    found: noneRemoved(),
  })
  let running: { readonly steps: Steps; readonly wholeAt: Instant | null } | null = null
  let lastWhole: Instant | null = null
  const next = (): NonNullable<typeof running> => {
    const pass = begin()
    const isWhole = lastWhole === null || pass.now - lastWhole >= WHOLE_PASS_EVERY_MS
    return isWhole ? { steps: wholePass(pass), wholeAt: pass.now } : { steps: shortPass(pass), wholeAt: null }
  }
  return {
    pass: async () => {
      const pass = begin()
      for await (const _ of wholePass(pass));
      return pass.found
    },
    goOn: async (forMs) => {
      const until = performance.now() + forMs
      const pass = running ?? next()
      // A pass that fails begins again.
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

/** What there is much of within minutes. */
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
    const page = await loadOrgsToPrune(connection, { after, limit: PAGE, before })
    yield
    for (const { orgId, kinds } of page) for (const kind of kinds) yield* PRUNE[kind](pass, orgId)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) break
    after = last.orgId
  }
  yield* pruneHistory(pass)
}

/** How runs ended is told by turns alone, and counts outlive them: what is not added up is not dropped. */
async function* pruneHistory(pass: PassContext): Steps {
  const { connection, now, batch: limit, found } = pass
  for (let after = ''; ;) {
    const behind = await loadOrgsBehind(connection, { after, limit: PAGE })
    yield
    for (const orgId of behind) {
      await addUp(connection, orgId)
      await addUpTaskCounts(connection, orgId, now)
      yield
    }
    const last = behind.at(-1)
    if (last === undefined || behind.length < PAGE) break
    after = last
  }
  const before = earlier(now, KEPT_MS)
  found.turns += yield* repeat(pass, () => deleteLooseTurns(connection, { before, limit }))
  found.turns += await dropOldPartitions(connection, before)
}

/** Removes what is left of orgs that were deleted, table by table; an org goes when nothing is left. */
async function* pruneOrgs(pass: PassContext): Steps {
  for (const orgId of await loadDeletedOrgs(pass.connection)) {
    yield* emptyOrg(pass, orgId)
    await deleteOrg(pass.connection, orgId)
    pass.found.orgs += 1
  }
}

async function* emptyOrg(pass: PassContext, orgId: OrgId): Steps {
  const { connection, batch: limit } = pass
  for (const table of ORG_TABLES) yield* repeat(pass, () => deleteRowsOfOrg(connection, table, { orgId, limit }))
}

/** No rail looks further back. */
const LONGEST_RAIL_MS = RAIL_BOUNDS.minIntervalSeconds.max * SECOND_MS

/** What is found by its age alone, whatever the number of orgs. */
async function* pruneDeployment(pass: PassContext): Steps {
  const { connection, now, batch: limit, found } = pass
  const before = earlier(now, KEPT_MS)
  found.callbacks += yield* repeat(pass, () => deleteOldCallbacks(connection, { before, limit }))
  found.keys += yield* repeat(pass, () => deleteOldKeys(connection, { before, limit }))
  found.nodes += await deleteOldNodes(connection, before)
  found.workers += await deleteOldWorkers(connection, before)
  found.workers += yield* repeat(pass, () => deleteOldWorkerAttempts(connection, { before, limit }))
  found.signIns += yield* repeat(pass, () => deleteOldSignIns(connection, { now, limit }))
  const seenBefore = earlier(now, IDLE_MS)
  found.consoleSessions += yield* repeat(pass, () => deleteOldConsoleSessions(connection, { now, seenBefore, limit }))
  const longBefore = earlier(now, LONGEST_RAIL_MS)
  found.railActs += yield* repeat(pass, () => deleteOldRailActs(connection, { before, longBefore, limit }))
}

/** A node that stops waits for no more than this. */
const SLICE_MS = 200

/** A node that went away while it pruned is replaced after this. */
const HELD_MS = 10_000

/**
 * What is done now and then: old rows go, and what could not be sealed before is. One node at a time does it; it goes on
 * at once while there is more, in small slices.
 */
export function createPrune(ports: Ports, sliceMs = SLICE_MS): () => Promise<boolean> {
  const retention = createRetention(ports)
  const holder = randomUUID()
  return async () => {
    if (!(await takePruning(ports.database, { holder, now: ports.clock.now(), forMs: HELD_MS }))) return false
    if (await retention.goOn(sliceMs)) return true
    await sealSigningSecrets(ports)
    return false
  }
}
