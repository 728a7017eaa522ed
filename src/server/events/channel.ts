import type { OrgId } from '../../domain/ids.ts'
import type { RunOwners } from '../../engine/live-port.ts'
import type { EventEntry, TransactionEvents } from '../../features/events/service.ts'
import { type EventClient, sendChunk } from './client.ts'
import { matchesSubscription, needsOwners, runOfEvent, sessionOfEvent, type Subscription } from './filter.ts'
import { framesOf, type TransactionFrames, afterTransaction } from './frames.ts'
import type { OwnerCache } from './owners.ts'

/** Clients with the same filter, and their unsent events. */
interface SubscriberGroup {
  readonly subscription: Subscription
  readonly clients: Set<EventClient>
  parts: { readonly no: number; text: string }[]
}

/**
 * Finds the groups that an event may match without testing all of them: hundreds of groups may each filter by a
 * different object.
 */
interface Directory {
  readonly groups: ReadonlyMap<string, SubscriberGroup>
  /** The group of a filter, created if needed. */
  readonly groupOf: (subscription: Subscription) => SubscriberGroup
  readonly remove: (group: SubscriberGroup) => void
  /** Calls back with each group that matches the event. */
  readonly visit: (event: EventEntry, owners: RunOwners | undefined, call: (group: SubscriberGroup) => void) => void
}

/**
 * Each group is indexed once, by the narrowest field of its filter; only groups without such a field are indexed by
 * kind.
 */
interface Indexes {
  readonly run: Index
  readonly session: Index
  readonly schedule: Index
  readonly agent: Index
  readonly kind: Index
}

type Index = Map<string, Set<SubscriberGroup>>

function createDirectory(): Directory {
  const groups = new Map<string, SubscriberGroup>()
  const indexes: Indexes = {
    ...{ run: new Map(), session: new Map(), schedule: new Map(), agent: new Map(), kind: new Map() },
  }
  return {
    groups,
    groupOf: (subscription) => {
      const known = groups.get(subscription.name)
      if (known !== undefined) return known
      const created: SubscriberGroup = { subscription, clients: new Set(), parts: [] }
      groups.set(subscription.name, created)
      for (const [index, key] of indexKeysOf(indexes, subscription)) addToIndex(index, key, created)
      return created
    },
    remove: (group) => {
      groups.delete(group.subscription.name)
      for (const [index, key] of indexKeysOf(indexes, group.subscription)) removeFromIndex(index, key, group)
    },
    visit: (event, owners, call) => {
      const [kind, subject] = event
      const visitGroups = (found: ReadonlySet<SubscriberGroup> | undefined): void => {
        if (found !== undefined)
          for (const group of found) if (matchesSubscription(group.subscription, event, owners)) call(group)
      }
      visitGroups(indexes.kind.get(kind))
      if (indexes.run.size > 0) visitGroups(indexes.run.get(runOfEvent(event) ?? ''))
      if (kind === 'schedule.changed') visitGroups(indexes.schedule.get(subject))
      if (kind === 'heartbeat.changed') visitGroups(indexes.agent.get(subject))
      if (indexes.session.size > 0) visitGroups(indexes.session.get(sessionOfEvent(event, owners) ?? ''))
      if (owners === undefined) return
      if (owners.scheduleId !== null) visitGroups(indexes.schedule.get(owners.scheduleId))
      visitGroups(indexes.agent.get(owners.agentId))
    },
  }
}

function indexKeysOf(indexes: Indexes, subscription: Subscription): readonly (readonly [Index, string])[] {
  const { runId, session, scheduleId, agentId, kinds } = subscription
  if (runId !== null) return [[indexes.run, runId]]
  if (session !== null) return [[indexes.session, session]]
  if (scheduleId !== null) return [[indexes.schedule, scheduleId]]
  if (agentId !== null) return [[indexes.agent, agentId]]
  return [...kinds].map((kind) => [indexes.kind, kind] as const)
}

