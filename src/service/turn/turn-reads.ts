import type { AgentId, OrgId, TargetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { loadAgents, type AgentRow } from '../../features/agents/store.ts'
import type { Transaction } from '../../store/database.ts'
import {
  loadIdempotencies,
  type IdempotencyKey,
  type IdempotencyRow,
} from '../../engine/transaction/idempotency-store.ts'
import { loadOrg, type OrgRow } from '../../features/access/orgs-store.ts'
import { countSchedules } from '../../store/schedules.ts'
import { loadTargets, type TargetRow } from '../../store/targets.ts'

/**
 * What the works of one turn look up beyond the desk. Each thing is read once for all of them: under the org's lock it
 * stays as it is, since whoever writes it by itself goes alone.
 */
export interface TurnReads {
  readonly org: () => Promise<OrgRow | undefined>
  readonly agent: (id: AgentId) => Promise<AgentRow | undefined>
  readonly target: (id: TargetId) => Promise<TargetRow | undefined>
  /** How many schedules the org has. */
  readonly schedules: () => Promise<number>
  /** What a key is bound to since a moment, if anything. Those who ask in the same breath are answered by one statement. */
  readonly binding: (key: BindingKey) => Promise<IdempotencyRow | undefined>
}

/** A key inside the org. */
export type BindingKey = Omit<IdempotencyKey, 'orgId'>

/** The name of a key inside its org. No part of it can hold the separator. */
export const bindingName = ({ principal, route, key }: BindingKey): string => [principal, route, key].join('\u0000')

/** Reads for one turn. `since`: bindings that are older are over. */
export function createTurnReads(tx: Transaction, orgId: OrgId, since: Instant): TurnReads {
  let org: Promise<OrgRow | undefined> | null = null
  let schedules: Promise<number> | null = null
  return {
    org: () => (org ??= loadOrg(tx, orgId)),
    agent: remembering(async (id) => (await loadAgents(tx, { orgId, ids: [id] }))[0]),
    target: remembering(async (id) => (await loadTargets(tx, { orgId, ids: [id] }))[0]),
    schedules: () => (schedules ??= countSchedules(tx, { orgId })),
    binding: gathering((keys) => loadIdempotencies(tx, { orgId, keys, since })),
  }
}

function remembering<Id, Found>(load: (id: Id) => Promise<Found>): (id: Id) => Promise<Found> {
  const known = new Map<Id, Promise<Found>>()
  return (id) => {
    const found = known.get(id) ?? load(id)
    known.set(id, found)
    return found
  }
}

function gathering(load: (keys: readonly BindingKey[]) => Promise<readonly IdempotencyRow[]>): TurnReads['binding'] {
  let asked: BindingKey[] = []
  let loading: Promise<ReadonlyMap<string, IdempotencyRow>> | null = null
  const loadAsked = async (): Promise<ReadonlyMap<string, IdempotencyRow>> => {
    // Whoever asks before this goes on is in the list.
    await Promise.resolve()
    const keys = asked
    asked = []
    loading = null
    return new Map((await load(keys)).map((row) => [bindingName(row), row]))
  }
  return async (key) => {
    asked.push(key)
    loading ??= loadAsked()
    return (await loading).get(bindingName(key))
  }
}
