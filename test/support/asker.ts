import type { Caller } from '../../src/service/caller.ts'
import type { Asker } from '../../src/features/explain/occurrence.ts'

/** Somebody who may see everything of an org, at a node that remembers nothing. */
export const anAsker = (caller: Caller, over: Partial<Asker> = {}): Asker => ({
  ...caller,
  may: () => true,
  live: { stateOf: () => undefined, positionOf: () => null, explain: () => null },
  ...over,
})
