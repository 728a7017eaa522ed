import type { secretOperations } from '../../operations/secrets.ts'
import { rotateKey } from '../../service/secret/rotation.ts'
import { changeSecret, createSecret, findSecrets, getSecret, removeSecret } from '../../service/secret/secrets.ts'
import type { HandlersOf } from '../call.ts'

/** Values that agents may send and nobody can read. */
export const secretHandlers: HandlersOf<typeof secretOperations> = {
  'secrets.create': ({ ports, caller, body }) => createSecret(ports, caller, body),
  'secrets.list': ({ ports, caller, query }) => findSecrets(ports, caller, query),
  'secrets.rotate': ({ ports, caller, body }) => rotateKey(ports, caller, body),
  'secrets.get': ({ ports, caller, params }) => getSecret(ports, caller, params.name),
  'secrets.update': ({ ports, caller, params, body, ifMatch }) =>
    changeSecret(ports, caller, { id: params.name, version: ifMatch, change: body }),
  'secrets.delete': async ({ ports, caller, params, ifMatch }) => {
    await removeSecret(ports, caller, { id: params.name, version: ifMatch })
    return undefined
  },
}
