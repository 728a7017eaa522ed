import { createHash } from 'node:crypto'
import { Refusal } from '../api/refusals.ts'
import type { IdempotencyKey, IdempotencyRow } from '../engine/transaction/idempotency-store.ts'
import type { Caller } from './caller.ts'
import type { Desk } from './desk/desk.ts'
import type { Work } from './turn-port.ts'
import { bindingName, type TurnReads } from './turn/turn-reads.ts'

/** What makes two requests the same request. */
export interface Once extends Omit<IdempotencyKey, 'orgId'> {
  /** What was sent; the same key with another body is a mistake of the sender. Undefined: any body repeats the first. */
  readonly body: unknown
}

type Prepared =
  { readonly kind: 'repeated'; readonly answer: unknown } | { readonly kind: 'first'; readonly inner: unknown }

/**
 * Work that is done at most once for a key. A repetition gets the first answer; one that comes while the first is under
 * way waits for it, because an org does one thing after the other. Only accepted work binds its key.
 */
export function once<Answer>(work: Work<Answer>, key: Once, isAccepted: (answer: Answer) => boolean): Work<Answer> {
  const { body, ...named } = key
  const name = bindingName(named)
  const bodyHash = createHash('sha256')
    .update(JSON.stringify(body ?? null))
    .digest()
  const repeated = (known: IdempotencyRow): Prepared => {
    if (body !== undefined && Buffer.compare(known.bodyHash, bodyHash) !== 0)
      throw new Refusal(
        'IDEMPOTENCY_MISMATCH',
        `The idempotency key ${key.key} was used before with another body; take a new key for another request`,
      )
    return { kind: 'repeated', answer: known.answer }
  }
  const looked = async (reads: TurnReads, first: () => Promise<unknown> | undefined): Promise<Prepared> => {
    const known = await reads.binding(named)
    return known === undefined ? { kind: 'first', inner: await first() } : repeated(known)
  }
  const { prepare, look } = work
  return {
    ...work,
    ...(prepare === undefined
      ? { look: (reads: TurnReads, now) => looked(reads, () => look?.(reads, now)) }
      : { prepare: (tx, now, reads) => looked(reads, () => prepare(tx, now, reads)) }),
    apply: (desk: Desk, prepared) => {
      // Somebody with the same key may have come in the same turn.
      const sooner = desk.changes.bindings.get(name)
      const found = sooner === undefined ? (prepared as Prepared) : repeated(sooner)
      if (found.kind === 'repeated') return found.answer as Answer
      const answer = work.apply(desk, found.inner)
      if (isAccepted(answer))
        desk.changes.bindings.set(name, { ...named, orgId: work.orgId, bodyHash, answer, createdAt: desk.now })
      return answer
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
