import { applyFilter, asCodeDocument, exportFilter, givenDocument, planView } from './schema.ts'
import { isPermitted, type Principal } from '../../domain/access/access.ts'
import { applyDocument, exportDocument, planDocument, type PermissionCheck } from './service.ts'
import { operation } from '../../operations/handler.ts'

const nightly = {
  version: 1,
  agents: [{ name: 'Reporter', executor: { kind: 'echo' } }],
  schedules: [{ name: 'Nightly report', agent: 'Reporter', cron: '0 2 * * *', timezone: 'Europe/Berlin' }],
}

const mayOf =
  (principal: Principal): PermissionCheck =>
  (permission) =>
    isPermitted(principal, permission)

/** The API of configuration as code. */
export const asCodeOperations = {
  'asCode.export': operation({
    ...{ method: 'GET', path: '/api/v1/export', tag: 'as-code' },
    permission: ['agents:read', 'targets:read', 'schedules:read', 'budgets:read'],
    summary: 'Export agents, targets, schedules and budgets as one document',
    description:
      'Defaults and secrets are left out: hidden values appear as `***` or not at all, and keep their values when ' +
      'the document is applied. Reading each kind requires its own permission; `kinds` selects the kinds.',
    query: exportFilter,
    answers: { 200: asCodeDocument },
  }).by(({ ports, caller, principal, query }) => exportDocument(ports, caller, { ...query, may: mayOf(principal) })),
  'asCode.plan': operation({
    ...{ method: 'POST', path: '/api/v1/apply/plan', tag: 'as-code' },
    permission: ['agents:read', 'targets:read', 'schedules:read', 'budgets:read'],
    summary: 'Plan the changes that applying a document would make',
    description:
      'Compares the stored objects with the document and tries every change with the permissions of the caller; ' +
      'nothing is saved. `flaws` lists what is wrong with an object. Reading each kind in the document requires ' +
      'its own permission; `permissions` lists those that applying requires.',
    query: applyFilter,
    body: givenDocument,
    answers: { 200: planView },
    refusals: ['STALE_VERSION'],
    examples: { body: nightly },
  }).by(({ ports, caller, principal, query, body }) =>
    planDocument(ports, caller, { ...query, document: body, may: mayOf(principal) }),
  ),
  'asCode.apply': operation({
    ...{ method: 'POST', path: '/api/v1/apply', tag: 'as-code' },
    permission: ['agents:write', 'targets:write', 'schedules:write', 'schedules:delete', 'budgets:write'],
    summary: 'Apply a document',
    description:
      'All changes or none. Stored objects that are missing from the document stay, or are deleted with `prune` ' +
      '(only of the kinds in the document). With `expect`, exactly the plan with that `plan_id` is applied; any ' +
      'other is refused. Applying a document again changes nothing.',
    newWork: true,
    query: applyFilter,
    body: givenDocument,
    answers: { 200: planView },
    refusals: ['CONFLICT', 'STALE_VERSION'],
    examples: { body: nightly },
  }).by(async ({ ctx, ports, caller, principal, query, body }) => {
    const applied = await applyDocument(ports, caller, { ...query, document: body, may: mayOf(principal) })
    ctx.wakeSchedules()
    return applied
  }),
}
