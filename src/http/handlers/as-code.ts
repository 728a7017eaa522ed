import type { asCodeOperations } from '../../operations/as-code.ts'
import { isPermitted, type Principal } from '../../core/access.ts'
import { applyDocument, exportDocument, planDocument, type May } from '../../service/as-code/apply.ts'
import type { HandlersOf } from '../call.ts'

const mayOf =
  (principal: Principal): May =>
  (permission) =>
    isPermitted(principal, permission)

/** The configuration of an org as one document. What was applied wakes the loop that watches over schedules. */
export const asCodeHandlers: HandlersOf<typeof asCodeOperations> = {
  'asCode.export': ({ ports, caller, principal, query }) =>
    exportDocument(ports, caller, { ...query, may: mayOf(principal) }),
  'asCode.plan': ({ ports, caller, principal, query, body }) =>
    planDocument(ports, caller, { ...query, document: body, may: mayOf(principal) }),
  'asCode.apply': async ({ ctx, ports, caller, principal, query, body }) => {
    const applied = await applyDocument(ports, caller, { ...query, document: body, may: mayOf(principal) })
    ctx.wakeSchedules()
    return applied
  },
}
