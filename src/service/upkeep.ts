import type { Ports } from './ports.ts'
import { createRetention } from './retention.ts'
import { sealSigningSecrets } from './target/signing-secret.ts'

/** What is done now and then: old rows go, and what could not be sealed before is. */
export function createPrune(ports: Ports): () => Promise<boolean> {
  const retention = createRetention(ports)
  return async () => {
    await retention.pass()
    await sealSigningSecrets(ports)
    return false
  }
}
