import { z } from 'zod'
import { id, pageFilter } from '../../api/common.ts'
import { enabledTarget, signingSecret, target, targetInput, targetPage, targetPatch, targetTest } from './schema.ts'
import { getSigningSecret, rotateSecret } from './signing-secret.ts'
import { updateTarget, createTarget, enableTarget, findTargets, getTarget, deleteTarget } from './service.ts'
import { testTarget } from './test-message.ts'
import { operation } from '../../operations/handler.ts'

const targetParams = z.strictObject({ id })

/** Targets: destinations of results. */
export const targetOperations = {
  'targets.create': operation({
    ...{ method: 'POST', path: '/api/v1/targets', tag: 'targets', permission: 'targets:write' },
    summary: 'Create a target',
    description: 'The outbound guard must allow its URL.',
    creates: true,
    body: targetInput,
    answers: { 201: target },
    examples: { body: { name: 'ops', url: 'https://hooks.example.com/escapement' } },
  }).by(({ ports, caller, body }) => createTarget(ports, caller, body)),
  'targets.list': operation({
    ...{ method: 'GET', path: '/api/v1/targets', tag: 'targets', permission: 'targets:read' },
    summary: 'List targets and their state',
    query: pageFilter,
    answers: { 200: targetPage },
  }).by(({ ports, caller, query }) => findTargets(ports, caller, query)),
  'targets.signingSecret': operation({
    ...{ method: 'GET', path: '/api/v1/targets/signing-secret', tag: 'targets', permission: 'targets:write' },
    summary: 'Get the signing secret of webhooks',
    description:
      'Defined by Standard Webhooks. Reading the secret requires write permission, because it allows signing.',
    answers: { 200: signingSecret },
  }).by(({ ports, caller }) => getSigningSecret(ports, caller)),
  'targets.rotateSecret': operation({
    ...{ method: 'POST', path: '/api/v1/targets/signing-secret/rotate', tag: 'targets', permission: 'targets:write' },
    summary: 'Create a new signing secret',
    description: 'Both secrets sign for one day: every message carries two signatures, and receivers accept either.',
    answers: { 200: signingSecret },
  }).by(({ ports, caller }) => rotateSecret(ports, caller)),
  'targets.get': operation({
    ...{ method: 'GET', path: '/api/v1/targets/:id', tag: 'targets', permission: 'targets:read' },
    summary: 'Get a target and its state',
    params: targetParams,
    answers: { 200: target },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getTarget(ports, caller, params.id)),
  'targets.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/targets/:id', tag: 'targets', permission: 'targets:write' },
    summary: 'Update a target',
    description: 'Disabling it holds pending deliveries; enabling it sends them.',
    params: targetParams,
    body: targetPatch,
    answers: { 200: target },
    refusals: ['NOT_FOUND'],
    examples: { body: { url: 'https://hooks.example.com/v2' } },
  }).by(({ ports, caller, params, body }) => updateTarget(ports, caller, { id: params.id, change: body })),
  'targets.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/targets/:id', tag: 'targets', permission: 'targets:write' },
    summary: 'Delete a target that no schedule uses',
    description: 'Pending deliveries to it fail.',
    params: targetParams,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => deleteTarget(ports, caller, { id: params.id })),
  'targets.test': operation({
    ...{ method: 'POST', path: '/api/v1/targets/:id/test', tag: 'targets', permission: 'targets:write' },
    summary: 'Send a test message to a target',
    description:
      'The message has the type `target.test` and counts neither as a success nor as a failure of the target.',
    params: targetParams,
    answers: { 200: targetTest },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => testTarget(ports, caller, params.id)),
  'targets.enable': operation({
    ...{ method: 'POST', path: '/api/v1/targets/:id/enable', tag: 'targets', permission: 'targets:write' },
    summary: 'Enable a target and send held messages',
    params: targetParams,
    answers: { 200: enabledTarget },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => enableTarget(ports, caller, params.id)),
}