function addToIndex(index: Index, key: string, group: SubscriberGroup): void {
  const known = index.get(key)
  if (known === undefined) index.set(key, new Set([group]))
  else known.add(group)
}

function removeFromIndex(index: Index, key: string, group: SubscriberGroup): void {
  const known = index.get(key)
  if (known?.delete(group) === true && known.size === 0) index.delete(key)
}

/** An ordered queue of transactions whose run owners are being looked up. */
interface OwnerQueue {
  readonly add: (transaction: TransactionFrames) => void
}

interface OwnerQueueContext {
  readonly owners: OwnerCache
  readonly loadOwners: (ids: readonly string[]) => Promise<ReadonlyMap<string, RunOwners>>
  readonly send: (transaction: TransactionFrames) => void
  /** Transactions were discarded: clients that need them must read them from history. */
  readonly failed: () => void
}

/** The maximum number of queued events; beyond it, reading history is better than keeping them in memory. */
const MAX_QUEUED_EVENTS = 50_000

export function createOwnerQueue(ctx: OwnerQueueContext): OwnerQueue {
  const { owners } = ctx
  let waiting: TransactionFrames[] = []
  let events = 0
  let asking = false
  const removeAll = (): readonly TransactionFrames[] => {
    const all = waiting
    waiting = []
    events = 0
    return all
  }
  const deliver = (transaction: TransactionFrames): void => {
    ctx.send(transaction)
    owners.forgetEnded(transaction.events)
  }
  const giveUp = (): void => {
    removeAll()
    ctx.failed()
  }
  const ask = async (): Promise<void> => {
    asking = true
    try {
      while (waiting.length > 0) {
        const transactions = removeAll()
        const ids = owners.unknown(transactions.flatMap((transaction) => transaction.events))
        if (ids.length > 0) owners.store(ids, await ctx.loadOwners(ids))
        transactions.forEach(deliver)
      }
    } catch {
      giveUp()
    } finally {
      asking = false
    }
  }
  return {
    add: (transaction) => {
      if (!asking && owners.unknown(transaction.events).length === 0) {
        deliver(transaction)
        return
      }
      waiting.push(transaction)
      events += transaction.events.length
      if (events > MAX_QUEUED_EVENTS) giveUp()
      else if (!asking) void ask()
    },
  }
}

/** The dependencies of a channel. */
interface ChannelContext {
  readonly orgId: OrgId
  readonly owners: OwnerCache
  readonly loadOwners: (ids: readonly string[]) => Promise<ReadonlyMap<string, RunOwners>>
  /** Called for a client that must catch up from history. */
  readonly catchUp: (client: EventClient) => void
  /** Calls back soon, at a limited rate. */
  readonly scheduleFlush: (flush: () => void) => void
  readonly maxUnsentBytes: number
}

/**
 * The event clients of an org. Events are serialized once for all clients with the same filter, batched, and sent to
 * each of them as the same bytes. A transaction that no filter matches costs nothing.
 */
export interface Channel {
  readonly clients: Set<EventClient>
  /** The last transaction that was announced or that the first client had received; null before either. */
  readonly announced: () => number | null
  readonly publish: (transaction: TransactionEvents) => void
  /** Makes a client live that has received everything up to `heard`, or more. */
  readonly join: (client: EventClient) => void
  readonly leave: (client: EventClient) => void
  /** The last transaction that a live client has fully received. */
  readonly sentUpTo: (client: EventClient) => number
}

/** Groups that receive a transaction at the same time: at once, or when its run owners are known. */
interface Branch {
  readonly directory: Directory
  /** Groups with unsent events. */
  readonly dirty: Set<SubscriberGroup>
  /** The last transactions that were collected and sent. */
  collected: number
  sent: number
}

const createBranch = (): Branch => ({ directory: createDirectory(), dirty: new Set(), collected: 0, sent: 0 })

