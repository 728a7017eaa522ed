import { applyFilter, asCodeDocument, exportFilter, givenDocument, planView } from '../contract/as-code.ts'
import { isPermitted, type Principal } from '../core/access.ts'
import { applyDocument, exportDocument, planDocument, type May } from '../service/as-code/apply.ts'
import { operation } from './operation.ts'

const nightly = {
  version: 1,
  agents: [{ name: 'Reporter', executor: { kind: 'echo' } }],
  schedules: [{ name: 'Nightly report', agent: 'Reporter', cron: '0 2 * * *', timezone: 'Europe/Berlin' }],
}

const mayOf =
  (principal: Principal): May =>
  (permission) =>
    isPermitted(principal, permission)

/** The configuration of an org as one document that is kept in a file. */
export const asCodeOperations = {
  'asCode.export': operation({
    ...{ method: 'GET', path: '/api/v1/export', tag: 'as-code' },
    permission: ['agents:read', 'targets:read', 'schedules:read', 'budgets:read'],
    summary: 'Writes agents, targets, schedules and budgets as one document',
    description:
      'Without what is a default and without secrets: values that are hidden stand there as `***` or not at all, and ' +
      'stay what they are when the document is applied. Each kind needs its own permission to be read; `kinds` names ' +
      'those that are wanted.',
    query: exportFilter,
    answers: { 200: asCodeDocument },
  }).by(({ ports, caller, principal, query }) => exportDocument(ports, caller, { ...query, may: mayOf(principal) })),
  'asCode.plan': operation({
    ...{ method: 'POST', path: '/api/v1/apply/plan', tag: 'as-code' },
    permission: ['agents:read', 'targets:read', 'schedules:read', 'budgets:read'],
    summary: 'Says what applying a document would change',
    description:
      'Compares what is stored with the document and tries out every change, as whoever asks; nothing is kept. What ' +
      'stands in the way of a thing is in its `flaws`. Each kind that the document names needs its own permission to be ' +
      'read, and `permissions` are those that applying it needs.',
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
    summary: 'Makes what is stored what a document says',
    description:
      'All of it or nothing. What is stored and not in the document is kept, or with `prune` deleted, of the kinds that ' +
      'the document names. With `expect`, exactly the plan of that `plan_id` is carried out, and anything else is ' +
      'refused. A second time, nothing changes.',
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
