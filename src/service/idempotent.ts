import { createHash } from 'node:crypto'
import { DAY_MS, earlier } from '../core/instant.ts'
import { Refusal } from '../contract/refusals.ts'
import { insertIdempotency, loadIdempotency, type IdempotencyKey } from '../store/idempotency.ts'
import type { Caller } from './caller.ts'
import type { Work } from './turn-port.ts'

/** How long a key is remembered. */
const KEPT_MS = DAY_MS

/** What makes two requests the same request. */
export interface Once extends Omit<IdempotencyKey, 'orgId'> {
  /** What was sent; the same key with another body is a mistake of the sender. */
  readonly body: unknown
}

type Prepared<Answer> =
  | { readonly kind: 'repeated'; readonly answer: Answer }
  | { readonly kind: 'first'; readonly inner: unknown; readonly bodyHash: Uint8Array }

/**
 * Work that is done at most once for a key. A repetition gets the first answer; one that comes while the first is under
 * way waits for it, because an org does one thing after the other. Only accepted work binds its key.
 */
export function once<Answer>(work: Work<Answer>, key: Once, isAccepted: (answer: Answer) => boolean): Work<Answer> {
  const { principal, route, key: text, body } = key
  const bound = { orgId: work.orgId, principal, route, key: text }
  const bodyHash = createHash('sha256').update(JSON.stringify(body)).digest()
  return {
    ...work,
    prepare: async (tx, now): Promise<Prepared<Answer>> => {
      const known = await loadIdempotency(tx, { ...bound, since: earlier(now, KEPT_MS) })
      if (known === undefined) return { kind: 'first', inner: await work.prepare?.(tx, now), bodyHash }
      if (Buffer.compare(known.bodyHash, bodyHash) !== 0)
        throw new Refusal('IDEMPOTENCY_MISMATCH', `The idempotency key ${text} was used before with another body`)
      return { kind: 'repeated', answer: known.answer as Answer }
    },
    apply: (desk, prepared) => {
      const found = prepared as Prepared<Answer>
      return found.kind === 'repeated' ? found.answer : work.apply(desk, found.inner)
    },
    conclude: async (tx, answer, now) => {
      await work.conclude?.(tx, answer, now)
      // A repetition finds its key bound and changes nothing.
      if (isAccepted(answer)) await insertIdempotency(tx, { ...bound, bodyHash, answer, createdAt: now })
    },
  }
}

/** The work, bound to the key its caller brought along, if any. The answer must be plain data: it is kept as JSON. */
export const bound = <Answer>(
  work: Work<Answer>,
  { once: brought, principal }: Caller,
  isAccepted: (answer: Answer) => boolean = () => true,
): Work<Answer> =>
  brought === undefined ? work : once(work, { ...brought, principal: principal ?? 'library' }, isAccepted)
