import { z } from 'zod'
import { id, pageFilter } from '../contract/common.ts'
import { createdOrg, org, orgInput, orgPage, orgPatch } from '../contract/org.ts'
import { refuseUngrantable } from '../service/keys.ts'
import { changeOrg, createOrg, findOrgs, getOrg, removeOrg } from '../service/orgs.ts'
import { giverOf, operation } from './operation.ts'

const one = z.strictObject({ org_id: id })
const operators = { tag: 'orgs', permission: 'admin:*', operatorOnly: true } as const

/** The tenants of the deployment. */
export const orgOperations = {
  'orgs.create': operation({
    ...{ ...operators, method: 'POST', path: '/api/v1/orgs' },
    summary: 'Makes an org',
    description:
      'With an agent that works offline. With `with_key: true` the answer has an owner key of the org in `first_key`, shown ' +
      'this once. Add people with POST /api/v1/orgs/:org_id/members.',
    creates: true,
    body: orgInput,
    answers: { 201: createdOrg },
    refusals: ['CONFLICT'],
    examples: { body: { id: 'acme', name: 'Acme', default_timezone: 'Europe/Berlin', max_concurrent: 20 } },
  }).by(({ ports, caller, principal, body }) => {
    const { role } = principal
    // Whoever administers the deployment hands out a key as strong as their own, and needs all of its permissions.
    if (body.with_key === true) refuseUngrantable(giverOf({ caller, principal }), { role, scopes: null })
    return createOrg(ports, { ...caller, role }, body)
  }),
  'orgs.list': operation({
    ...{ ...operators, method: 'GET', path: '/api/v1/orgs' },
    summary: 'Lists orgs, newest first',
    query: pageFilter,
    answers: { 200: orgPage },
  }).by(({ ports, query }) => findOrgs(ports, query)),
  'orgs.get': operation({
    ...{ ...operators, method: 'GET', path: '/api/v1/orgs/:org_id' },
    summary: 'Shows an org',
    params: one,
    answers: { 200: org },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, params }) => getOrg(ports, params.org_id)),
  'orgs.update': operation({
    ...{ ...operators, method: 'PATCH', path: '/api/v1/orgs/:org_id' },
    summary: 'Changes an org',
    description: 'What is left out stays; a limit that is null does not limit. Nothing that runs is ended.',
    params: one,
    body: orgPatch,
    answers: { 200: org },
    refusals: ['NOT_FOUND'],
    examples: { body: { max_concurrent: 50, runs_per_day: null } },
  }).by(({ ports, caller, params, body }) => changeOrg(ports, caller, { id: params.org_id, change: body })),
  'orgs.delete': operation({
    ...{ ...operators, method: 'DELETE', path: '/api/v1/orgs/:org_id' },
    summary: 'Deletes an org in which nothing is pending or planned',
    description: 'What was done in it stays on record.',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => removeOrg(ports, caller, params.org_id)),
}
