import { createHash } from 'node:crypto'
import { Refusal } from '../api/refusals.ts'
import type { IdempotencyKey, IdempotencyRow } from './transaction/idempotency-store.ts'
import type { Caller } from '../features/access/caller.ts'
import type { OrgState } from './org-state/org-state.ts'
import type { Command } from './commands-port.ts'
import { bindingName, type TransactionReads } from './transaction/reads.ts'

/** What identifies two requests as the same request. */
export interface IdempotentRequest extends Omit<IdempotencyKey, 'orgId'> {
  /**
   * The request body; the same key with another body is a mistake of the client. Undefined: any body repeats the first.
   */
  readonly body: unknown
}

type PreparedBinding =
  { readonly kind: 'repeated'; readonly answer: unknown } | { readonly kind: 'first'; readonly inner: unknown }

/**
 * Wraps a command so that it is executed at most once for a key. A repetition gets the first answer; one that arrives
 * while the first is pending waits for it, because an org applies its commands in order. Only an accepted command binds
 * its key.
 */
export function executeOnce<Answer>(
  command: Command<Answer>,
  key: IdempotentRequest,
  isAccepted: (answer: Answer) => boolean,
): Command<Answer> {
  const { body, ...scope } = key
  const name = bindingName(scope)
  const bodyHash = createHash('sha256')
    .update(JSON.stringify(body ?? null))
    .digest()
  const repeated = (known: IdempotencyRow): PreparedBinding => {
    if (body !== undefined && Buffer.compare(known.bodyHash, bodyHash) !== 0)
      throw new Refusal(
        'IDEMPOTENCY_MISMATCH',
        `The idempotency key '${key.key}' was used before with another request body; use a new key for a different request`,
      )
    return { kind: 'repeated', answer: known.answer }
  }
  const withBinding = async (
    reads: TransactionReads,
    first: () => Promise<unknown> | undefined,
  ): Promise<PreparedBinding> => {
    const known = await reads.binding(scope)
    return known === undefined ? { kind: 'first', inner: await first() } : repeated(known)
  }
  const { prepare, load } = command
  return {
    ...command,
    ...(prepare === undefined
      ? { load: (reads: TransactionReads, now) => withBinding(reads, () => load?.(reads, now)) }
      : { prepare: (tx, now, reads) => withBinding(reads, () => prepare(tx, now, reads)) }),
    apply: (state: OrgState, prepared, between) => {
      // Another request with the same key may be in the same transaction.
      const earlierBinding = state.changes.bindings.get(name)
      const found = earlierBinding === undefined ? (prepared as PreparedBinding) : repeated(earlierBinding)
      if (found.kind === 'repeated') return found.answer as Answer
      const answer = command.apply(state, found.inner, between)
      if (isAccepted(answer))
        state.changes.bindings.set(name, { ...scope, orgId: command.orgId, bodyHash, answer, createdAt: state.now })
      return answer
    },
  }
}

/**
 * The command, bound to the idempotency key of its caller, if any. The answer must be plain data: it is stored as JSON.
 */
export const bindToKey = <Answer>(
  command: Command<Answer>,
  { once: requestKey, principal }: Caller,
  isAccepted: (answer: Answer) => boolean = () => true,
): Command<Answer> =>
  requestKey === undefined
    ? command
    : executeOnce(command, { ...requestKey, principal: principal ?? 'library' }, isAccepted)
