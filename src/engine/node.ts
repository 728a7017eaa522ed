import type { AttemptApiAccess } from '../domain/access/restrictions.ts'
import { isWorkerKey } from '../domain/agent.ts'
import type { AgentId, LaneName, OrgId, RunId, SessionKey } from '../domain/ids.ts'
import { instant } from '../domain/instant.ts'
import type { Command } from './commands-port.ts'
import { type AttemptOfRun, resetSessionCommand } from './commands/engine-commands.ts'
import { createExecutions } from './executions.ts'
import { createDatabaseHealth, type DatabaseHealth } from './loops/health.ts'
import { createWorkers } from './loops/workers.ts'
import { type HistoryRow, loopParts, type NodeContext, type NodeParts } from './node-parts.ts'
import { createOrgActor, type OrgActor, type OrgActorContext } from './org-actor.ts'
import { DEFAULT_WINDOW } from './org-state/backlog.ts'
import type { NodeCapabilities } from './org-state/memory.ts'
import { createProgress } from './progress.ts'
import { deferReport, deferToService, updateReady, offerToken, recordReport, wakeWaiting } from './reports.ts'
import { catchUpWithoutLock } from './transaction/catch-up.ts'
import { isCapped } from './transaction/claim.ts'
import { transactionLimits } from './transaction/limits.ts'
import { reasonToAbort } from './transaction/pass-time.ts'
import type { TransactionContext, TransactionResult } from './transaction/transaction.ts'
import { createNodeLanes } from '../features/lanes/node-lanes.ts'
import { insertRunLogs } from '../features/runs/log-store.ts'
import { type NodeInfo, renewLease } from '../features/nodes/membership.ts'

/**
 * The database was away and may be back with an older state, as after a failover. What the node knows is compared with
 * it at the next pass, and orgs in which nothing was pending may have pending runs again.
 */
export function recheckAfterOutage({ state }: Pick<NodeParts, 'state'>): void {
  state.decidedUpTo = instant(-Infinity)
  state.looks.compareAt = -Infinity
  state.looks.pendingAfter = ''
}

/** Shorter outages concern single connections, as when the server is full; retrying sooner would make that worse. */
const MIN_AWAY_MS = 1_000

/** A wait after a failure. It ends early when the database is back. */
export function createPause(
  { sleep }: Pick<NodeContext, 'sleep'>,
  { whenBack }: Pick<DatabaseHealth, 'whenBack'>,
): NodeContext['sleep'] {
  return async (ms, signal) => {
    const waiting = new AbortController()
    const end = (): void => {
      waiting.abort()
    }
    signal.addEventListener('abort', end)
    const cancel = whenBack((awayMs) => {
      if (awayMs >= MIN_AWAY_MS) end()
    })
    if (!signal.aborted) await sleep(ms, waiting.signal)
    cancel()
    signal.removeEventListener('abort', end)
  }
}

/** Whether attempts of an agent are given keys. A node knows this of every agent it executes. */
const hasSelfService = (
  parts: Pick<NodeParts, 'actors'>,
  about: { readonly orgId: OrgId; readonly agentId: AgentId },
): boolean => parts.actors.get(about.orgId)?.loaded()?.state.agents.get(about.agentId)?.selfService === true

/** The API key for an attempt that was assigned to a worker; null: its agent has no `self_service`. */
export async function createWorkerAttemptKey(
  parts: Pick<NodeParts, 'actors' | 'ctx'>,
  about: AttemptOfRun & { readonly agentId: AgentId },
): Promise<AttemptApiAccess | null> {
  if (!hasSelfService(parts, about)) return null
  const endsBy = parts.actors.get(about.orgId)?.loaded()?.state.runs.get(about.runId)?.endsBy ?? null
  return (await parts.ctx.createAttemptKey?.({ ...about, endsBy })) ?? null
}

