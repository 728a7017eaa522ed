import { z } from 'zod'
import { id } from '../api/common.ts'
import { key, keyFilter, keyInput, keyPage, madeKey } from '../contract/key.ts'
import { createKey, findKeys, getKey, revokeKey } from '../features/access/keys.ts'
import { giverOf, operation } from './handler.ts'

const one = z.strictObject({ id })

/** What programs sign in with. */
export const keyOperations = {
  'keys.create': operation({
    ...{ method: 'POST', path: '/api/v1/keys', tag: 'keys', permission: 'keys:write' },
    summary: 'Create a key',
    description:
      'The key is shown only in this answer. A caller cannot grant permissions it does not have. A key created ' +
      'with a key that expires expires no later; without `expires_at`, at the same time.',
    creates: true,
    body: keyInput,
    answers: { 201: madeKey },
    examples: { body: { name: 'Nightly reports', role: 'member', scopes: ['schedules:*', 'runs:read'] } },
  }).by((call) => createKey(call.ports, giverOf(call), call.body)),
  'keys.list': operation({
    ...{ method: 'GET', path: '/api/v1/keys', tag: 'keys', permission: 'keys:read' },
    summary: 'List keys, newest first',
    query: keyFilter,
    answers: { 200: keyPage },
  }).by(({ ports, caller, query }) => findKeys(ports, caller, query)),
  'keys.get': operation({
    ...{ method: 'GET', path: '/api/v1/keys/:id', tag: 'keys', permission: 'keys:read' },
    summary: 'Get a key, without its text',
    params: one,
    answers: { 200: key },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getKey(ports, caller, params.id)),
  'keys.revoke': operation({
    ...{ method: 'DELETE', path: '/api/v1/keys/:id', tag: 'keys', permission: 'keys:write' },
    summary: 'Revoke a key',
    description:
      'Takes effect at once on this node and within a second on others. It stays in the list as revoked. A key can ' +
      'revoke itself, and keys with no more than its own role and permissions.',
    params: one,
    answers: { 200: key },
    refusals: ['NOT_FOUND'],
  }).by((call) => revokeKey(call.ports, giverOf(call), call.params.id)),
}
