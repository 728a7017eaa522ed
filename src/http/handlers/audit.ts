import type { auditOperations } from '../../operations/audit.ts'
import { listAudit, verifyAudit } from '../../service/audit.ts'
import type { HandlersOf } from '../call.ts'

/** Who has changed what. */
export const auditHandlers: HandlersOf<typeof auditOperations> = {
  'audit.list': ({ ports, caller, query }) => listAudit(ports, caller, query),
  'audit.verify': ({ ports, caller, query }) => verifyAudit(ports, caller.orgId, query.anchor ?? null),
}