/** Creates a node. Nothing happens before its loops are started. */
export function createNodeParts(ctx: NodeContext): NodeParts {
  let id = ctx.newNodeId()
  const lanes = createNodeLanes(ctx.settings().lanes.byName, (leftBy) => {
    wakeWaiting(parts, leftBy)
  })
  const health = createDatabaseHealth({ log: ctx.log, now: ctx.clock.now, counter: ctx.clock.counter })
  const actors = new Map<OrgId, OrgActor>()
  const actorOf = (orgId: OrgId): OrgActor => {
    const known = actors.get(orgId)
    if (known !== undefined) return known
    const created = createOrgActor(actorContext(parts), orgId)
    actors.set(orgId, created)
    return created
  }
  const stopping = new AbortController()
  const progress = createProgress({
    ...{ officeOf: actorOf, sleep: ctx.sleep, stopping: stopping.signal, now: ctx.clock.now, nodeId: () => id },
    store: (chunks) => insertRunLogs(ctx.database, chunks),
    failed: health.failed,
  })
  const workers = createWorkers({ actorOf, beginMs: () => ctx.settings().node.leaseMs })
  const executions = createExecutions({
    executorFor: (key) => ctx.executors.get(key),
    hold: lanes.hold,
    report: (reported) => recordReport(parts, reported),
    progress: progress.add,
    tracing: ctx.tracing,
    offer: (about) => offerToken(parts, about),
    defer: (about, offered) => deferReport(parts, about, offered),
    deferToService: (about, work) => deferToService(parts, about, work),
    expose: ctx.expose,
    gate: ctx.gate,
    createAttemptKey: async (about) =>
      hasSelfService(parts, about) ? ((await ctx.createAttemptKey?.(about)) ?? null) : null,
  })
  const state = initialState()
  const parts: NodeParts = {
    ...loopParts(ctx, { id: () => id, actorOf, stopping: stopping.signal, failed: health.failed }),
    ctx,
    id: () => id,
    setId: (next) => {
      id = next
    },
    capabilities: capabilitiesOf(ctx, { lanes, state }),
    lanes,
    executions,
    progress,
    workers,
    health,
    pause: createPause(ctx, health),
    actors,
    actorOf,
    commands: { execute: <Answer>(command: Command<Answer>) => actorOf(command.orgId).execute(command) },
    peers: { others: false, executors: new Set() },
    state,
    stopping,
  }
  return recheckingAfterOutages(parts)
}

const capabilitiesOf = (ctx: NodeContext, { lanes, state }: Pick<NodeParts, 'lanes' | 'state'>): NodeCapabilities => ({
  randomSource: ctx.randomSource,
  settings: ctx.settings,
  // Runs of workers queue in lanes that no node serves, so they may always compete there.
  canExecute: (key) => ctx.executors.has(key) || isWorkerKey(key),
  laneNames: () => new Set(lanes.sizes().keys()),
  estimate: ctx.estimate,
  window: () => (state.allReadBacklog ? (ctx.window ?? DEFAULT_WINDOW) : null),
  catchups: () => lanes.catchups(),
})

function recheckingAfterOutages(parts: NodeParts): NodeParts {
  parts.health.whenBack(() => {
    recheckAfterOutage(parts)
  })
  return parts
}

/** The state of a node that has just started. */
const initialState = (): NodeParts['state'] => ({
  draining: false,
  stopped: false,
  wakingWaiting: false,
  freed: new Set(),
  hasManyOrgs: false,
  orphans: new Set(),
  scan: null,
  decidedUpTo: instant(-Infinity),
  firing: new Map(),
  joinedAt: null,
  allReadBacklog: false,
  looks: { changesAt: null, compareAt: -Infinity, pendingAfter: '', idleAt: -Infinity, idle: new Map() },
})

