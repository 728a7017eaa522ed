import { z } from 'zod'
import { id } from '../contract/common.ts'
import { key, keyFilter, keyInput, keyPage, madeKey } from '../contract/key.ts'
import { createKey, findKeys, getKey, revokeKey } from '../service/keys.ts'
import { giverOf, operation } from './operation.ts'

const one = z.strictObject({ id })

/** What programs sign in with. */
export const keyOperations = {
  'keys.create': operation({
    ...{ method: 'POST', path: '/api/v1/keys', tag: 'keys', permission: 'keys:write' },
    summary: 'Makes a key',
    description:
      'Its text is in this answer and nowhere else. Nobody gives what they do not have. Made with a key that expires, it ' +
      'expires no later; without `expires_at`, at the same time.',
    creates: true,
    body: keyInput,
    answers: { 201: madeKey },
    examples: { body: { name: 'Nightly reports', role: 'member', scopes: ['schedules:*', 'runs:read'] } },
  }).by((call) => createKey(call.ports, giverOf(call), call.body)),
  'keys.list': operation({
    ...{ method: 'GET', path: '/api/v1/keys', tag: 'keys', permission: 'keys:read' },
    summary: 'Lists keys, newest first',
    query: keyFilter,
    answers: { 200: keyPage },
  }).by(({ ports, caller, query }) => findKeys(ports, caller, query)),
  'keys.get': operation({
    ...{ method: 'GET', path: '/api/v1/keys/:id', tag: 'keys', permission: 'keys:read' },
    summary: 'Shows a key, without its text',
    params: one,
    answers: { 200: key },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getKey(ports, caller, params.id)),
  'keys.revoke': operation({
    ...{ method: 'DELETE', path: '/api/v1/keys/:id', tag: 'keys', permission: 'keys:write' },
    summary: 'Ends a key',
    description:
      'At once on this node, within a second on others. It stays on the list as revoked. A key ends itself, and keys with no ' +
      'more than its own role and permissions.',
    params: one,
    answers: { 200: key },
    refusals: ['NOT_FOUND'],
  }).by((call) => revokeKey(call.ports, giverOf(call), call.params.id)),
}
