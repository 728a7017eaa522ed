import { Refusal } from '../../src/api/refusals.ts'
import type { Vault } from '../../src/features/secrets/vault-port.ts'

const none = (): Promise<never> => Promise.reject(new Refusal('SECRET_KEY', 'nothing is sealed here'))

/** A vault of a node that has no key: nothing is sealed, and nothing can be. */
export const NO_VAULT: Vault = {
  ...{ seal: none, open: none, selectKey: none, sign: none, check: none },
  keyIds: () => [],
  isKeyOnAllNodes: () => Promise.resolve(false),
  isSigned: () => Promise.resolve(false),
}
