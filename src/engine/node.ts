import type { LaneName, OrgId, RunId, SessionKey } from '../domain/ids.ts'
import { isWorkerKey } from '../core/executor/worker-agent.ts'
import { instant } from '../domain/instant.ts'
import { renewLease, type NodeCard } from '../service/membership.ts'
import type { Work } from '../service/turn-port.ts'
import { isCapped } from '../service/turn/claim.ts'
import { comeNearer } from '../service/turn/catch-up.ts'
import type { NodeFacts } from '../service/turn/memory.ts'
import { reasonToEnd } from '../service/turn/passing.ts'
import type { TurnContext, TurnResult } from '../service/turn/turn.ts'
import { turnLimits } from '../service/turn/turn-limits.ts'
import { resetWork } from '../service/turn/works.ts'
import { createPause, distrustRecord } from './database-back.ts'
import { createExecutions } from './executions.ts'
import { createDatabaseHealth } from './loops/health.ts'
import { isInvited } from './invited.ts'
import { type HistoryRow, loopParts, type NodeContext, type NodeParts } from './node-parts.ts'
import { createProgress } from './progress.ts'
import { defer, noteReady, offer, report, wakeWaiting } from './reports.ts'
import { createNodeLanes } from '../service/node-lanes.ts'
import { createOffice } from './office.ts'
import type { Office, OfficeContext } from './office-context.ts'
import { createWorkers } from './workers.ts'

/** Puts a node together. Nothing happens before its loops are started. */
export function createNodeParts(ctx: NodeContext): NodeParts {
  let id = ctx.newNodeId()
  const lanes = createNodeLanes(ctx.settings().lanes.byName, (leftBy) => {
    wakeWaiting(parts, leftBy)
  })
  const health = createDatabaseHealth({ log: ctx.log, now: ctx.clock.now, counter: ctx.clock.counter })
  const offices = new Map<OrgId, Office>()
  const facts: NodeFacts = {
    chance: ctx.chance,
    settings: ctx.settings,
    // What workers perform stands in lines that no node serves, so it may always compete there.
    canExecute: (key) => ctx.executors.has(key) || isWorkerKey(key),
    laneNames: () => new Set(lanes.sizes().keys()),
    estimate: ctx.estimate,
    catchups: () => lanes.catchups(),
  }
  const officeOf = (orgId: OrgId): Office => {
    const known = offices.get(orgId)
    if (known !== undefined) return known
    const made = createOffice(officeContext(parts), orgId)
    offices.set(orgId, made)
    return made
  }
  const stopping = new AbortController()
  const progress = createProgress({ officeOf, sleep: ctx.sleep, stopping: stopping.signal })
  const workers = createWorkers({ officeOf, beginMs: () => ctx.settings().node.leaseMs })
  const executions = createExecutions({
    executorFor: (key) => ctx.executors.get(key),
    hold: lanes.hold,
    report: (reported) => report(parts, reported),
    progress: progress.say,
    tracing: ctx.tracing,
    offer: (about) => offer(parts, about),
    defer: (about, offered) => defer(parts, about, offered),
    expose: ctx.expose,
    gate: ctx.gate,
    invite: async (about) => (isInvited(parts, about) ? ((await ctx.invite?.(about)) ?? null) : null),
  })
  const parts: NodeParts = {
    ...loopParts(ctx, { id: () => id, officeOf, stopping: stopping.signal, failed: health.failed }),
    ctx,
    id: () => id,
    setId: (next) => {
      id = next
    },
    facts,
    lanes,
    executions,
    progress,
    workers,
    health,
    pause: createPause(ctx, health),
    offices,
    officeOf,
    turns: { take: <Answer>(work: Work<Answer>) => officeOf(work.orgId).take(work) },
    company: { others: false, executors: new Set() },
    state: newState(),
    stopping,
  }
  return distrusting(parts)
}

function distrusting(parts: NodeParts): NodeParts {
  parts.health.whenBack(() => {
    distrustRecord(parts)
  })
  return parts
}

