import { z } from 'zod'
import { auditFilter, auditPage, auditVerdict } from '../contract/audit.ts'
import { listAudit, verifyAudit } from '../service/audit.ts'
import { operation } from './operation.ts'

/** Who has changed what. */
export const auditOperations = {
  'audit.list': operation({
    ...{ method: 'GET', path: '/api/v1/audit', tag: 'audit', permission: 'audit:read' },
    summary: 'Lists what was changed, by whom, newest first',
    description: '`from` is inside, `to` is outside.',
    query: auditFilter,
    answers: { 200: auditPage },
  }).by(({ ports, caller, query }) => listAudit(ports, caller, query)),
  'audit.verify': operation({
    ...{ method: 'GET', path: '/api/v1/audit/verify', tag: 'audit', permission: 'audit:read' },
    summary: 'Walks the whole chain of the org and says what is wrong with it',
    description:
      'Finds records that were changed, that are missing, and that were cut off the end. Keep the hash of the head ' +
      'elsewhere and bring it as `anchor`: then a chain that was cut together with its head is found too.',
    query: z.strictObject({ anchor: z.string().max(200).optional() }),
    answers: { 200: auditVerdict },
  }).by(({ ports, caller, query }) => verifyAudit(ports, caller.orgId, query.anchor ?? null)),
}
