import type { AgentId, SessionKey } from '../../domain/ids.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { countUnwritten } from '../commands/daily-runs.ts'
import type { Changes } from './org-state.ts'
import { reindexRun, updateSessionLimits, type LoadedOrg, type NodeCapabilities } from './memory.ts'
import { loadOrgLimits } from './load.ts'

/** A node does not receive its own events, so changed agents are applied here. */
export function applyAgentChanges({ state, readyQueue }: LoadedOrg): void {
  for (const { kind, subject } of state.changes.events)
    if (kind === 'agent.changed') {
      const id = subject as AgentId
      readyQueue.setAgent(id, state.agents.get(id) ?? NO_AGENT_LIMITS)
    }
}

/** The limits of an agent that is deleted. */
const NO_AGENT_LIMITS = { maxConcurrent: null, provider: null }

/** The same for limits of the org that were changed in this transaction. */
export async function reloadOrgLimits(tx: Transaction, org: LoadedOrg): Promise<void> {
  const { state } = org
  if (!state.changes.events.some(({ kind }) => kind === 'org.changed')) return
  await loadOrgLimits(tx, org)
  countUnwritten(state)
}

/** Updates the ready queue, timers and sessions with the changes of the transaction. */
export function applyChanges(org: LoadedOrg, node: NodeCapabilities): void {
  const { changes } = org.state
  const sessions = new Set<SessionKey>()
  const isEstimated = (node.estimate?.() ?? null) !== null
  const look = (runs: Changes['created']): void => {
    for (const run of runs) {
      reindexRun(org, run)
      if (isEstimated && run.sessionKey !== null) sessions.add(run.sessionKey)
    }
  }
  look(changes.created)
  look(changes.changed)
  for (const { key } of changes.newSessions) sessions.add(key)
  for (const { key } of changes.sessions) sessions.add(key)
  for (const key of sessions) updateSessionLimits(org, key, node)
}
