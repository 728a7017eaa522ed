import type { Invitation } from '../core/rails/invitation.ts'
import type { AgentId, OrgId } from '../domain/ids.ts'
import type { AttemptOfRun } from '../service/turn/works.ts'
import type { NodeParts } from './node-parts.ts'

/** Whether attempts of an agent are given keys, as far as this node knows; what it executes it knows. */
export const isInvited = (
  parts: Pick<NodeParts, 'offices'>,
  about: { readonly orgId: OrgId; readonly agentId: AgentId },
): boolean => parts.offices.get(about.orgId)?.memory()?.desk.agents.get(about.agentId)?.selfService === true

/** What an attempt that a worker was given needs to make things by itself; null: its agent makes nothing. */
export async function inviteWorker(
  parts: Pick<NodeParts, 'offices' | 'ctx'>,
  about: AttemptOfRun & { readonly agentId: AgentId },
): Promise<Invitation | null> {
  if (!isInvited(parts, about)) return null
  const endsBy = parts.offices.get(about.orgId)?.memory()?.desk.runs.get(about.runId)?.endsBy ?? null
  return (await parts.ctx.invite?.({ ...about, endsBy })) ?? null
}