function transactionContext(parts: NodeParts): TransactionContext {
  const { ctx } = parts
  const askedAt = ctx.clock.counter()
  return {
    database: ctx.database,
    node: parts.capabilities,
    nodeId: parts.id(),
    limits: ctx.transactionLimits ?? transactionLimits(ctx.clock.counter),
    askedAt,
    syncClock: (databaseTime) => {
      ctx.clock.sync(databaseTime, askedAt)
      return ctx.syncClock?.(databaseTime) ?? databaseTime
    },
  }
}

function actorContext(parts: NodeParts): OrgActorContext {
  const { ctx, lanes, health } = parts
  return {
    transactionContext: () => transactionContext(parts),
    load: ctx.load,
    offer: (orgId) => {
      if (parts.state.draining) return null
      const { catchupMaxActive: catchupLimit } = ctx.settings().schedules
      const awaitsCatchup = (): boolean => parts.actors.get(orgId)?.loaded()?.held.isBlocked ?? false
      const isReady = readyLanes(parts, orgId)
      const offer = lanes.offer({ orgId, nodeId: parts.id(), isReady, catchupLimit, awaitsCatchup })
      const workers = parts.workers.offers(orgId)
      return workers === null ? offer : { ...offer, workers }
    },
    decided: lanes.settleOffer,
    withdraw: lanes.withdrawOffer,
    committed: (actor, result, reloaded) => {
      health.answered()
      lanes.settleOffer(actor.orgId)
      updateReady(parts, actor)
      return afterCommit(parts, { actor, result, reloaded })
    },
    isAlone: () => !parts.peers.others,
    failed: (error, broken) => {
      if (!broken) health.failed(error)
      else ctx.log({ level: 'error', message: 'A transaction failed', facts: { error: errorMessageOf(error) } })
    },
    catchUpWithoutLock: (org) => catchUpWithoutLock(ctx.database, org, parts.capabilities),
    stuck: (orgId, error, failures) => {
      ctx.log({
        level: 'error',
        message: 'An org makes no progress; its transactions fail repeatedly',
        facts: { org: orgId, failures, error: errorMessageOf(error) },
      })
    },
    listenerFailed: (error) => {
      ctx.log({
        level: 'error',
        message: 'A listener failed after a transaction was committed',
        facts: { error: errorMessageOf(error) },
      })
    },
    recovered: health.answered,
    callAt: ctx.callAt ?? ((at, callback) => callAfter(at - ctx.clock.now(), callback)),
    after: ctx.after ?? callAfter,
    counter: ctx.clock.counter,
    sleep: parts.pause,
    backoffMs: (failures) => Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2),
    patienceMs: 30_000,
  }
}

/**
 * The lanes in which the org has a run to start; every lane when runs have become due since the ready queue was
 * updated.
 */
function readyLanes(parts: NodeParts, orgId: OrgId): (lane: LaneName) => boolean {
  const org = parts.actors.get(orgId)?.loaded() ?? null
  if (org === null) return () => true
  const { state: orgState, readyQueue } = org
  return (lane) => readyQueue.hasReady(lane) || (readyQueue.wakesAt() ?? Infinity) <= orgState.now
}

interface CommittedTransaction {
  readonly actor: OrgActor
  readonly result: TransactionResult
  readonly reloaded: boolean
}

const errorMessageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Node's timers cannot run longer than this; firing early does no harm. */
const MAX_TIMEOUT_MS = 2_000_000_000

function callAfter(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.ceil(Math.min(Math.max(0, ms), MAX_TIMEOUT_MS)))
  return () => {
    clearTimeout(timer)
  }
}

/**
 * A transaction was committed: publishes it, aborts what must end, takes what was claimed. Returns the function that
 * starts the claims.
 */
