import type { TargetTestView } from './schema.ts'
import { deliveryIdempotencyKey } from '../../domain/delivery/delivery-retry.ts'
import type { Envelope } from '../../domain/delivery/email-message.ts'
import { formatInstant } from '../../domain/instant.ts'
import { acted, actorOf } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import { loadSigningTexts } from './signing-secret.ts'
import { openTargetUrl } from './address.ts'
import { loadRequestedTarget } from './service.ts'

/** Sends a test message and returns the outcome, which counts neither as a success nor as a failure of the target. */
export async function testTarget(ports: Ports, caller: Caller, id: string): Promise<TargetTestView> {
  const { orgId } = caller
  const target = await loadRequestedTarget(ports.database, orgId, id)
  const startedAt = ports.clock.now()
  const messageId = deliveryIdempotencyKey(ports.newId('test', startedAt))
  const data = { target_id: target.id, name: target.name, org_id: orgId }
  const body: Envelope = { type: 'target.test', timestamp: formatInstant(startedAt), data }
  const secrets = target.kind === 'webhook' ? await loadSigningTexts(ports, { orgId, now: startedAt }) : []
  const { kind, settings } = target
  const url = await openTargetUrl(ports, target)
  const message = { id: messageId, orgId, kind, url, settings, body, headers: {}, secrets, purpose: 'webhook' } as const
  const outcome = await ports.outbound.post(message, new AbortController().signal)
  const view: TargetTestView = {
    delivered: outcome?.ok === true,
    message_id: messageId,
    status_code: outcome?.statusCode ?? null,
    duration_ms: Math.max(0, ports.clock.now() - startedAt),
    error_code: outcome === null || outcome.ok ? null : outcome.error,
    message: outcome === null || outcome.ok ? null : outcome.message,
  }
  const after = { delivered: view.delivered, status_code: view.status_code }
  await ports.commands.execute({
    orgId,
    apply: (state) => {
      state.changes.audits.push(acted(actorOf(caller), { kind: 'target', id: target.id }, { verb: 'test', after }))
    },
  })
  return view
}
