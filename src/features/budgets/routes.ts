import { z } from 'zod'
import { budget, budgetInput, budgetPage, budgetPatch } from './schema.ts'
import { id, pageFilter } from '../../api/common.ts'
import { forecast, forecastFilter } from '../forecast/schema.ts'
import { updateBudget, createBudget, findBudgetPage, getBudget, deleteBudget, resumeBudget } from './service.ts'
import { forecastOrg } from '../forecast/service.ts'
import { operation } from '../../operations/handler.ts'

const one = z.strictObject({ id })

/** The API of budgets. */
export const budgetOperations = {
  'budgets.create': operation({
    ...{ method: 'POST', path: '/api/v1/budgets', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Create a budget',
    creates: true,
    body: budgetInput,
    answers: { 201: budget },
    examples: { body: { unit: 'tokens', amount: 1_000_000, period: 'day', on_exceed: 'queue' } },
  }).by(({ ports, caller, body }) => createBudget(ports, caller, body)),
  'budgets.list': operation({
    ...{ method: 'GET', path: '/api/v1/budgets', tag: 'budgets', permission: 'budgets:read' },
    summary: 'List budgets and their usage',
    query: pageFilter,
    answers: { 200: budgetPage },
  }).by(({ ports, caller, query }) => findBudgetPage(ports, caller, query)),
  'budgets.forecast': operation({
    ...{ method: 'GET', path: '/api/v1/budgets/forecast', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Forecast usage, and when budgets run out',
    description:
      'Based on what is scheduled (schedules, heartbeats, and chat and tasks at their recent rate) and on the ' +
      'usage of recent runs. Returns the expected usage and a high estimate (p95). Default: 30 days.',
    query: forecastFilter,
    answers: { 200: forecast },
    refusals: ['RULE_TOO_DENSE', 'COMPUTE_BUSY'],
  }).by(({ ports, caller, query }) => forecastOrg(ports, caller, query)),
  'budgets.get': operation({
    ...{ method: 'GET', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Get a budget and its usage',
    params: one,
    answers: { 200: budget },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getBudget(ports, caller, params.id)),
  'budgets.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Update a budget',
    description: 'Its scope and unit cannot be changed. A higher amount releases waiting runs at once.',
    params: one,
    body: budgetPatch,
    answers: { 200: budget },
    refusals: ['NOT_FOUND'],
    examples: { body: { amount: 2_000_000 } },
  }).by(({ ports, caller, params, body }) => updateBudget(ports, caller, { id: params.id, change: body })),
  'budgets.resume': operation({
    ...{ method: 'POST', path: '/api/v1/budgets/:id/resume', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Resume a paused budget',
    description: 'Only `pause` pauses a budget. While its period is exhausted, raise the amount instead.',
    params: one,
    answers: { 200: budget },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => resumeBudget(ports, caller, { id: params.id })),
  'budgets.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Delete a budget and its counters',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => deleteBudget(ports, caller, { id: params.id })),
}
