import type { OrgId } from '../domain/ids.ts'
import type { Connection } from '../store/database.ts'
import { countWork, type WorkCount } from '../features/stats/store.ts'
import type { LiveWork, OrgWork } from './live-port.ts'

/** What an org has to do: from this node's memory, or, while it has none, from what is on record. */
export async function knownWork(
  { database, work }: { readonly database: Connection; readonly work: Pick<LiveWork, 'workOf'> },
  orgId: OrgId,
): Promise<OrgWork> {
  return work.workOf(orgId) ?? workOf(await countWork(database, orgId))
}

function workOf(counted: readonly WorkCount[]): OrgWork {
  const work = { waiting: 0, queued: 0, active: 0 }
  const agents = new Map<WorkCount['agentId'], { id: WorkCount['agentId']; queued: number; active: number }>()
  for (const { agentId, state, count } of counted) {
    const kind = state === 'waiting' || state === 'queued' ? state : 'active'
    work[kind] += count
    if (kind === 'waiting') continue
    const agent = agents.get(agentId) ?? { id: agentId, queued: 0, active: 0 }
    agent[kind] += count
    agents.set(agentId, agent)
  }
  return { ...work, agents: [...agents.values()] }
}
