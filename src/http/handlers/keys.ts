import type { keyOperations } from '../../operations/keys.ts'
import { createKey, findKeys, getKey, revokeKey } from '../../service/keys.ts'
import type { HandlersOf } from '../call.ts'

/** What programs sign in with. */
export const keyHandlers: HandlersOf<typeof keyOperations> = {
  'keys.create': ({ ports, caller, principal, body }) => createKey(ports, { ...caller, principal }, body),
  'keys.list': ({ ports, caller, query }) => findKeys(ports, caller, query),
  'keys.get': ({ ports, caller, params }) => getKey(ports, caller, params.id),
  'keys.revoke': ({ ports, caller, principal, params }) => revokeKey(ports, { ...caller, principal }, params.id),
}
