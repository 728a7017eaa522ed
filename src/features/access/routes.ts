import { z } from 'zod'
import { id, pageFilter } from '../../api/common.ts'
import { Refusal } from '../../api/refusals.ts'
import { decideAccess, type Principal } from '../../domain/access/access.ts'
import { orgId as toOrgId } from '../../domain/ids.ts'
import type { Ports } from '../../engine/ports.ts'
import { type Caller, callerOf, type Grantor } from './caller.ts'
import { findConsoleSession, signOut, viewConsoleSession } from './console-sessions.ts'
import { createKey, findKeys, getKey, refuseUngrantable, revokeKey } from './keys.ts'
import { updateMember, createMember, findMembers, getMember, deleteMember } from './members.ts'
import { updateOrg, createOrg, findOrgs, getOrg, deleteOrg } from './orgs.ts'
import {
  consoleSession,
  createdOrg,
  key,
  keyFilter,
  keyInput,
  keyPage,
  madeKey,
  me,
  member,
  memberInput,
  memberPage,
  memberPatch,
  org,
  orgInput,
  orgPage,
  orgPatch,
  signInInput,
  type SignInInput,
  signInLink,
} from './schema.ts'
import { createSignInLink, describeCaller, signIn, signInWithKey } from './sign-in.ts'
import type { OperationContext } from '../../operations/context.ts'
import { granterOf, operation } from '../../operations/handler.ts'

const oneOrg = z.strictObject({ org_id: id })
const operators = { tag: 'orgs', permission: 'admin:*', operatorOnly: true } as const

/** The API of orgs, the tenants of the deployment. */
export const orgOperations = {
  'orgs.create': operation({
    ...{ ...operators, method: 'POST', path: '/api/v1/orgs' },
    summary: 'Create an org',
    description:
      'It comes with the built-in echo agent. With `with_key: true` the response contains an owner key of the ' +
      'org in `first_key`, shown only once. Add members with POST /api/v1/orgs/:org_id/members.',
    creates: true,
    body: orgInput,
    answers: { 201: createdOrg },
    refusals: ['CONFLICT'],
    examples: { body: { id: 'acme', name: 'Acme', default_timezone: 'Europe/Berlin', max_concurrent: 20 } },
  }).by(({ ports, caller, principal, body }) => {
    const { role } = principal
    // A key as powerful as the operator's own may only be created with all of its permissions.
    if (body.with_key === true) refuseUngrantable(granterOf({ caller, principal }), { role, scopes: null })
    return createOrg(ports, { ...caller, role }, body)
  }),
  'orgs.list': operation({
    ...{ ...operators, method: 'GET', path: '/api/v1/orgs' },
    summary: 'List orgs, newest first',
    query: pageFilter,
    answers: { 200: orgPage },
  }).by(({ ports, query }) => findOrgs(ports, query)),
  'orgs.get': operation({
    ...{ ...operators, method: 'GET', path: '/api/v1/orgs/:org_id' },
    summary: 'Get an org',
    params: oneOrg,
    answers: { 200: org },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, params }) => getOrg(ports, params.org_id)),
  'orgs.update': operation({
    ...{ ...operators, method: 'PATCH', path: '/api/v1/orgs/:org_id' },
    summary: 'Update an org',
    description: 'Omitted fields keep their values; null removes a limit. Running work is not stopped.',
    params: oneOrg,
    body: orgPatch,
    answers: { 200: org },
    refusals: ['NOT_FOUND'],
    examples: { body: { max_concurrent: 50, runs_per_day: null } },
  }).by(({ ports, caller, params, body }) => updateOrg(ports, caller, { id: params.org_id, change: body })),
  'orgs.delete': operation({
    ...{ ...operators, method: 'DELETE', path: '/api/v1/orgs/:org_id' },
    summary: 'Delete an org that has no pending runs or active schedules',
    description: 'Its audit log stays.',
    params: oneOrg,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => deleteOrg(ports, caller, params.org_id)),
}

const members = '/api/v1/orgs/:org_id/members'
const inOrg = z.strictObject({ org_id: id })
const oneMember = z.strictObject({ org_id: id, id })
/** For an admin's own org; for the operator, every org. */
const admins = { tag: 'members', permission: 'admin:*' } as const

interface OrgRequest {
  readonly ctx: OperationContext
  readonly caller: Caller
  readonly principal: Principal
  readonly params: { readonly org_id: string }
}

/**
 * The caller acting in its own org or, as the operator, in any org. Other callers cannot tell whether another org
 * exists.
 */
async function grantorIn({ ctx, caller, principal, params }: OrgRequest): Promise<Grantor> {
  const orgId = toOrgId(params.org_id)
  if (orgId !== principal.orgId) {
    const request = { permission: 'admin:*', orgId, now: ctx.ports.clock.now(), operatorOnly: true } as const
    if (decideAccess(principal, request).kind !== 'granted')
      throw new Refusal('NOT_FOUND', `There is no org ${params.org_id}`)
    await getOrg(ctx.ports, orgId)
  }
  return { ...granterOf({ caller, principal }), orgId }
}