/** Where a node stands that has just come. */
const newState = (): NodeParts['state'] => ({
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
  looks: { changesAt: null, compareAt: -Infinity, pendingAfter: '', idleAt: -Infinity, idle: new Map() },
})

function turnContext(parts: NodeParts): TurnContext {
  const { ctx } = parts
  const askedAt = ctx.clock.counter()
  return {
    database: ctx.database,
    node: parts.facts,
    nodeId: parts.id(),
    limits: ctx.turnLimits ?? turnLimits(ctx.clock.counter),
    askedAt,
    hearClock: (said) => {
      ctx.clock.hear(said, askedAt)
      return ctx.hearClock?.(said) ?? said
    },
  }
}

function officeContext(parts: NodeParts): OfficeContext {
  const { ctx, lanes, health } = parts
  return {
    turnContext: () => turnContext(parts),
    load: ctx.load,
    offer: (orgId) => {
      if (parts.state.draining) return null
      const { catchupMaxActive: catchupLimit } = ctx.settings().schedules
      const awaitsCatchup = (): boolean => parts.offices.get(orgId)?.memory()?.held.isBlocked ?? false
      const isReady = readyLanes(parts, orgId)
      const offer = lanes.offer({ orgId, nodeId: parts.id(), isReady, catchupLimit, awaitsCatchup })
      const workers = parts.workers.offers(orgId)
      return workers === null ? offer : { ...offer, workers }
    },
    decided: lanes.decided,
    withdraw: lanes.withdraw,
    settled: (office, result, reloaded) => {
      health.answered()
      lanes.decided(office.orgId)
      noteReady(parts, office)
      return settled(parts, { office, result, reloaded })
    },
    isAlone: () => !parts.company.others,
    failed: (error, broken) => {
      if (!broken) health.failed(error)
      else ctx.log({ level: 'error', message: 'A turn could not be taken', facts: { error: messageOf(error) } })
    },
    comeNearer: (memory) => comeNearer(ctx.database, memory, parts.facts),
    stuck: (orgId, error, failures) => {
      ctx.log({
        level: 'error',
        message: 'An org does not get on; its transactions fail again and again',
        facts: { org: orgId, failures, error: messageOf(error) },
      })
    },
    mishap: (error) => {
      ctx.log({
        level: 'error',
        message: 'A listener failed after a transaction was kept',
        facts: { error: messageOf(error) },
      })
    },
    recovered: health.answered,
    ringAt: ctx.ringAt ?? ((at, ring) => ringAfter(at - ctx.clock.now(), ring)),
    after: ctx.after ?? ringAfter,
    counter: ctx.clock.counter,
    sleep: parts.pause,
    backoffMs: (failures) => Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2),
    patienceMs: 30_000,
  }
}

/** In which lanes the org has something to start; in any when a time has come that the line-up has not looked at yet. */
function readyLanes(parts: NodeParts, orgId: OrgId): (lane: LaneName) => boolean {
  const memory = parts.offices.get(orgId)?.memory() ?? null
  if (memory === null) return () => true
  const { desk, lineUp } = memory
  return (lane) => lineUp.hasReady(lane) || (lineUp.wakesAt() ?? Infinity) <= desk.now
}

interface SettledTurn {
  readonly office: Office
  readonly result: TurnResult
  readonly reloaded: boolean
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Longer than this no timer can run; looking once more does no harm. */
const LONGEST_TIMER_MS = 2_000_000_000

function ringAfter(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, Math.ceil(Math.min(Math.max(0, ms), LONGEST_TIMER_MS)))
  return () => {
    clearTimeout(timer)
  }
}

