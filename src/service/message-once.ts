import { createHash } from 'node:crypto'
import type { SessionKey } from '../domain/ids.ts'
import type { Submitted } from './desk/submit.ts'
import { once, type Once } from './idempotent.ts'
import type { Work } from './turn-port.ts'

/** What became of a message, and the id under which its sender knows it. */
export interface Sent {
  readonly submitted: Submitted
  readonly messageId: string
  /** It was sent before: this is what became of it then. */
  readonly duplicate?: true
}

/** A message as its sender names it. */
export interface NamedMessage {
  /** Who names it: a key, a member, a channel, or the program around us. */
  readonly principal: string
  readonly session: SessionKey
  readonly messageId: string
}

export const isAccepted = ({ submitted }: Sent): boolean => submitted.kind !== 'rejected'

/** What a message id is bound under. The id and the session may be long, and rows of an index may not. */
export const bindingOf = ({ principal, session, messageId }: NamedMessage): Once => ({
  ...{ principal, route: 'message_id' },
  key: createHash('sha256')
    .update(JSON.stringify([session, messageId]))
    .digest('hex'),
  body: undefined,
})

/** Work that is done once for each of the bindings; a repetition changes nothing and says so. */
export function onceMarked(work: Work<Sent>, bindings: readonly Once[]): Work<Sent> {
  let applied = 0
  const noting: Work<Sent> = {
    ...work,
    apply: (desk, prepared) => {
      applied += 1
      return work.apply(desk, prepared)
    },
  }
  const bound = bindings.reduce<Work<Sent>>((inner, binding) => once(inner, binding, isAccepted), noting)
  return {
    ...bound,
    apply: (desk, prepared) => {
      const before = applied
      const sent = bound.apply(desk, prepared)
      return applied > before ? sent : { ...sent, duplicate: true }
    },
  }
}
