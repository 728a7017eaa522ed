import { z } from 'zod'
import { budget, budgetInput, budgetPage, budgetPatch } from '../budget.ts'
import { forecast, forecastFilter } from '../forecast.ts'
import { id, pageFilter } from '../common.ts'
import { operation } from './operation.ts'

const one = z.strictObject({ id })

/** What runs may use. */
export const budgetOperations = {
  'budgets.create': operation({
    ...{ method: 'POST', path: '/api/v1/budgets', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Makes a budget',
    creates: true,
    body: budgetInput,
    answers: { 201: budget },
    examples: { body: { unit: 'tokens', amount: 1_000_000, period: 'day', on_exceed: 'queue' } },
  }),
  'budgets.list': operation({
    ...{ method: 'GET', path: '/api/v1/budgets', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Lists budgets and where they stand',
    query: pageFilter,
    answers: { 200: budgetPage },
  }),
  'budgets.forecast': operation({
    ...{ method: 'GET', path: '/api/v1/budgets/forecast', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Says what the next days will use, and when budgets will be used up',
    description:
      'From the plan (schedules, heartbeats, and chat and tasks at their usual pace) and from what the last runs used: ' +
      'expected, and at most (p95). 30 days unless given.',
    query: forecastFilter,
    answers: { 200: forecast },
    refusals: ['RULE_TOO_DENSE', 'COMPUTE_BUSY'],
  }),
  'budgets.get': operation({
    ...{ method: 'GET', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Shows a budget and where it stands',
    params: one,
    answers: { 200: budget },
    refusals: ['NOT_FOUND'],
  }),
  'budgets.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Changes a budget',
    description: 'Whose it is and what it counts never changes. More room lets waiting work go on at once.',
    params: one,
    body: budgetPatch,
    answers: { 200: budget },
    refusals: ['NOT_FOUND'],
    examples: { body: { amount: 2_000_000 } },
  }),
  'budgets.resume': operation({
    ...{ method: 'POST', path: '/api/v1/budgets/:id/resume', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Lets a budget that stands still go on',
    description: 'Only `pause` makes a budget stand still. While its period is used up, raise the amount instead.',
    params: one,
    answers: { 200: budget },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }),
  'budgets.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Deletes a budget and what it has counted',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND'],
  }),
}
