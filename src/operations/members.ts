import { z } from 'zod'
import { id, pageFilter } from '../api/common.ts'
import { member, memberInput, memberPage, memberPatch, signInLink } from '../contract/member.ts'
import { Refusal } from '../api/refusals.ts'
import { decideAccess, type Principal } from '../domain/access/access.ts'
import { orgId as toOrgId } from '../domain/ids.ts'
import { callerOf, type Caller, type Giver } from '../service/caller.ts'
import { changeMember, createMember, findMembers, getMember, removeMember } from '../service/members.ts'
import { getOrg } from '../features/access/orgs.ts'
import { createSignInLink } from '../service/sign-in.ts'
import type { OperationContext } from './context.ts'
import { giverOf, operation } from './handler.ts'

const members = '/api/v1/orgs/:org_id/members'
const inOrg = z.strictObject({ org_id: id })
const one = z.strictObject({ org_id: id, id })
/** Of one's own org, and for the operator of every org. */
const admins = { tag: 'members', permission: 'admin:*' } as const

interface Asked {
  readonly ctx: OperationContext
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
  return { ...giverOf({ caller, principal }), orgId }
}

/** People, and how they get in. */
export const memberOperations = {
  'members.create': operation({
    ...{ ...admins, method: 'POST', path: members },
    summary: 'Add a member to an org',
    description: 'Members sign in with a link created for them. A caller cannot grant a role above its own.',
    creates: true,
    params: inOrg,
    body: memberInput,
    answers: { 201: member },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { body: { name: 'Night shift', email: 'night@example.com', role: 'member' } },
  }).by(async (call) => createMember(call.ports, await giverIn(call), call.body)),
  'members.list': operation({
    ...{ ...admins, method: 'GET', path: members },
    summary: 'List the members of an org, newest first',
    params: inOrg,
    query: pageFilter,
    answers: { 200: memberPage },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => findMembers(call.ports, callerOf(await giverIn(call)), call.query)),
  'members.get': operation({
    ...{ ...admins, method: 'GET', path: `${members}/:id` },
    summary: 'Get a member',
    params: one,
    answers: { 200: member },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => getMember(call.ports, callerOf(await giverIn(call)), call.params.id)),
  'members.update': operation({
    ...{ ...admins, method: 'PATCH', path: `${members}/:id` },
    summary: 'Update a member',
    description: 'A new role applies at once, also to open sign-ins.',
    params: one,
    body: memberPatch,
    answers: { 200: member },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { body: { role: 'admin' } },
  }).by(async (call) => changeMember(call.ports, await giverIn(call), { id: call.params.id, change: call.body })),
  'members.delete': operation({
    ...{ ...admins, method: 'DELETE', path: `${members}/:id` },
    summary: 'Remove a member',
    description: 'They are signed out of every browser. The last owner of an org cannot be removed.',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(async (call) => removeMember(call.ports, await giverIn(call), call.params.id)),
  'members.invite': operation({
    ...{ ...admins, method: 'POST', path: `${members}/:id/sign-in-link` },
    summary: 'Create a one-time sign-in link for a member, valid for ten minutes',
    description: "The token goes into the fragment of the console's URL: `/#signin=<token>`.",
    params: one,
    answers: { 201: signInLink },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => createSignInLink(call.ports, await giverIn(call), { member_id: call.params.id })),
}
