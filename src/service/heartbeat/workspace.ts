import type { AgentId, OrgId } from '../../domain/ids.ts'
import type { Ports } from '../ports.ts'

/** The checklist in an agent's workspace directory. */
const WORKSPACE_CHECKLIST = 'HEARTBEAT.md'

/** The path of an agent's HEARTBEAT.md below the operator's directory; null when there is no such file. */
export async function findWorkspaceChecklist(
  { checklists }: Pick<Ports, 'checklists'>,
  orgId: OrgId,
  id: AgentId,
): Promise<string | null> {
  if (checklists?.isOpen() !== true || id.includes('/') || id.startsWith('.')) return null
  const file = `${id}/${WORKSPACE_CHECKLIST}`
  return (await checklists.read(orgId, file)).ok ? file : null
}
