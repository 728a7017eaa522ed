import { z } from 'zod'
import { pageFilter } from '../../api/common.ts'
import { rotation, rotationInput, secret, secretInput, secretName, secretPage, secretPatch } from './schema.ts'
import { updateSecret, createSecret, findSecrets, getSecret, deleteSecret, rotateKey } from './service.ts'
import { operation } from '../../operations/handler.ts'

const nameParams = z.strictObject({ name: secretName })

/** Write-only values that agents send. */
export const secretOperations = {
  'secrets.create': operation({
    ...{ method: 'POST', path: '/api/v1/secrets', tag: 'secrets', permission: 'secrets:write' },
    summary: 'Create a secret',
    description:
      'Agents refer to it as `{{secret:NAME}}` in headers and body. It is sent only to its allowed hosts. ' +
      '`Idempotency-Key` is not needed: the name is unique, and the request is not stored, not even as a hash.',
    body: secretInput,
    answers: { 201: secret },
    refusals: ['CONFLICT', 'SECRET_KEY'],
    examples: { body: { name: 'OPENAI_KEY', value: 'sk-example-value', hosts: ['api.openai.com'] } },
  }).by(({ ports, caller, body }) => createSecret(ports, caller, body)),
  'secrets.list': operation({
    ...{ method: 'GET', path: '/api/v1/secrets', tag: 'secrets', permission: 'secrets:read' },
    summary: 'List secrets by name, without their values',
    query: pageFilter,
    answers: { 200: secretPage },
  }).by(({ ports, caller, query }) => findSecrets(ports, caller, query)),
  'secrets.rotate': operation({
    ...{ method: 'POST', path: '/api/v1/secrets/rotate', tag: 'secrets', permission: 'admin:*', operatorOnly: true },
    summary: 'Re-encrypt all secrets with the first key',
    description: 'Covers secrets, channel credentials and signing secrets in all orgs. Nothing is interrupted.',
    bodyOptional: true,
    body: rotationInput,
    answers: { 200: rotation },
    refusals: ['CONFLICT', 'SECRET_KEY'],
    examples: { body: { new_key: true } },
  }).by(({ ports, caller, body }) => rotateKey(ports, caller, body)),
  'secrets.get': operation({
    ...{ method: 'GET', path: '/api/v1/secrets/:name', tag: 'secrets', permission: 'secrets:read' },
    summary: 'Get a secret and its users, without its value',
    etag: true,
    params: nameParams,
    answers: { 200: secret },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getSecret(ports, caller, params.name)),
  'secrets.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/secrets/:name', tag: 'secrets', permission: 'secrets:write' },
    summary: 'Update the value or the hosts of a secret',
    description: 'Applies from the next attempt. Hosts that an agent with this secret calls cannot be removed.',
    etag: true,
    params: nameParams,
    body: secretPatch,
    answers: { 200: secret },
    refusals: ['NOT_FOUND', 'CONFLICT', 'STALE_VERSION', 'SECRET_KEY'],
    examples: { body: { value: 'sk-another-value' } },
  }).by(({ ports, caller, params, body, ifMatch }) =>
    updateSecret(ports, caller, { id: params.name, version: ifMatch, change: body }),
  ),
  'secrets.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/secrets/:name', tag: 'secrets', permission: 'secrets:write' },
    summary: 'Delete a secret that no agent uses',
    etag: true,
    params: nameParams,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT', 'STALE_VERSION'],
  }).by(({ ports, caller, params, ifMatch }) => deleteSecret(ports, caller, { id: params.name, version: ifMatch })),
}
