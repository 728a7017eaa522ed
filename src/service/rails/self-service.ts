import type { AgentPatch } from '../../features/agents/schema.ts'
import { Refusal } from '../../api/refusals.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'

/**
 * Refuses somebody who may not decide that attempts are given keys, and a deployment that has nothing to make such keys
 * with: better now than when the first attempt wants one.
 */
export async function judgeSelfService(
  { vault }: Pick<Ports, 'vault'>,
  caller: Caller,
  input: AgentPatch,
): Promise<void> {
  if ((input as AgentPatch | null)?.self_service === undefined || input.self_service === null) return
  if (caller.principal !== null && caller.isAdmin !== true)
    throw new Refusal('FORBIDDEN', 'admin:* is needed to say that attempts of an agent are given keys of their own', {
      details: { permission: 'admin:*', field: 'self_service' },
    })
  await vault.check()
}
