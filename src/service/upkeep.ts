import { randomUUID } from 'node:crypto'
import { takePruning } from '../store/prune-orgs.ts'
import type { Ports } from './ports.ts'
import { createRetention } from './retention.ts'
import { sealSigningSecrets } from './target/signing-secret.ts'

/** A node that stops waits for no more than this. */
const SLICE_MS = 200

/** A node that went away while it pruned is replaced after this. */
const HELD_MS = 10_000

/**
 * What is done now and then: old rows go, and what could not be sealed before is. One node at a time does it; it goes on
 * at once while there is more, in small slices.
 */
export function createPrune(ports: Ports, sliceMs = SLICE_MS): () => Promise<boolean> {
  const retention = createRetention(ports)
  const holder = randomUUID()
  return async () => {
    if (!(await takePruning(ports.database, { holder, now: ports.clock.now(), forMs: HELD_MS }))) return false
    if (await retention.goOn(sliceMs)) return true
    await sealSigningSecrets(ports)
    return false
  }
}