function afterCommit(parts: NodeParts, transaction: CommittedTransaction): () => void {
  const { actor, result } = transaction
  for (const missed of result.caughtUp) publish(parts, actor.orgId, missed)
  if (result.written !== null) {
    parts.ctx.meter?.transaction(result)
    if (result.changes.deliveries.length > 0 || result.changes.alerts.length > 0) parts.outbox.wake()
    publish(parts, actor.orgId, result.written)
    if (parts.peers.others) notifyOthers(parts, actor.orgId, result.written)
  }
  abortEndedAttempts(parts, transaction)
  parts.workers.committed(actor, result.assigned)
  if (isCapped(result.claims)) actor.wake()
  if (result.claims.length === 0) return () => undefined
  const starts = result.claims.map(parts.executions.reserve)
  // The process can be suspended between any two starts and be declared lost meanwhile, so each start checks the lease.
  let still: Promise<boolean> | undefined
  const { clock } = parts.ctx
  const isSure = (): boolean =>
    result.sureUntil !== null &&
    result.sureUntil - clock.counter() > LEASE_MARGIN_MS &&
    (clock.sleptMs?.() ?? 0) < MAX_SLEEP_MS
  return () => {
    for (const start of starts) start(isSure() ? undefined : (still ??= confirmLease(parts, result.written?.nodeId)))
  }
}

const LEASE_MARGIN_MS = 500

/** After a sleep longer than this the lease is renewed first, because the counter stood still during the sleep. */
const MAX_SLEEP_MS = 1_000

/**
 * Renews the lease before starting. Attempts that do not start are settled by the watch loop, or by the node that
 * declared this one lost.
 */
async function confirmLease(parts: NodeParts, claimant: string | undefined): Promise<boolean> {
  const { ctx } = parts
  if (parts.id() !== claimant) return false
  const renewed = await renewLease(parts.control, nodeRecordOf(parts), ctx.settings().node.leaseMs).catch(() => false)
  return renewed && parts.id() === claimant
}

function notifyOthers({ notifier }: NodeParts, orgId: OrgId, { no, events }: HistoryRow): void {
  notifier.changed({ orgId, no, plan: events.some(([kind]) => kind === 'schedule.changed') })
}

/** What this node publishes about itself. */
export const nodeRecordOf = (parts: NodeParts): NodeInfo => ({
  id: parts.id(),
  executors: [...parts.ctx.executors.keys()],
  lanes: Object.fromEntries(parts.lanes.sizes()),
  draining: parts.state.draining,
  program: parts.ctx.program,
  keyIds: parts.ctx.keyIds?.() ?? [],
})

/** Passes a transaction to every listener, once and in order. */
export function publish(parts: NodeParts, orgId: OrgId, transaction: HistoryRow): void {
  const last = parts.published.get(orgId)
  if (last !== undefined && transaction.no <= last) return
  parts.published.set(orgId, transaction.no)
  for (const listener of [...parts.listeners]) listener(orgId, transaction)
}

function abortEndedAttempts(parts: NodeParts, { actor, result, reloaded }: CommittedTransaction): void {
  const org = actor.loaded()
  if (org === null) return
  const abortIfEnded = (runId: RunId): void => {
    const execution = parts.executions.ofRun(runId)
    if (execution?.orgId !== actor.orgId || execution.isAborted()) return
    const reason = reasonToAbort(org, execution)
    if (reason !== null) execution.abort(reason)
  }
  for (const run of result.changed) abortIfEnded(run.id)
  if (reloaded || result.caughtUp.length > 0) for (const { runId } of parts.executions.all()) abortIfEnded(runId)
}

/** Resets the sessions that have active runs on this node, or in which a caller of this process waits. */
export async function resetSessions(parts: NodeParts, waitedIn: Iterable<readonly [OrgId, SessionKey]>): Promise<void> {
  const sessions = new Map<string, readonly [OrgId, SessionKey]>()
  for (const { orgId, sessionKey } of parts.executions.all())
    if (sessionKey !== null) sessions.set(`${orgId} ${sessionKey}`, [orgId, sessionKey as SessionKey])
  for (const pair of waitedIn) sessions.set(pair.join(' '), pair)
  await Promise.all(
    [...sessions.values()].map(([orgId, key]) => parts.actorOf(orgId).execute(resetSessionCommand(orgId, key))),
  )
}
