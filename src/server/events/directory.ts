import type { EventEntry } from '../../features/events/service.ts'
import type { RunOwners } from '../../engine/live-port.ts'
import type { EventClient } from './client.ts'
import { matchesSubscription, runOfEvent, sessionOfEvent, type Subscription } from './filter.ts'

/** Clients with the same filter, and their unsent events. */
export interface SubscriberGroup {
  readonly subscription: Subscription
  readonly clients: Set<EventClient>
  parts: { readonly no: number; text: string }[]
}

/**
 * Finds the groups that an event may match without testing all of them: hundreds of groups may each filter by a
 * different object.
 */
export interface Directory {
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

export function createDirectory(): Directory {
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
