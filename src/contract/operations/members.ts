import { z } from 'zod'
import { id, pageFilter } from '../common.ts'
import { member, memberInput, memberPage, memberPatch, signInLink } from '../member.ts'
import { operation } from './operation.ts'

const members = '/api/v1/orgs/:org_id/members'
const inOrg = z.strictObject({ org_id: id })
const one = z.strictObject({ org_id: id, id })
/** Of one's own org, and for the operator of every org. */
const admins = { tag: 'members', permission: 'admin:*' } as const

/** People, and how they get in. */
export const memberOperations = {
  'members.create': operation({
    ...{ ...admins, method: 'POST', path: members },
    summary: 'Lets somebody into an org',
    description: 'They sign in by a link that is made for them. Nobody gives a role they could not have.',
    creates: true,
    params: inOrg,
    body: memberInput,
    answers: { 201: member },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { body: { name: 'Night shift', email: 'night@example.com', role: 'member' } },
  }),
  'members.list': operation({
    ...{ ...admins, method: 'GET', path: members },
    summary: 'Lists the members of an org, newest first',
    params: inOrg,
    query: pageFilter,
    answers: { 200: memberPage },
    refusals: ['NOT_FOUND'],
  }),
  'members.get': operation({
    ...{ ...admins, method: 'GET', path: `${members}/:id` },
    summary: 'Shows a member',
    params: one,
    answers: { 200: member },
    refusals: ['NOT_FOUND'],
  }),
  'members.update': operation({
    ...{ ...admins, method: 'PATCH', path: `${members}/:id` },
    summary: 'Changes a member',
    description: 'A new role holds at once, also where they are signed in.',
    params: one,
    body: memberPatch,
    answers: { 200: member },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { body: { role: 'admin' } },
  }),
  'members.delete': operation({
    ...{ ...admins, method: 'DELETE', path: `${members}/:id` },
    summary: 'Shows somebody out',
    description: 'Every browser they are signed in with is signed out. The last owner of an org stays.',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }),
  'members.invite': operation({
    ...{ ...admins, method: 'POST', path: `${members}/:id/sign-in-link` },
    summary: 'Makes a link that signs a member in, once, within ten minutes',
    description: 'The token goes into the fragment of the address of the console: `/#signin=<token>`.',
    params: one,
    answers: { 201: signInLink },
    refusals: ['NOT_FOUND'],
  }),
}
