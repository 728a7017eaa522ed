import { type AlertDecision, decideStall, isLate, stallPeriodMs } from '../../domain/alerts.ts'
import { isBackfilled } from '../../core/backfill/backfill.ts'
import type { OrgId, RunId } from '../../domain/ids.ts'
import { earlier, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import type { Desk } from '../../service/desk/desk.ts'
import type { Ports } from '../../service/ports.ts'
import { saveStall, type ScanRow, type Stall, tellStall, watchScans } from '../../service/stalls.ts'
import { lateWork } from '../../service/turn/works.ts'
import type { NodeParts } from '../node-parts.ts'

/** What watching over engines needs. */
export interface StallContext {
  readonly parts: NodeParts
  /** Not the connections of the engine: those may be what it waits for. */
  readonly database: Parameters<typeof saveStall>[0]
  readonly newId: Ports['newId']
  /** The org that hears of it: the operator's. */
  readonly orgId: OrgId
}

/** How long an engine that does not look counts as alive. */
function limitsOf({ ctx }: NodeParts): { readonly periodMs: number; readonly stallPeriods: number } {
  const { schedules, alerts } = ctx.settings()
  return { periodMs: stallPeriodMs(schedules.pollMs), stallPeriods: alerts.stallPeriods }
}

/** Whether this node has not looked at what is due for too long. */
export function isStalled(parts: NodeParts): boolean {
  const { scan, draining, stopped } = parts.state
  if (scan === null || draining || stopped) return false
  const { periodMs, stallPeriods } = limitsOf(parts)
  return parts.ctx.clock.counter() - scan.counter >= periodMs * stallPeriods
}

/**
 * Says when this node last looked, and sees whether every node did: raises an alert about each that does not, and clears
 * it when it does again or is gone. Whoever has just woken up from a sleep judges nobody.
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
      const decision = judge(parts, row, now)
      if (decision.kind === 'clear' || (decision.kind === 'raise' && mayRaise))
        await follow(ctx, row, { decision, now })
    }
  }
}

function judge(parts: NodeParts, row: ScanRow, now: Instant): AlertDecision {
  const raised = row.alertId !== null
  if (!row.known || row.lost)
    return raised
      ? { kind: 'clear', why: because('node_gone', 'node.lease_ms', { node: row.nodeId }) }
      : { kind: 'none' }
  const isOwn = row.nodeId === parts.id()
  const lastScanAt = isOwn ? (parts.state.scan?.at ?? null) : row.scannedAt
  if (lastScanAt === null) return { kind: 'none' }
  const { periodMs, stallPeriods } = limitsOf(parts)
  // Others say when they looked once in a period, so what is known of them is up to a period old.
  const seen = isOwn ? now : earlier(now, periodMs)
  // A node that goes down looks no more.
  const lately = row.draining ? seen : lastScanAt
  return decideStall({ lastScanAt: lately, now: seen, periodMs, stallPeriods, raised })
}

interface Following {
  readonly decision: Exclude<AlertDecision, { readonly kind: 'none' }>
  readonly now: Instant
}

async function follow(ctx: StallContext, row: ScanRow, { decision, now }: Following): Promise<void> {
  const { parts, database, newId, orgId } = ctx
  const raises = decision.kind === 'raise'
  const id = row.alertId ?? newId('alert', now)
  const stall: Stall = { change: raises ? 'raised' : 'cleared', id, nodeId: row.nodeId, why: decision.why }
  if (!(await saveStall(database, orgId, { stall, now }))) return
  parts.outbox.wake()
  const facts = { node: row.nodeId, alert: id, ...decision.why.evidence }
  if (raises) parts.ctx.log({ level: 'error', message: 'The engine of a node stands still', facts })
  else parts.ctx.log({ level: 'info', message: 'The engine of a node stands still no more', facts })
  tell(parts, orgId, stall)
}

/** Who watches is told by a turn, which nobody here waits for: it may be what the engine stands still for. */
export function tell(parts: NodeParts, orgId: OrgId, stall: Stall): void {
  parts
    .officeOf(orgId)
    .take(tellStall(orgId, stall), true)
    .catch((error: unknown) => {
      parts.ctx.log({ level: 'warn', message: 'An alert could not be told', facts: { error: String(error) } })
    })
}

/** Looks whether engines stand still and runs are late. */
export function createAlertPass(ctx: StallContext): () => Promise<void> {
  const [stallPass, latePass] = [createStallPass(ctx), createLatePass(ctx.parts)]
  return async () => {
    await stallPass()
    latePass()
  }
}

/** Looking takes at most this share of the time, however much is pending. */
const SHARE = 50

/**
 * Looks for runs that still wait although their schedule does not let them be so late. Everything it looks at is in
 * memory; only when there is something to tell does it hand in work, which nobody waits for.
 */
function createLatePass(parts: NodeParts): () => void {
  const { clock } = parts.ctx
  const handed = parts.handedIn('late runs')
  let notBefore = -Infinity
  return () => {
    const began = clock.counter()
    if (began < notBefore) return
    for (const office of parts.offices.values()) {
      const desk = handed.isBusy(office.orgId) ? undefined : office.memory()?.desk
      const late = desk === undefined ? [] : lateRuns(desk, clock.now())
      if (late.length > 0) handed.hand(lateWork(office.orgId, late))
    }
    notBefore = began + (clock.counter() - began) * SHARE
  }
}

function lateRuns(desk: Desk, now: Instant): readonly RunId[] {
  const found: RunId[] = []
  for (const [id, runs] of desk.bySchedule) {
    const row = desk.schedules.get(id)
    const limit = row?.rules.maxLatenessSeconds ?? null
    if (limit === null || row?.alerts?.late !== undefined) continue
    for (const run of runs) {
      const { nominal, startedAt } = run
      // What a backfill makes up for is late on purpose.
      if (nominal === null || startedAt !== null || isBackfilled(run)) continue
      if (isLate(nominal, now, limit)) found.push(run.id)
    }
  }
  return found
}
