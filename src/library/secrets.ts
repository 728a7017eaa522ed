import { schemaReader } from '../contract/read-input.ts'
import { secretInput, secretPatch } from '../contract/secret.ts'
import type { Escapement } from '../escapement.ts'
import { rotateKey } from '../service/secret/rotation.ts'
import { changeSecret, createSecret, findSecrets, getSecret, removeSecret } from '../service/secret/secrets.ts'
import type { Running } from './running.ts'

/** Values that agents send and nobody can read. */
export const secretsOf = (running: () => Running): Escapement['secrets'] => ({
  create: async (input) => createSecret(running().app.ports, running().caller, schemaReader(secretInput)(input)),
  get: async (name) => getSecret(running().app.ports, running().caller, name),
  list: async (filter) => findSecrets(running().app.ports, running().caller, filter),
  update: async (name, change) =>
    changeSecret(running().app.ports, running().caller, { id: name, change: schemaReader(secretPatch)(change) }),
  delete: async (name) => removeSecret(running().app.ports, running().caller, { id: name }),
  rotate: async (how = {}) => rotateKey(running().app.ports, running().caller, how),
})
