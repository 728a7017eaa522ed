import { smallest } from '../domain/long-lists.ts'
import { stallPeriodMs } from '../domain/alerts.ts'
import { earlier, instant } from '../domain/instant.ts'
import type { LaneRules } from '../service/lanes.ts'
import { joinNodes, leaveNodes, renewLease } from '../service/membership.ts'
import { findDue, findNextMoment } from '../service/turn/lookups.ts'
import { renewWaiting } from '../features/workers/service.ts'
import { fireWorks } from '../service/turn/works.ts'
import type { Backfills } from './loops/backfills.ts'
import type { ChannelAttendance } from './channels.ts'
import { compareLoaded, loadPendingOrgs, lookForChanges } from './changes.ts'
import { createHearing, type Heard, type Hearing } from './hearing.ts'
import type { Deliveries } from './deliveries.ts'
import type { Heartbeats } from './loops/heartbeats.ts'
import { dropIdleOrgs, refreshOrgs } from './idle-orgs.ts'
import { createLoop, type Loop } from './loops/loop.ts'
import { cardOf } from './node.ts'
import type { NodeParts } from './node-parts.ts'
import { settleOrphans, watchNodes, watchWorkers } from './loops/node-watch.ts'
import { limitOrgs } from './org-limits.ts'
import { wakeReady } from './reports.ts'

/** When things are looked at. What is done about them is decided elsewhere. */
export interface Loops {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Something has changed: look now instead of at the next period. */
  readonly wake: () => void
  readonly wakeSchedules: () => void
}

export interface LoopsContext {
  readonly parts: NodeParts
  /** Removes what is past its time; answers with whether there is more. */
  readonly prune: () => Promise<boolean>
  readonly pruneEveryMs: number
  /** Left out: nobody carries results. */
  readonly deliveries?: Deliveries
  /** Left out: no agent looks after a checklist by itself. */
  readonly heartbeats?: Heartbeats
  /** Left out: nobody takes backfills further. */
  readonly backfills?: Backfills
  /** Left out: nobody attends to channels. */
  readonly attendance?: ChannelAttendance
  /** Looks whether engines stand still and runs are late. Left out: nobody does. */
  readonly alertPass?: () => Promise<void>
  /** The sizes lanes should have, with those that were set for every node, and whether orgs share them. */
  readonly laneRules: () => Promise<LaneRules>
}

export function createLoops({
  parts,
  prune,
  pruneEveryMs,
  laneRules,
  deliveries,
  heartbeats,
  backfills,
  attendance,
  alertPass,
}: LoopsContext): Loops {
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
  const hearing = createHearing(parts)
  const hearLoop = loop(LONGEST_SILENCE_MS, () => hearPass(parts, hearing))
  const hear = (heard: Heard): void => {
    if (hearing.hear(heard)) hearLoop.wake()
  }
  const alertLoop = loop(stallPeriodMs(schedules.pollMs), async () => {
    await alertPass?.()
    return undefined
  })
  const loops = [alertLoop, watchLoop, hearLoop, schedulesLoop, leaseLoop, pruneLoop]
  const others = [deliveries, heartbeats, backfills, attendance].filter((one) => one !== undefined)
  const wakePlans = (): void => {
    schedulesLoop.wake()
    backfills?.wake()
  }
  const listening: { readonly stop: () => Promise<void> }[] = []
  return {
    start: async () => {
      const askedAt = ctx.clock.counter()
      parts.state.joinedAt = await joinNodes(parts.control, cardOf(parts), node.leaseMs)
      ctx.clock.hear(parts.state.joinedAt, askedAt)
      takeLaneRules(parts, await laneRules())
      parts.plans.wake = wakePlans
      const { turn, plan } = ctx.channels
      listening.push(await ctx.database.listen(turn, hear), await ctx.database.listen(plan, wakePlans))
      noteScan(parts)
      for (const one of [...loops, ...others]) one.start()
    },
    stop: async () => {
      await Promise.all([...loops, ...others].map((one) => one.stop()))
      for (const one of listening) await one.stop().catch(() => undefined)
      await leaveNodes(parts.control, parts.id()).catch(() => undefined)
    },
    wake: watchLoop.wake,
    wakeSchedules: wakePlans,
  }
}

/** A look at what is due, and how long it took for who counts. */
async function scan(parts: NodeParts): Promise<number | undefined> {
  const { clock, meter } = parts.ctx
  const began = clock.counter()
  const waitMs = await firePass(parts)
  noteScan(parts)
  meter?.scanned(clock.counter() - began)
  return waitMs
}

