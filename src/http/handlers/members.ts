import type { memberOperations } from '../../operations/members.ts'
import { decideAccess, type Principal } from '../../core/access.ts'
import { orgId as toOrgId } from '../../core/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import { callerOf, type Caller, type Giver } from '../../service/caller.ts'
import { changeMember, createMember, findMembers, getMember, removeMember } from '../../service/members.ts'
import { getOrg } from '../../service/orgs.ts'
import { createSignInLink } from '../../service/sign-in.ts'
import type { HandlersOf } from '../call.ts'
import type { HttpContext } from '../context.ts'

interface Asked {
  readonly ctx: HttpContext
  readonly caller: Caller
  readonly principal: Principal
  readonly params: { readonly org_id: string }
}

/** Acts in one's own org, or, as the operator, in any that exists. Of another org not even that it exists is told. */
async function giverIn({ ctx, caller, principal, params }: Asked): Promise<Giver> {
  const orgId = toOrgId(params.org_id)
  if (orgId !== principal.orgId) {
    const request = { permission: 'admin:*', orgId, now: ctx.ports.clock.now(), operatorOnly: true } as const
    if (decideAccess(principal, request).kind !== 'granted')
      throw new Refusal('NOT_FOUND', `There is no org ${params.org_id}`)
    await getOrg(ctx.ports, orgId)
  }
  return { orgId, principal, once: caller.once }
}

/** People, and how they get in. */
export const memberHandlers: HandlersOf<typeof memberOperations> = {
  'members.create': async (call) => createMember(call.ports, await giverIn(call), call.body),
  'members.list': async (call) => findMembers(call.ports, callerOf(await giverIn(call)), call.query),
  'members.get': async (call) => getMember(call.ports, callerOf(await giverIn(call)), call.params.id),
  'members.update': async (call) =>
    changeMember(call.ports, await giverIn(call), { id: call.params.id, change: call.body }),
  'members.delete': async (call) => {
    await removeMember(call.ports, await giverIn(call), call.params.id)
    return undefined
  },
  'members.invite': async (call) => createSignInLink(call.ports, await giverIn(call), { member_id: call.params.id }),
}
