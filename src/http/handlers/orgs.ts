import type { orgOperations } from '../../contract/operations/orgs.ts'
import { changeOrg, createOrg, findOrgs, getOrg, removeOrg } from '../../service/orgs.ts'
import type { HandlersOf } from '../call.ts'

/** The tenants of the deployment. */
export const orgHandlers: HandlersOf<typeof orgOperations> = {
  'orgs.create': ({ ports, caller, body }) => createOrg(ports, caller, body),
  'orgs.list': ({ ports, query }) => findOrgs(ports, query),
  'orgs.get': ({ ports, params }) => getOrg(ports, params.org_id),
  'orgs.update': ({ ports, caller, params, body }) => changeOrg(ports, caller, { id: params.org_id, change: body }),
  'orgs.delete': async ({ ports, caller, params }) => {
    await removeOrg(ports, caller, params.org_id)
    return undefined
  },
}
