import { z } from 'zod'
import { budget, budgetInput, budgetPage, budgetPatch } from '../contract/budget.ts'
import { id, pageFilter } from '../contract/common.ts'
import { forecast, forecastFilter } from '../contract/forecast.ts'
import { findBudgetPage } from '../service/budgets-find.ts'
import { changeBudget, createBudget, getBudget, removeBudget, resumeBudget } from '../service/budgets.ts'
import { forecastOrg } from '../service/forecast/forecast.ts'
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
  }).by(({ ports, caller, body }) => createBudget(ports, caller, body)),
  'budgets.list': operation({
    ...{ method: 'GET', path: '/api/v1/budgets', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Lists budgets and where they stand',
    query: pageFilter,
    answers: { 200: budgetPage },
  }).by(({ ports, caller, query }) => findBudgetPage(ports, caller, query)),
  'budgets.forecast': operation({
    ...{ method: 'GET', path: '/api/v1/budgets/forecast', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Says what the next days will use, and when budgets will be used up',
    description:
      'From the plan (schedules, heartbeats, and chat and tasks at their usual pace) and from what the last runs used: ' +
      'expected, and at most (p95). 30 days unless given.',
    query: forecastFilter,
    answers: { 200: forecast },
    refusals: ['RULE_TOO_DENSE', 'COMPUTE_BUSY'],
  }).by(({ ports, caller, query }) => forecastOrg(ports, caller, query)),
  'budgets.get': operation({
    ...{ method: 'GET', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:read' },
    summary: 'Shows a budget and where it stands',
    params: one,
    answers: { 200: budget },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getBudget(ports, caller, params.id)),
  'budgets.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Changes a budget',
    description: 'Whose it is and what it counts never changes. More room lets waiting work go on at once.',
    params: one,
    body: budgetPatch,
    answers: { 200: budget },
    refusals: ['NOT_FOUND'],
    examples: { body: { amount: 2_000_000 } },
  }).by(({ ports, caller, params, body }) => changeBudget(ports, caller, { id: params.id, change: body })),
  'budgets.resume': operation({
    ...{ method: 'POST', path: '/api/v1/budgets/:id/resume', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Lets a budget that stands still go on',
    description: 'Only `pause` makes a budget stand still. While its period is used up, raise the amount instead.',
    params: one,
    answers: { 200: budget },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => resumeBudget(ports, caller, { id: params.id })),
  'budgets.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/budgets/:id', tag: 'budgets', permission: 'budgets:write' },
    summary: 'Deletes a budget and what it has counted',
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => removeBudget(ports, caller, { id: params.id })),
}
