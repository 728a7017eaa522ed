import type { Happened } from '../../service/events.ts'
import type { RunOwners } from '../../service/live-port.ts'
import type { Client } from './client.ts'
import { isWanted, runIn, sessionIn, type Wanted } from '../../server/events/filter.ts'

/** Those who want the same, and what they have not been sent yet. */
export interface Group {
  readonly wanted: Wanted
  readonly clients: Set<Client>
  parts: { readonly no: number; text: string }[]
}

/** Finds the groups that an event may be for without asking all of them: hundreds may each wait for something of their own. */
export interface Directory {
  readonly groups: ReadonlyMap<string, Group>
  /** The group of those who want this, made if need be. */
  readonly groupOf: (wanted: Wanted) => Group
  readonly remove: (group: Group) => void
  /** Calls with each group that wants the event. */
  readonly visit: (event: Happened, owners: RunOwners | undefined, call: (group: Group) => void) => void
}

/** Each group is listed once, under the narrowest thing it asks for; only who asks for nothing narrower, under kinds. */
interface Indexes {
  readonly run: Index
  readonly session: Index
  readonly schedule: Index
  readonly agent: Index
  readonly kind: Index
}

type Index = Map<string, Set<Group>>

export function createDirectory(): Directory {
  const groups = new Map<string, Group>()
  const indexes: Indexes = {
    ...{ run: new Map(), session: new Map(), schedule: new Map(), agent: new Map(), kind: new Map() },
  }
  return {
    groups,
    groupOf: (wanted) => {
      const known = groups.get(wanted.name)
      if (known !== undefined) return known
      const made: Group = { wanted, clients: new Set(), parts: [] }
      groups.set(wanted.name, made)
      for (const [index, key] of placesOf(indexes, wanted)) put(index, key, made)
      return made
    },
    remove: (group) => {
      groups.delete(group.wanted.name)
      for (const [index, key] of placesOf(indexes, group.wanted)) take(index, key, group)
    },
    visit: (event, owners, call) => {
      const [kind, subject] = event
      const ask = (found: ReadonlySet<Group> | undefined): void => {
        if (found !== undefined) for (const group of found) if (isWanted(group.wanted, event, owners)) call(group)
      }
      ask(indexes.kind.get(kind))
      if (indexes.run.size > 0) ask(indexes.run.get(runIn(event) ?? ''))
      if (kind === 'schedule.changed') ask(indexes.schedule.get(subject))
      if (kind === 'heartbeat.changed') ask(indexes.agent.get(subject))
      if (indexes.session.size > 0) ask(indexes.session.get(sessionIn(event, owners) ?? ''))
      if (owners === undefined) return
      if (owners.scheduleId !== null) ask(indexes.schedule.get(owners.scheduleId))
      ask(indexes.agent.get(owners.agentId))
    },
  }
}

function placesOf(indexes: Indexes, wanted: Wanted): readonly (readonly [Index, string])[] {
  const { runId, session, scheduleId, agentId, kinds } = wanted
  if (runId !== null) return [[indexes.run, runId]]
  if (session !== null) return [[indexes.session, session]]
  if (scheduleId !== null) return [[indexes.schedule, scheduleId]]
  if (agentId !== null) return [[indexes.agent, agentId]]
  return [...kinds].map((kind) => [indexes.kind, kind] as const)
}

function put(index: Index, key: string, group: Group): void {
  const known = index.get(key)
  if (known === undefined) index.set(key, new Set([group]))
  else known.add(group)
}

function take(index: Index, key: string, group: Group): void {
  const known = index.get(key)
  if (known?.delete(group) === true && known.size === 0) index.delete(key)
}
