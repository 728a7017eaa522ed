import { stallPeriodMs } from '../../domain/alerts.ts'
import type { OrgId } from '../../domain/ids.ts'
import { earlier, instant } from '../../domain/instant.ts'
import { smallest } from '../../domain/long-lists.ts'
import { fireCommands } from '../commands/engine-commands.ts'
import type { Deliveries } from '../deliveries.ts'
import type { BackgroundLoop } from './background.ts'
import type { Backfills } from './backfills.ts'
import {
  compareLoaded,
  dropIdleOrgs,
  wakePendingOrgs,
  applyChangedOrgs,
  refreshOrgs,
  applyAnnounced,
} from './changes.ts'
import type { ChannelLoop } from './channels.ts'
import type { Heartbeats } from './heartbeats.ts'
import { createLoop, type Loop } from './loop.ts'
import { settleOrphans, watchNodes, watchWorkers } from './node-watch.ts'
import { readChanges } from './notifier.ts'
import type { NodeParts } from '../node-parts.ts'
import { nodeRecordOf, recheckAfterOutage } from '../node.ts'
import { limitOrgs } from '../org-limits.ts'
import { wakeReady } from '../reports.ts'
import { findDue, findNextOccurrence } from '../transaction/reads.ts'
import type { LaneRules } from '../../features/lanes/service.ts'
import { loadBacklogSupport } from '../../features/nodes/store.ts'
import { joinDeployment, leaveDeployment, renewLease } from '../../features/nodes/membership.ts'
import { renewWaitingWorkers } from '../../features/workers/service.ts'

/** A notification of the listening connection. */
type NodeNotification = Parameters<Parameters<NodeParts['ctx']['database']['listen']>[1]>[0]

/** Notifications of other nodes that are not applied yet. */
interface Inbox {
  /** Returns whether there is something to apply. */
  readonly receive: (notification: NodeNotification) => boolean
  readonly apply: () => Promise<void>
}

function createInbox(parts: NodeParts): Inbox {
  let changed = new Map<OrgId, number>()
  // A notification did not name its orgs, or the listening connection was away.
  let hasUnknownOrgs = false
  return {
    receive: (notification) => {
      if (notification.kind === 'was_away') {
        recheckAfterOutage(parts)
        hasUnknownOrgs = true
        return true
      }
      const announced = readChanges(notification.payload)
      if (announced === null) hasUnknownOrgs = true
      else if (announced.nodeId === parts.id()) return false
      else for (const [orgId, no] of announced.changed) changed.set(orgId, Math.max(no, changed.get(orgId) ?? 0))
      return true
    },
    apply: async () => {
      const [orgs, look] = [changed, hasUnknownOrgs]
      changed = new Map()
      hasUnknownOrgs = false
      if (orgs.size > 0) await applyAnnounced(parts, orgs)
      if (!look) return
      await applyChangedOrgs(parts)
      await compareLoaded(parts)
    },
  }
}

/** Runs the periodic passes of a node. What they do is decided elsewhere. */
export interface Loops {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Something has changed: run the watch pass now instead of at the next period. */
  readonly wake: () => void
  readonly wakeSchedules: () => void
}

export interface LoopsContext {
  readonly parts: NodeParts
  /** Deletes expired rows; returns whether there are more. */
  readonly prune: () => Promise<boolean>
  readonly pruneEveryMs: number
  /** Left out: results are not sent. */
  readonly deliveries?: Deliveries
  /** Left out: no heartbeats. */
  readonly heartbeats?: Heartbeats
  /** Left out: backfills do not advance. */
  readonly backfills?: Backfills
  /** Left out: results of work in the background are not fetched. */
  readonly background?: BackgroundLoop
  /** Left out: channels are not served. */
  readonly channels?: ChannelLoop
  /** Checks for stalled engines and late runs. Left out: neither is checked. */
  readonly alertPass?: () => Promise<void>
  /** The lane sizes set for all nodes, and whether there are several orgs to share lanes. */
  readonly laneRules: () => Promise<LaneRules>
}

export function createLoops(context: LoopsContext): Loops {
  const { parts, prune, pruneEveryMs, laneRules, alertPass } = context
  const { deliveries, heartbeats, backfills, channels, background } = context
  const { ctx, health } = parts
  const onError = (error: unknown, failures: number): number => {
    health.failed(error)
    return Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2)
  }
  const loop = (everyMs: number, pass: () => Promise<number | undefined>): Loop =>
    createLoop(pass, { everyMs, sleep: ctx.sleep, pause: parts.pause, onError })
  const { schedules, node } = ctx.settings()
  const schedulesLoop = loop(schedules.pollMs, () => scan(parts))
  const watchLoop = loop(schedules.pollMs, () => watchPass(parts, laneRules))
  const leaseLoop = loop(node.renewMs, () => leasePass(parts))
  const pruneLoop = loop(pruneEveryMs, async () => ((await prune()) ? 0 : undefined))
  const inbox = createInbox(parts)
  const inboxLoop = loop(INBOX_CHECK_MS, () => inboxPass(parts, inbox))
  const receive = (notification: NodeNotification): void => {
    if (inbox.receive(notification)) inboxLoop.wake()
  }
  const alertLoop = loop(stallPeriodMs(schedules.pollMs), async () => {
    await alertPass?.()
    return undefined
  })
  const loops = [alertLoop, watchLoop, inboxLoop, schedulesLoop, leaseLoop, pruneLoop]
  const others = [deliveries, heartbeats, backfills, channels, background].filter((one) => one !== undefined)
  const wakePlans = (): void => {
    schedulesLoop.wake()
    backfills?.wake()
  }
  const subscriptions: { readonly stop: () => Promise<void> }[] = []
  return {
    start: async () => {
      const askedAt = ctx.clock.counter()
      parts.state.joinedAt = await joinDeployment(parts.control, nodeRecordOf(parts), node.leaseMs)
      ctx.clock.sync(parts.state.joinedAt, askedAt)
      applyLaneRules(parts, await laneRules())
      parts.plans.wake = wakePlans
      const { turn: transaction, plan } = ctx.channels
      subscriptions.push(await ctx.database.listen(transaction, receive), await ctx.database.listen(plan, wakePlans))
      recordScan(parts)
      for (const one of [...loops, ...others]) one.start()
    },
    stop: async () => {
      await Promise.all([...loops, ...others].map((one) => one.stop()))
      for (const one of subscriptions) await one.stop().catch(() => undefined)
      await leaveDeployment(parts.control, parts.id()).catch(() => undefined)
    },
    wake: watchLoop.wake,
    wakeSchedules: wakePlans,
  }
}

