import type { RotationInput, RotationView } from '../../features/secrets/schema.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import { acted, actorOf } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import { sealSigningSecrets } from '../target/signing-secret.ts'
import { resealAll } from './reseal.ts'

/**
 * Seals everything anew with the first key, a few rows at a time and nobody waits for it. What cannot be opened stays as it
 * is and is told of. Whoever is cut off begins again: what is done is done.
 */
export async function rotateKey(ports: Ports, caller: Caller, input: RotationInput): Promise<RotationView> {
  const { keyId, previousKeyId } = await ports.vault.changeKey({ makeNew: input.new_key === true })
  const clear = await sealSigningSecrets(ports)
  const { count, failed } = await resealAll(ports, keyId)
  const anew = clear + count
  const view: RotationView = { key_id: keyId, previous_key_id: previousKeyId, sealed_anew: anew, failed: [...failed] }
  await ports.turns.take({
    orgId: OPERATOR_ORG,
    apply: (desk) => {
      const after = { key_id: keyId, previous_key_id: previousKeyId, sealed_anew: anew, failed: failed.length }
      desk.changes.audits.push(acted(actorOf(caller), { kind: 'sealing_key', id: keyId }, { verb: 'rotate', after }))
    },
  })
  return view
}
