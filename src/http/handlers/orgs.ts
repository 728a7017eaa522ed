import type { orgOperations } from '../../operations/orgs.ts'
import { refuseUngrantable } from '../../service/keys.ts'
import { changeOrg, createOrg, findOrgs, getOrg, removeOrg } from '../../service/orgs.ts'
import type { HandlersOf } from '../call.ts'

/** The tenants of the deployment. */
export const orgHandlers: HandlersOf<typeof orgOperations> = {
  'orgs.create': ({ ports, caller, principal, body }) => {
    const { role } = principal
    // Whoever administers the deployment hands out a key as strong as their own, and needs all of its permissions.
    if (body.with_key === true) refuseUngrantable({ orgId: caller.orgId, principal }, { role, scopes: null })
    return createOrg(ports, { ...caller, role }, body)
  },
  'orgs.list': ({ ports, query }) => findOrgs(ports, query),
  'orgs.get': ({ ports, params }) => getOrg(ports, params.org_id),
  'orgs.update': ({ ports, caller, params, body }) => changeOrg(ports, caller, { id: params.org_id, change: body }),
  'orgs.delete': async ({ ports, caller, params }) => {
    await removeOrg(ports, caller, params.org_id)
    return undefined
  },
}
