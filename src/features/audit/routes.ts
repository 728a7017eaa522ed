import { z } from 'zod'
import { auditFilter, auditPage, auditVerdict } from './schema.ts'
import { listAudit, verifyAudit } from './service.ts'
import { operation } from '../../operations/handler.ts'

/** The API of the audit log. */
export const auditOperations = {
  'audit.list': operation({
    ...{ method: 'GET', path: '/api/v1/audit', tag: 'audit', permission: 'audit:read' },
    summary: 'List audit records, newest first',
    description: '`from` is inclusive, `to` exclusive.',
    query: auditFilter,
    answers: { 200: auditPage },
  }).by(({ ports, caller, query }) => listAudit(ports, caller, query)),
  'audit.verify': operation({
    ...{ method: 'GET', path: '/api/v1/audit/verify', tag: 'audit', permission: 'audit:read' },
    summary: 'Verify the audit chain of the org',
    description:
      'Finds records that were changed, are missing, or were cut off at the end. Store the hash of the newest ' +
      'record elsewhere and pass it as `anchor` to also detect a chain that was cut together with its head.',
    query: z.strictObject({ anchor: z.string().max(200).optional() }),
    answers: { 200: auditVerdict },
  }).by(({ ports, caller, query }) => verifyAudit(ports, caller.orgId, query.anchor ?? null)),
}
