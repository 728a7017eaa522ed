import { z } from 'zod'
import { pageFilter } from '../../api/common.ts'
import { provider, providerInput, providerNameText, providerPage, providerPatch } from './schema.ts'
import { updateProvider, createProvider, findProviderPage, getProvider, deleteProvider } from './service.ts'
import { operation } from '../../operations/handler.ts'

const providerParams = z.strictObject({ name: providerNameText })

/** Operations on providers: model providers whose quotas several agents share. */
export const providerOperations = {
  'providers.create': operation({
    ...{ method: 'POST', path: '/api/v1/providers', tag: 'providers', permission: 'budgets:write' },
    summary: 'Create a provider',
    description: 'Its quotas start full: one minute of requests and tokens may be used at once.',
    creates: true,
    body: providerInput,
    answers: { 201: provider },
    refusals: ['CONFLICT'],
    examples: { body: { name: 'openai', requests_per_minute: 60, tokens_per_minute: 90_000 } },
  }).by(({ ctx, ports, caller, body }) => createProvider({ ...ports, work: ctx.work }, caller, body)),
  'providers.list': operation({
    ...{ method: 'GET', path: '/api/v1/providers', tag: 'providers', permission: 'budgets:read' },
    summary: 'List providers by name, with their remaining quotas',
    query: pageFilter,
    answers: { 200: providerPage },
  }).by(({ ctx, ports, caller, query }) => findProviderPage({ ...ports, work: ctx.work }, caller, query)),
  'providers.get': operation({
    ...{ method: 'GET', path: '/api/v1/providers/:name', tag: 'providers', permission: 'budgets:read' },
    summary: 'Get a provider with its remaining quotas',
    params: providerParams,
    answers: { 200: provider },
    refusals: ['NOT_FOUND'],
  }).by(({ ctx, ports, caller, params }) => getProvider({ ...ports, work: ctx.work }, caller, params.name)),
  'providers.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/providers/:name', tag: 'providers', permission: 'budgets:write' },
    summary: 'Update the quotas of a provider',
    description:
      'Omitted fields keep their values; null removes a quota. A higher quota releases waiting runs at once and ' +
      'clears earlier rate limiting.',
    params: providerParams,
    body: providerPatch,
    answers: { 200: provider },
    refusals: ['NOT_FOUND'],
    examples: { body: { requests_per_minute: 120 } },
  }).by(({ ctx, ports, caller, params, body }) =>
    updateProvider({ ...ports, work: ctx.work }, caller, { name: params.name, change: body }),
  ),
  'providers.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/providers/:name', tag: 'providers', permission: 'budgets:write' },
    summary: 'Delete a provider that no agent uses',
    params: providerParams,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ctx, ports, caller, params }) =>
    deleteProvider({ ...ports, work: ctx.work }, caller, { name: params.name }),
  ),
}
