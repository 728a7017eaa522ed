import type { OrgId, RunId } from '../../domain/ids.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { EventEntry } from '../../features/events/service.ts'
import type { RunOwners } from '../../engine/live-port.ts'
import { runOfEvent } from './filter.ts'

/** The owners of the runs that events are about. */
export interface OwnerCache {
  /** Undefined if the event is not about a run, or its owners are not known. */
  readonly of: (event: EventEntry) => RunOwners | undefined
  /** The ids of runs whose owners must be looked up. */
  readonly unknown: (events: readonly EventEntry[]) => readonly string[]
  /** Stores the result of a lookup, including runs that were not found. */
  readonly store: (requested: readonly string[], found: ReadonlyMap<string, RunOwners>) => void
  /** Called after events were sent: forgets runs that have ended, because no more events follow. */
  readonly forgetEnded: (events: readonly EventEntry[]) => void
}

/** The maximum number of cached runs; the oldest are evicted and looked up again. */
const MAX_CACHED_RUNS = 100_000

const NO_RUN_IDS: readonly string[] = []

/**
 * Caches the owners of a run from its first event until it has ended. `live` returns the pending runs in the memory of
 * the node, so that lookups are rare.
 */
export function createOwnerCache(orgId: OrgId, live: (orgId: OrgId, id: RunId) => RunOwners | undefined): OwnerCache {
  const known = new Map<string, RunOwners | null>()
  const remember = (id: string, owners: RunOwners | null): void => {
    if (known.size >= MAX_CACHED_RUNS)
      for (const [first] of known) {
        known.delete(first)
        break
      }
    known.set(id, owners)
  }
  const isKnown = (id: string): boolean => {
    if (known.has(id)) return true
    const found = live(orgId, id as RunId)
    if (found === undefined) return false
    const { agentId, sessionKey, scheduleId, owner } = found
    remember(id, { agentId, sessionKey, scheduleId, owner })
    return true
  }
  return {
    of: (event) => known.get(runOfEvent(event) ?? '') ?? undefined,
    unknown: (events) => {
      let ids: Set<string> | null = null
      for (const event of events) {
        const run = runOfEvent(event)
        if (run !== null && !isKnown(run)) (ids ??= new Set()).add(run)
      }
      return ids === null ? NO_RUN_IDS : [...ids]
    },
    store: (requested, found) => {
      for (const id of requested) remember(id, found.get(id) ?? null)
    },
    forgetEnded: (events) => {
      for (const [kind, subject, data] of events)
        if (kind === 'run.changed' && isTerminal(data['status'] as RunState)) known.delete(subject)
    },
  }
}