/** A turn was kept: tell who listens, end what must end, take what was claimed. Answers with what begins it. */
function settled(parts: NodeParts, turn: SettledTurn): () => void {
  const { office, result } = turn
  for (const heard of result.heard) publish(parts, office.orgId, heard)
  if (result.written !== null) {
    parts.ctx.meter?.turn(result)
    if (result.changes.deliveries.length > 0 || result.changes.alerts.length > 0) parts.outbox.wake()
    publish(parts, office.orgId, result.written)
    if (parts.company.others) tellOthers(parts, office.orgId, result.written)
  }
  endWhatMustEnd(parts, turn)
  parts.workers.settled(office, result.assigned)
  if (isCapped(result.claims)) office.wake()
  if (result.claims.length === 0) return () => undefined
  const begins = result.claims.map(parts.executions.take)
  // A process can be stopped between any two of these and be taken for dead meanwhile: each one looks.
  let still: Promise<boolean> | undefined
  const { clock } = parts.ctx
  const isSure = (): boolean =>
    result.sureUntil !== null &&
    result.sureUntil - clock.counter() > LEASE_MARGIN_MS &&
    (clock.sleptMs?.() ?? 0) < LONGEST_NAP_MS
  return () => {
    for (const begin of begins) begin(isSure() ? undefined : (still ??= isStill(parts, result.written?.nodeId)))
  }
}

const LEASE_MARGIN_MS = 500

/** A machine that has slept for longer than this asks before it acts: its counter stood still meanwhile. */
const LONGEST_NAP_MS = 1_000

/** Asks before it acts. What is not started for it is found by the watch, or by whoever declared this node lost. */
async function isStill(parts: NodeParts, claimant: string | undefined): Promise<boolean> {
  const { ctx } = parts
  if (parts.id() !== claimant) return false
  const renewed = await renewLease(parts.control, cardOf(parts), ctx.settings().node.leaseMs).catch(() => false)
  return renewed && parts.id() === claimant
}

function tellOthers({ notifier }: NodeParts, orgId: OrgId, { no, events }: HistoryRow): void {
  notifier.changed({ orgId, no, plan: events.some(([kind]) => kind === 'schedule.changed') })
}

/** What this node says of itself. */
export const cardOf = (parts: NodeParts): NodeCard => ({
  id: parts.id(),
  executors: [...parts.ctx.executors.keys()],
  lanes: Object.fromEntries(parts.lanes.sizes()),
  draining: parts.state.draining,
  program: parts.ctx.program,
  keyIds: parts.ctx.keyIds?.() ?? [],
})

/** Hands a turn on to everybody who listens, once and in order. */
export function publish(parts: NodeParts, orgId: OrgId, turn: HistoryRow): void {
  const last = parts.published.get(orgId)
  if (last !== undefined && turn.no <= last) return
  parts.published.set(orgId, turn.no)
  for (const hear of [...parts.hearers]) hear(orgId, turn)
}

function endWhatMustEnd(parts: NodeParts, { office, result, reloaded }: SettledTurn): void {
  const memory = office.memory()
  if (memory === null) return
  const look = (runId: RunId): void => {
    const execution = parts.executions.ofRun(runId)
    if (execution?.orgId !== office.orgId || execution.isAborted()) return
    const reason = reasonToEnd(memory, execution)
    if (reason !== null) execution.abort(reason)
  }
  for (const run of result.changed) look(run.id)
  if (reloaded || result.heard.length > 0) for (const { runId } of parts.executions.all()) look(runId)
}

/** Resets the sessions that have work active on this node, or that somebody in this process waits in. */
export async function resetSessions(parts: NodeParts, waitedIn: Iterable<readonly [OrgId, SessionKey]>): Promise<void> {
  const sessions = new Map<string, readonly [OrgId, SessionKey]>()
  for (const { orgId, sessionKey } of parts.executions.all())
    if (sessionKey !== null) sessions.set(`${orgId} ${sessionKey}`, [orgId, sessionKey as SessionKey])
  for (const pair of waitedIn) sessions.set(pair.join(' '), pair)
  await Promise.all([...sessions.values()].map(([orgId, key]) => parts.officeOf(orgId).take(resetWork(orgId, key))))
}