/** The API of members and their sign-in links. */
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
  }).by(async (call) => createMember(call.ports, await grantorIn(call), call.body)),
  'members.list': operation({
    ...{ ...admins, method: 'GET', path: members },
    summary: 'List the members of an org, newest first',
    params: inOrg,
    query: pageFilter,
    answers: { 200: memberPage },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => findMembers(call.ports, callerOf(await grantorIn(call)), call.query)),
  'members.get': operation({
    ...{ ...admins, method: 'GET', path: `${members}/:id` },
    summary: 'Get a member',
    params: oneMember,
    answers: { 200: member },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => getMember(call.ports, callerOf(await grantorIn(call)), call.params.id)),
  'members.update': operation({
    ...{ ...admins, method: 'PATCH', path: `${members}/:id` },
    summary: 'Update a member',
    description: 'A new role applies at once, including open console sessions.',
    params: oneMember,
    body: memberPatch,
    answers: { 200: member },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    examples: { body: { role: 'admin' } },
  }).by(async (call) => updateMember(call.ports, await grantorIn(call), { id: call.params.id, change: call.body })),
  'members.delete': operation({
    ...{ ...admins, method: 'DELETE', path: `${members}/:id` },
    summary: 'Remove a member',
    description: 'They are signed out of every browser. The last owner of an org cannot be removed.',
    params: oneMember,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(async (call) => deleteMember(call.ports, await grantorIn(call), call.params.id)),
  'members.invite': operation({
    ...{ ...admins, method: 'POST', path: `${members}/:id/sign-in-link` },
    summary: 'Create a one-time sign-in link for a member, valid for ten minutes',
    description: "The token goes into the fragment of the console's URL: `/#signin=<token>`.",
    params: oneMember,
    answers: { 201: signInLink },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => createSignInLink(call.ports, await grantorIn(call), { member_id: call.params.id })),
}

const oneKey = z.strictObject({ id })

/** The API of keys. */
export const keyOperations = {
  'keys.create': operation({
    ...{ method: 'POST', path: '/api/v1/keys', tag: 'keys', permission: 'keys:write' },
    summary: 'Create a key',
    description:
      'The key is shown only in this response. A caller cannot grant permissions it does not have. A key created with ' +
      'an expiring key expires no later than that key; without `expires_at`, at the same ' +
      'time.',
    creates: true,
    body: keyInput,
    answers: { 201: madeKey },
    examples: { body: { name: 'Nightly reports', role: 'member', scopes: ['schedules:*', 'runs:read'] } },
  }).by((call) => createKey(call.ports, granterOf(call), call.body)),
  'keys.list': operation({
    ...{ method: 'GET', path: '/api/v1/keys', tag: 'keys', permission: 'keys:read' },
    summary: 'List keys, newest first',
    query: keyFilter,
    answers: { 200: keyPage },
  }).by(({ ports, caller, query }) => findKeys(ports, caller, query)),
  'keys.get': operation({
    ...{ method: 'GET', path: '/api/v1/keys/:id', tag: 'keys', permission: 'keys:read' },
    summary: 'Get a key, without its text',
    params: oneKey,
    answers: { 200: key },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getKey(ports, caller, params.id)),
  'keys.revoke': operation({
    ...{ method: 'DELETE', path: '/api/v1/keys/:id', tag: 'keys', permission: 'keys:write' },
    summary: 'Revoke a key',
    description:
      'Takes effect at once on this node and within a second on others. The key stays in the list as revoked. A key can' +
      ' revoke itself, and keys with no more than its own role and permissions.',
    params: oneKey,
    answers: { 200: key },
    refusals: ['NOT_FOUND'],
  }).by((call) => revokeKey(call.ports, granterOf(call), call.params.id)),
}

const openSession = (ports: Ports, { token = '', key }: SignInInput): ReturnType<typeof signIn> =>
  key === undefined ? signIn(ports, token) : signInWithKey(ports, key)

/** The API of console sessions, and of the caller itself. */
export const signInOperations = {
  'auth.signIn': operation({
    ...{ method: 'POST', path: '/api/v1/sign-in', tag: 'sign-in', permission: 'none' },
    summary: 'Sign in with a link token or a key',
    description:
      'Give one of the two. The token works once, within ten minutes; a session by key has the permissions of the ' +
      'key and ends with it. The response sets a cookie; send its `csrf_token` as `X-CSRF-Token` with every change.',
    http: true,
    body: signInInput,
    answers: { 200: consoleSession },
    refusals: ['UNAUTHENTICATED'],
    examples: { body: { key: 'esc_…' } },
  }).by(async ({ ports, body, http }) => {
    const opened = await openSession(ports, body)
    const session = await findConsoleSession(ports, opened.cookie)
    // The member was removed in the meantime.
    if (session === null) throw new Refusal('UNAUTHENTICATED', 'The session has ended; sign in again')
    http.setCookie(opened)
    return viewConsoleSession(session, opened.cookie)
  }),
  'auth.signOut': operation({
    ...{ method: 'POST', path: '/api/v1/sign-out', tag: 'sign-in', permission: 'any' },
    summary: 'Sign out this browser',
    http: true,
    answers: { 204: null },
  }).by(async ({ ports, http }) => {
    const cookie = http.cookie()
    if (cookie !== null) await signOut(ports, cookie)
    http.clearCookie()
  }),
  'auth.link': operation({
    ...{ method: 'POST', path: '/api/v1/sign-in-links', tag: 'sign-in', permission: 'admin:*' },
    summary: 'Create a one-time sign-in link, valid for ten minutes',
    description:
      'For the caller or, if the caller is a key, for the oldest owner of the org. The token goes into the ' +
      "fragment of the console's URL: `/#signin=<token>`.",
    answers: { 201: signInLink },
    refusals: ['NOT_FOUND'],
  }).by((call) => createSignInLink(call.ports, granterOf(call))),
  'auth.me': operation({
    ...{ method: 'GET', path: '/api/v1/me', tag: 'sign-in', permission: 'any' },
    restrictedAccess: 'free',
    summary: 'Get the caller and its permissions',
    answers: { 200: me },
  }).by(({ ports, principal, http }) => describeCaller(ports, principal, http?.cookie() ?? null)),
}
