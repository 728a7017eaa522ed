import type { Caller } from '../../src/features/access/caller.ts'
import type { ExplainCaller } from '../../src/features/explain/occurrence.ts'

/** Somebody who may see everything of an org, at a node that remembers nothing. */
export const anAsker = (caller: Caller, over: Partial<ExplainCaller> = {}): ExplainCaller => ({
  ...caller,
  may: () => true,
  live: {
    stateOf: () => undefined,
    positionOf: () => null,
    queuedBefore: () => null,
    explain: () => null,
    explainOutside: () => null,
  },
  ...over,
})
