import { z } from 'zod'
import { id, pageFilter } from '../api/common.ts'
import { createdOrg, org, orgInput, orgPage, orgPatch } from '../contract/org.ts'
import { refuseUngrantable } from '../features/access/keys.ts'
import { changeOrg, createOrg, findOrgs, getOrg, removeOrg } from '../features/access/orgs.ts'
import { giverOf, operation } from './handler.ts'

const one = z.strictObject({ org_id: id })
const operators = { tag: 'orgs', permission: 'admin:*', operatorOnly: true } as const

/** The tenants of the deployment. */
export const orgOperations = {
  'orgs.create': operation({
    ...{ ...operators, method: 'POST', path: '/api/v1/orgs' },
    summary: 'Create an org',
    description:
      'It comes with an agent that works offline. With `with_key: true` the answer contains an owner key of the ' +
      'org in `first_key`, shown only once. Add members with POST /api/v1/orgs/:org_id/members.',
    creates: true,
    body: orgInput,
    answers: { 201: createdOrg },
    refusals: ['CONFLICT'],
    examples: { body: { id: 'acme', name: 'Acme', default_timezone: 'Europe/Berlin', max_concurrent: 20 } },
  }).by(({ ports, caller, principal, body }) => {
    const { role } = principal
    // The operator creates a key as strong as its own, and needs all of its permissions.
    if (body.with_key === true) refuseUngrantable(giverOf({ caller, principal }), { role, scopes: null })
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
    params: one,
    answers: { 200: org },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, params }) => getOrg(ports, params.org_id)),
  'orgs.update': operation({
    ...{ ...operators, method: 'PATCH', path: '/api/v1/orgs/:org_id' },
    summary: 'Update an org',
    description: 'Omitted fields keep their values; null removes a limit. Running work is not stopped.',
    params: one,
    body: orgPatch,
    answers: { 200: org },
    refusals: ['NOT_FOUND'],
    examples: { body: { max_concurrent: 50, runs_per_day: null } },
  }).by(({ ports, caller, params, body }) => changeOrg(ports, caller, { id: params.org_id, change: body })),
  'orgs.delete': operation({
    ...{ ...operators, method: 'DELETE', path: '/api/v1/orgs/:org_id' },
    summary: 'Delete an org in which nothing is pending or scheduled',
    description: 'Its history stays.',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => removeOrg(ports, caller, params.org_id)),
}
