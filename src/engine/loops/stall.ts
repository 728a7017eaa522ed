import { type AlertDecision, decideStall, isLate, MAX_UNSERVED_MS, stallPeriodMs } from '../../domain/alerts.ts'
import { isWorkerKey } from '../../domain/agent.ts'
import { isBackfilled } from '../../domain/schedule/backfill.ts'
import type { OrgId, RunId } from '../../domain/ids.ts'
import { earlier, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import type { OrgState } from '../org-state/org-state.ts'
import type { Ports } from '../ports.ts'
import {
  saveStallAlert,
  type ScanRow,
  type EngineStall,
  stallEventCommand,
  watchScans,
} from '../../features/nodes/service.ts'
import { type IsServed, unservedCommand, unservedRuns } from '../commands/alerts.ts'
import { lateRunsCommand } from '../commands/engine-commands.ts'
import { loadAllOpenAlerts } from '../../features/alerts/store.ts'
import type { NodeParts } from '../node-parts.ts'

/** What the checks for stalled engines need. */
export interface StallContext {
  readonly parts: NodeParts
  /** Not the engine's connections, which may be what it is stalled by. */
  readonly database: Parameters<typeof saveStallAlert>[0]
  readonly newId: Ports['newId']
  /** The org that gets the alerts: the operator's. */
  readonly orgId: OrgId
}

/** How long an engine may go without looking for due schedules. */
function limitsOf({ ctx }: NodeParts): { readonly periodMs: number; readonly stallPeriods: number } {
  const { schedules, alerts } = ctx.settings()
  return { periodMs: stallPeriodMs(schedules.pollMs), stallPeriods: alerts.stallPeriods }
}

/** Whether this node has not looked for due schedules for too long. */
export function isStalled(parts: NodeParts): boolean {
  const { scan, draining, stopped } = parts.state
  if (scan === null || draining || stopped) return false
  const { periodMs, stallPeriods } = limitsOf(parts)
  return parts.ctx.clock.counter() - scan.counter >= periodMs * stallPeriods
}

/**
 * Records when this node last looked for due schedules and checks every node: raises an alert for each that has
 * stalled, and clears it when the node recovers or is gone. Right after a sleep of this machine no alert is raised.
 */
export function createStallPass(ctx: StallContext): () => Promise<void> {
  const { parts, database, orgId } = ctx
  const { clock } = parts.ctx
  let lastPass = clock.counter()
  return async () => {
    const { periodMs, stallPeriods } = limitsOf(parts)
    const isAwake = clock.counter() - lastPass < 2 * periodMs
    lastPass = clock.counter()
    const scannedAt = parts.state.scan?.at ?? null
    const { now, rows } = await watchScans(database, { nodeId: parts.id(), scannedAt, orgId })
    parts.health.answered()
    if (now === null) return
    const mayRaise = isAwake && parts.health.steadyMs() >= periodMs * stallPeriods && !parts.state.draining
    for (const row of rows) {
      const decision = decideStallAlert(parts, row, now)
      if (decision.kind === 'clear' || (decision.kind === 'raise' && mayRaise))
        await applyStallDecision(ctx, row, { decision, now })
    }
  }
}

function decideStallAlert(parts: NodeParts, row: ScanRow, now: Instant): AlertDecision {
  const raised = row.alertId !== null
  if (!row.known || row.lost)
    return raised
      ? { kind: 'clear', why: because('node_gone', 'node.lease_ms', { node: row.nodeId }) }
      : { kind: 'none' }
  const isOwn = row.nodeId === parts.id()
  const lastScanAt = isOwn ? (parts.state.scan?.at ?? null) : row.scannedAt
  if (lastScanAt === null) return { kind: 'none' }
  const { periodMs, stallPeriods } = limitsOf(parts)
  // Other nodes record their pass once per period, so the known time is up to a period old.
  const seen = isOwn ? now : earlier(now, periodMs)
  // A draining node stops looking for due schedules.
  const lately = row.draining ? seen : lastScanAt
  return decideStall({ lastScanAt: lately, now: seen, periodMs, stallPeriods, raised })
}

interface StallDecision {
  readonly decision: Exclude<AlertDecision, { readonly kind: 'none' }>
  readonly now: Instant
}

async function applyStallDecision(ctx: StallContext, row: ScanRow, { decision, now }: StallDecision): Promise<void> {
  const { parts, database, newId, orgId } = ctx
  const raises = decision.kind === 'raise'
  const id = row.alertId ?? newId('alert', now)
  const stall: EngineStall = { change: raises ? 'raised' : 'cleared', id, nodeId: row.nodeId, why: decision.why }
  if (!(await saveStallAlert(database, orgId, { stall, now }))) return
  parts.outbox.wake()
  const facts = { node: row.nodeId, alert: id, ...decision.why.evidence }
  if (raises) parts.ctx.log({ level: 'error', message: 'The engine of a node has stalled', facts })
  else parts.ctx.log({ level: 'info', message: 'The engine of a node is no longer stalled', facts })
  publishStall(parts, orgId, stall)
}

/** Publishes the alert by a command. Nothing waits for it, because a stalled engine may not execute it. */
export function publishStall(parts: NodeParts, orgId: OrgId, stall: EngineStall): void {
  parts
    .actorOf(orgId)
    .execute(stallEventCommand(orgId, stall), true)
    .catch((error: unknown) => {
      parts.ctx.log({ level: 'warn', message: 'An alert could not be published', facts: { error: String(error) } })
    })
}

/** Checks for stalled engines, late runs, and runs that nothing can execute. */
export function createAlertPass(ctx: StallContext): () => Promise<void> {
  const [stallPass, latePass, unservedPass] = [createStallPass(ctx), createLatePass(ctx.parts), createUnservedPass(ctx)]
  return async () => {
    await stallPass()
    latePass()
    await unservedPass()
  }
}

const UNSERVED_PASS_MS = 15_000

/** Looks for runs that no connected node or worker can execute, and for alerts about such runs that are over. */
function createUnservedPass({ parts, database }: StallContext): () => Promise<void> {
  const { clock } = parts.ctx
  const commands = parts.loopCommands('unserved runs')
  let notBefore = -Infinity
  return async () => {
    const began = clock.counter()
    if (began < notBefore || parts.state.draining) return
    const now = clock.now()
    const affected = new Set((await loadAllOpenAlerts(database, 'runs_unserved')).map(({ orgId }) => orgId))
    for (const { orgId, loaded } of parts.actors.values()) {
      const state = loaded()?.state
      const unserved = state === undefined ? [] : [...unservedRuns(state, isServedBy(parts, orgId)).values()]
      if (unserved.some(({ since }) => now - since >= MAX_UNSERVED_MS)) affected.add(orgId)
    }
    for (const orgId of affected)
      if (!commands.isBusy(orgId)) commands.submit(unservedCommand(orgId, isServedBy(parts, orgId)))
    notBefore = clock.counter() + Math.max(UNSERVED_PASS_MS, (clock.counter() - began) * LATE_PASS_SHARE)
  }
}

const isServedBy =
  ({ workers, capabilities, peers }: NodeParts, orgId: OrgId): IsServed =>
  (agent, key) =>
    isWorkerKey(key)
      ? workers.serving(orgId, agent).length > 0
      : capabilities.canExecute(key) || peers.executors.has(key)

/** The check takes at most one part in this many of the time, however much is pending. */
const LATE_PASS_SHARE = 50

/**
 * Looks for runs that wait for longer than their schedule allows. It reads only memory, and submits a command only when
 * there is an alert to raise.
 */
function createLatePass(parts: NodeParts): () => void {
  const { clock } = parts.ctx
  const commands = parts.loopCommands('late runs')
  let notBefore = -Infinity
  return () => {
    const began = clock.counter()
    if (began < notBefore) return
    for (const actor of parts.actors.values()) {
      const state = commands.isBusy(actor.orgId) ? undefined : actor.loaded()?.state
      const late = state === undefined ? [] : lateRuns(state, clock.now())
      if (late.length > 0) commands.submit(lateRunsCommand(actor.orgId, late))
    }
    notBefore = began + (clock.counter() - began) * LATE_PASS_SHARE
  }
}

function lateRuns(state: OrgState, now: Instant): readonly RunId[] {
  const found: RunId[] = []
  for (const [id, runs] of state.bySchedule) {
    const row = state.schedules.get(id)
    const limit = row?.rules.maxLatenessSeconds ?? null
    if (limit === null || row?.alerts?.late !== undefined) continue
    for (const run of runs) {
      const { nominal, startedAt } = run
      // Runs of a backfill are late on purpose.
      if (nominal === null || startedAt !== null || isBackfilled(run)) continue
      if (isLate(nominal, now, limit)) found.push(run.id)
    }
  }
  return found
}