/** The engine has looked: it does not stand still. */
function noteScan({ ctx: { clock }, state }: NodeParts): void {
  state.scan = { at: clock.now(), counter: clock.counter() }
}

const LONGEST_TRANSACTION_MS = 300_000

/** Decides what is due, each org in turns of its own, and says when to look again. Waits neither for an org nor for a run. */
export async function firePass(parts: NodeParts): Promise<number | undefined> {
  const { ctx, health } = parts
  if (parts.state.draining) return undefined
  const { fire } = parts.handed
  const { firing } = parts.state
  const now = ctx.clock.now()
  const busy = fire.busy()
  for (const orgId of firing.keys()) if (!busy.includes(orgId)) firing.delete(orgId)
  const due = await findDue(parts.control, { since: parts.state.decidedUpTo, except: busy }, now)
  health.answered()
  for (const [orgId, { ids, first }] of due.byOrg) {
    firing.set(orgId, first)
    fire.handAll(fireWorks(orgId, ids), () => {
      parts.plans.wake()
    })
  }
  if (due.more) return 0
  // No transaction lives so long that it could still write an earlier moment; what busy orgs have left may be older.
  parts.state.decidedUpTo = instant(smallest([earlier(now, LONGEST_TRANSACTION_MS), ...firing.values()]))
  const next = await findNextMoment(parts.control, { since: parts.state.decidedUpTo, except: fire.busy() })
  return next === null ? undefined : Math.max(0, next - ctx.clock.now())
}

/** Hearing is only a hint; the watch looks at the same things by itself. */
const LONGEST_SILENCE_MS = 3_600_000

/** Whoever is told something many times a second listens so often and no more: each time it catches up with all of it. */
const HEARING_GAP_MS = 20

/** Others have said that they have changed something. */
async function hearPass(parts: NodeParts, hearing: Hearing): Promise<number | undefined> {
  await hearing.takeIn()
  await parts.ctx.sleep(HEARING_GAP_MS, parts.stopping.signal)
  return undefined
}

/** Looks at what others have done, and at others who do nothing any more. */
export async function watchPass(parts: NodeParts, laneRules: () => Promise<LaneRules>): Promise<number | undefined> {
  takeLaneRules(parts, await laneRules())
  await lookForChanges(parts)
  await loadPendingOrgs(parts)
  await compareLoaded(parts)
  dropIdleOrgs(parts)
  await watchNodes(parts)
  await watchWorkers(parts)
  settleOrphans(parts)
  // Whatever was woken in vain, or not at all: a free slot and work for it meet at the latest here.
  if (!parts.state.draining) wakeReady(parts)
  return undefined
}

/** Takes in sizes that were set for every node. What is known stays; lanes are never taken away. */
function takeLaneRules(parts: NodeParts, { sizes, hasManyOrgs }: LaneRules): void {
  parts.state.hasManyOrgs = hasManyOrgs
  limitOrgs(parts)
  const before = parts.lanes.sizes()
  if ([...sizes].every(([name, size]) => before.get(name) === size)) return
  parts.lanes.resize(sizes)
  refreshOrgs(parts)
}

/** Renews the lease, or begins anew when others have taken this node for lost. */
export async function leasePass(parts: NodeParts): Promise<number | undefined> {
  const { ctx, health } = parts
  const renewed = await renewLease(parts.control, cardOf(parts), ctx.settings().node.leaseMs)
  health.answered()
  if (!renewed) await beginAnew(parts)
  // While the lease had lapsed nothing started, and no other event wakes what has been ready since.
  else if (!parts.state.draining) wakeReady(parts)
  await renewWaiting(parts.control, parts.workers.waiting(), ctx.settings().node.leaseMs)
  return undefined
}

/** Others have declared this node lost: what it executes is no longer its own. It begins again under another name. */
async function beginAnew(parts: NodeParts): Promise<void> {
  const { ctx } = parts
  const before = parts.id()
  for (const execution of parts.executions.all()) execution.abort('lease_lost')
  parts.setId(ctx.newNodeId())
  await joinNodes(parts.control, cardOf(parts), ctx.settings().node.leaseMs)
  ctx.log({
    level: 'warn',
    message: 'This node was taken for lost and begins anew',
    facts: { before, now: parts.id() },
  })
  for (const orgId of parts.offices.keys()) parts.wakes.add(orgId)
}