export function createChannel(ctx: ChannelContext): Channel {
  const [plain, owned] = [createBranch(), createBranch()]
  const branchOf = (subscription: Subscription): Branch => (needsOwners(subscription) ? owned : plain)
  const sentUpTo = (client: EventClient): number =>
    client.live ? Math.max(client.position.no, branchOf(client.subscription).sent) : client.position.no
  const leave = (client: EventClient): void => {
    if (!client.live) return
    client.position = afterTransaction(sentUpTo(client))
    client.live = false
    const { directory, dirty } = branchOf(client.subscription)
    const group = directory.groups.get(client.subscription.name)
    group?.clients.delete(client)
    if (group?.clients.size !== 0) return
    directory.remove(group)
    dirty.delete(group)
  }
  const sendBack = ({ directory }: Branch): void => {
    const clients = [...directory.groups.values()].flatMap((group) => [...group.clients])
    for (const client of clients) {
      leave(client)
      ctx.catchUp(client)
    }
  }
  const flush = (): void => {
    flushBranch(plain, ctx.maxUnsentBytes)
    flushBranch(owned, ctx.maxUnsentBytes)
  }
  const deliver = (branch: Branch, transaction: TransactionFrames, owners: OwnerCache | null): void => {
    if (collect(branch, transaction, owners)) ctx.scheduleFlush(flush)
  }
  const ownerQueue = createOwnerQueue({
    ...{ owners: ctx.owners, loadOwners: ctx.loadOwners, failed: () => sendBack(owned) },
    send: (transaction) => deliver(owned, transaction, ctx.owners),
  })
  let announced: number | null = null
  return {
    clients: new Set(),
    ...{ announced: () => announced, leave, sentUpTo },
    publish: (transaction) => {
      const isGap = announced !== null && transaction.no > announced + 1
      announced = Math.max(announced ?? 0, transaction.no)
      if (isGap) {
        flush()
        sendBack(plain)
        sendBack(owned)
      }
      const [hasPlain, hasOwned] = [plain.directory.groups.size > 0, owned.directory.groups.size > 0]
      if (!hasPlain && !hasOwned) return
      const frames = framesOf(ctx.orgId, transaction)
      if (hasPlain) deliver(plain, frames, null)
      if (hasOwned) ownerQueue.add(frames)
    },
    join: (client) => {
      branchOf(client.subscription).directory.groupOf(client.subscription).clients.add(client)
      client.live = true
      // The first live client defines the position of the channel.
      announced ??= client.position.no
    },
  }
}

/** Collects the events of a transaction for each group. Returns whether there is anything to send. */
function collect(branch: Branch, transaction: TransactionFrames, owners: OwnerCache | null): boolean {
  const { directory, dirty } = branch
  const { no, events } = transaction
  let at = 0
  const add = (group: SubscriberGroup): void => {
    const last = group.parts.at(-1)
    if (last?.no === no) last.text += transaction.text(at)
    else group.parts.push({ no, text: transaction.text(at) })
    dirty.add(group)
  }
  for (const event of events) {
    directory.visit(event, owners?.of(event), add)
    at += 1
  }
  branch.collected = Math.max(branch.collected, no)
  if (dirty.size > 0) return true
  branch.sent = branch.collected
  return false
}

function flushBranch(branch: Branch, maxUnsentBytes: number): void {
  branch.sent = branch.collected
  for (const group of branch.dirty) flushGroup(group, maxUnsentBytes)
  branch.dirty.clear()
}

function flushGroup(group: SubscriberGroup, maxUnsentBytes: number): void {
  const { parts } = group
  group.parts = []
  const first = parts[0]?.no ?? 0
  const textOf = (hasPlain: SubscriberGroup['parts']): Buffer => Buffer.from(hasPlain.map(({ text }) => text).join(''))
  const all = textOf(parts)
  for (const client of [...group.clients]) {
    const { no } = client.position
    // A client that has just caught up may already have received the first parts.
    const own = no < first ? all : textOf(parts.filter((part) => part.no > no))
    if (own.length > 0) sendChunk(client, own, maxUnsentBytes)
  }
}
