import type { OrgId, RunId } from '../../domain/ids.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { Happened } from '../../service/events.ts'
import type { RunOwners } from '../../service/live-port.ts'
import { runIn } from '../../server/events/filter.ts'

/** Whose the runs are that events are about. */
export interface Owners {
  /** Undefined: not about a run, not known, or gone. */
  readonly of: (event: Happened) => RunOwners | undefined
  /** Those runs of which it is not known and has to be asked. */
  readonly unknown: (events: readonly Happened[]) => readonly string[]
  /** What was asked for; runs that were not found are remembered as such. */
  readonly learn: (asked: readonly string[], found: ReadonlyMap<string, RunOwners>) => void
  /** Events that were told: runs that have ended are not heard of again, and are forgotten. */
  readonly told: (events: readonly Happened[]) => void
}

/** So many runs are remembered; those that were learnt first go first, and are asked for again. */
const MOST_REMEMBERED = 100_000

const NONE: readonly string[] = []

/**
 * Remembers whose a run is from when it is first heard of until it has ended. `live` is what the node knows of pending
 * runs: with it hardly anything has to be asked for.
 */
export function createOwners(orgId: OrgId, live: (orgId: OrgId, id: RunId) => RunOwners | undefined): Owners {
  const known = new Map<string, RunOwners | null>()
  const remember = (id: string, owners: RunOwners | null): void => {
    if (known.size >= MOST_REMEMBERED)
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
    of: (event) => known.get(runIn(event) ?? '') ?? undefined,
    unknown: (events) => {
      let ids: Set<string> | null = null
      for (const event of events) {
        const run = runIn(event)
        if (run !== null && !isKnown(run)) (ids ??= new Set()).add(run)
      }
      return ids === null ? NONE : [...ids]
    },
    learn: (asked, found) => {
      for (const id of asked) remember(id, found.get(id) ?? null)
    },
    told: (events) => {
      for (const [kind, subject, data] of events)
        if (kind === 'run.changed' && isTerminal(data['status'] as RunState)) known.delete(subject)
    },
  }
}