/** One pass over due schedules, timed for the meter. */
async function scan(parts: NodeParts): Promise<number | undefined> {
  const { clock, meter } = parts.ctx
  const began = clock.counter()
  const waitMs = await firePass(parts)
  recordScan(parts)
  meter?.scanned(clock.counter() - began)
  return waitMs
}

/** Records that the engine has looked for due schedules, so it is not stalled. */
function recordScan({ ctx: { clock }, state }: NodeParts): void {
  state.scan = { at: clock.now(), counter: clock.counter() }
}

const MAX_TRANSACTION_MS = 300_000

/**
 * Decides what is due, each org in its own transactions, and returns when to run next. It waits neither for an org nor
 * for a run.
 */
export async function firePass(parts: NodeParts): Promise<number | undefined> {
  const { ctx, health } = parts
  if (parts.state.draining) return undefined
  const { fire } = parts.submitted
  const { firing } = parts.state
  const now = ctx.clock.now()
  const busy = fire.busy()
  for (const orgId of firing.keys()) if (!busy.includes(orgId)) firing.delete(orgId)
  const due = await findDue(parts.control, { since: parts.state.decidedUpTo, except: busy }, now)
  health.answered()
  for (const [orgId, { ids, first }] of due.byOrg) {
    firing.set(orgId, first)
    fire.submitAll(fireCommands(orgId, ids), () => {
      parts.plans.wake()
    })
  }
  if (due.more) return 0
  // No transaction lives so long that it could still write an earlier occurrence; schedules of busy orgs may be older.
  parts.state.decidedUpTo = instant(smallest([earlier(now, MAX_TRANSACTION_MS), ...firing.values()]))
  const next = await findNextOccurrence(parts.control, { since: parts.state.decidedUpTo, except: fire.busy() })
  return next === null ? undefined : Math.max(0, next - ctx.clock.now())
}

/** Notifications are only hints; the watch pass finds the same changes by itself. */
const INBOX_CHECK_MS = 3_600_000

/** With many notifications a second, one pass per gap catches up with all of them. */
const INBOX_GAP_MS = 20

/** Applies what other nodes have announced. */
async function inboxPass(parts: NodeParts, inbox: Inbox): Promise<number | undefined> {
  await inbox.apply()
  await parts.ctx.sleep(INBOX_GAP_MS, parts.stopping.signal)
  return undefined
}

/** Applies changes of other nodes, and settles what lost nodes and workers held. */
export async function watchPass(parts: NodeParts, laneRules: () => Promise<LaneRules>): Promise<number | undefined> {
  applyLaneRules(parts, await laneRules())
  parts.state.allReadBacklog ||= await loadBacklogSupport(parts.control)
  await applyChangedOrgs(parts)
  await wakePendingOrgs(parts)
  await compareLoaded(parts)
  dropIdleOrgs(parts)
  await watchNodes(parts)
  await watchWorkers(parts)
  settleOrphans(parts)
  // Catches missed wakes: a free slot and a run for it meet here at the latest.
  if (!parts.state.draining) wakeReady(parts)
  return undefined
}

/** Applies the lane sizes set for all nodes. Lanes that are known stay; none is removed. */
function applyLaneRules(parts: NodeParts, { sizes, hasManyOrgs }: LaneRules): void {
  parts.state.hasManyOrgs = hasManyOrgs
  limitOrgs(parts)
  const before = parts.lanes.sizes()
  if ([...sizes].every(([name, size]) => before.get(name) === size)) return
  parts.lanes.resize(sizes)
  refreshOrgs(parts)
}

/** Renews the lease, or rejoins under a new id when another node has declared this one lost. */
export async function leasePass(parts: NodeParts): Promise<number | undefined> {
  const { ctx, health } = parts
  const renewed = await renewLease(parts.control, nodeRecordOf(parts), ctx.settings().node.leaseMs)
  health.answered()
  if (!renewed) await rejoinNodes(parts)
  // Nothing started while the lease had lapsed, and no other event wakes the runs that became ready since.
  else if (!parts.state.draining) wakeReady(parts)
  await renewWaitingWorkers(parts.control, parts.workers.waiting(), ctx.settings().node.leaseMs)
  return undefined
}

/** Another node has declared this one lost, so its attempts are no longer its own. It rejoins under a new id. */
async function rejoinNodes(parts: NodeParts): Promise<void> {
  const { ctx } = parts
  const before = parts.id()
  for (const execution of parts.executions.all()) execution.abort('lease_lost')
  parts.setId(ctx.newNodeId())
  await joinDeployment(parts.control, nodeRecordOf(parts), ctx.settings().node.leaseMs)
  ctx.log({
    level: 'warn',
    message: 'This node was declared lost and rejoins under a new id',
    facts: { before, now: parts.id() },
  })
  for (const orgId of parts.actors.keys()) parts.wakes.add(orgId)
}
