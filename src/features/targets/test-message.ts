import type { TargetTestView } from './schema.ts'
import { deliveryIdempotencyKey } from '../../domain/delivery/delivery-retry.ts'
import type { Envelope } from '../../core/delivery/letter.ts'
import { formatInstant } from '../../domain/instant.ts'
import { acted, actorOf } from '../audit/entry.ts'
import type { Caller } from '../../service/caller.ts'
import type { Ports } from '../../service/ports.ts'
import { secretsOf } from '../../service/target/signing-secret.ts'
import { addressOfTarget } from '../../service/target/address.ts'
import { readTarget } from '../../service/target/targets.ts'

/** Sends one message to a target and says what came of it. It counts for nothing: neither as a success nor as a failure. */
export async function testTarget(ports: Ports, caller: Caller, id: string): Promise<TargetTestView> {
  const { orgId } = caller
  const target = await readTarget(ports.database, orgId, id)
  const began = ports.clock.now()
  const messageId = deliveryIdempotencyKey(ports.newId('test', began))
  const data = { target_id: target.id, name: target.name, org_id: orgId }
  const body: Envelope = { type: 'target.test', timestamp: formatInstant(began), data }
  const secrets = target.kind === 'webhook' ? await secretsOf(ports, { orgId, now: began }) : []
  const { kind, settings } = target
  const url = await addressOfTarget(ports, target)
  const message = { id: messageId, orgId, kind, url, settings, body, headers: {}, secrets, purpose: 'webhook' } as const
  const outcome = await ports.outbound.post(message, new AbortController().signal)
  const view: TargetTestView = {
    delivered: outcome?.ok === true,
    message_id: messageId,
    status_code: outcome?.statusCode ?? null,
    duration_ms: Math.max(0, ports.clock.now() - began),
    error_code: outcome === null || outcome.ok ? null : outcome.error,
    message: outcome === null || outcome.ok ? null : outcome.message,
  }
  const after = { delivered: view.delivered, status_code: view.status_code }
  await ports.turns.take({
    orgId,
    apply: (desk) => {
      desk.changes.audits.push(acted(actorOf(caller), { kind: 'target', id: target.id }, { verb: 'test', after }))
    },
  })
  return view
}
