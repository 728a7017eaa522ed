import type { AgentId, SessionKey } from '../../domain/ids.ts'
import type { Transaction } from '../../store/database.ts'
import { countUnwritten } from '../desk/daily-runs.ts'
import type { Changes } from '../desk/desk.ts'
import { noteRun, noteSession, type Memory, type NodeFacts } from './memory.ts'
import { recallOrg } from './recall.ts'

/** A node does not hear its own events: what changes about an agent here counts here at once. */
export function noteAgents({ desk, lineUp }: Memory): void {
  for (const { kind, subject } of desk.changes.events)
    if (kind === 'agent.changed') {
      const id = subject as AgentId
      lineUp.setAgent(id, desk.agents.get(id) ?? NO_LIMITS)
    }
}

/** An agent that is gone has none. */
const NO_LIMITS = { maxConcurrent: null, provider: null }

/** The same for the limits of the org, which somebody has changed in this turn. */
export async function noteOrg(tx: Transaction, memory: Memory): Promise<void> {
  const { desk } = memory
  if (!desk.changes.events.some(({ kind }) => kind === 'org.changed')) return
  await recallOrg(tx, memory)
  countUnwritten(desk)
}

/** Brings who is next and what comes by itself in line with what the turn has changed. */
export function noteChanges(memory: Memory, node: NodeFacts): void {
  const { changes } = memory.desk
  const sessions = new Set<SessionKey>()
  const isEstimated = (node.estimate?.() ?? null) !== null
  const look = (runs: Changes['made']): void => {
    for (const run of runs) {
      noteRun(memory, run)
      if (isEstimated && run.sessionKey !== null) sessions.add(run.sessionKey)
    }
  }
  look(changes.made)
  look(changes.changed)
  for (const { key } of changes.newSessions) sessions.add(key)
  for (const { key } of changes.sessions) sessions.add(key)
  for (const key of sessions) noteSession(memory, key, node)
}
