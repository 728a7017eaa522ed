import type { targetOperations } from '../../operations/targets.ts'
import { getSigningSecret, rotateSecret } from '../../service/target/signing-secret.ts'
import { testTarget } from '../../service/target/test.ts'
import {
  changeTarget,
  createTarget,
  enableTarget,
  findTargets,
  getTarget,
  removeTarget,
} from '../../service/target/targets.ts'
import type { HandlersOf } from '../call.ts'

/** Where results are delivered. */
export const targetHandlers: HandlersOf<typeof targetOperations> = {
  'targets.create': ({ ports, caller, body }) => createTarget(ports, caller, body),
  'targets.list': ({ ports, caller, query }) => findTargets(ports, caller, query),
  'targets.signingSecret': ({ ports, caller }) => getSigningSecret(ports, caller),
  'targets.rotateSecret': ({ ports, caller }) => rotateSecret(ports, caller),
  'targets.get': ({ ports, caller, params }) => getTarget(ports, caller, params.id),
  'targets.update': ({ ports, caller, params, body }) => changeTarget(ports, caller, { id: params.id, change: body }),
  'targets.delete': async ({ ports, caller, params }) => {
    await removeTarget(ports, caller, { id: params.id })
    return undefined
  },
  'targets.test': ({ ports, caller, params }) => testTarget(ports, caller, params.id),
  'targets.enable': ({ ports, caller, params }) => enableTarget(ports, caller, params.id),
}
