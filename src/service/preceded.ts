import { Refusal } from '../api/refusals.ts'
import type { Transaction } from '../store/database.ts'
import { goBackTo, releaseSavepoint, setSavepoint } from '../store/savepoints.ts'
import type { Work } from './turn-port.ts'

/** Work that is done first: nothing follows it once it is applied. */
export type Preceding = Pick<Work<unknown>, 'prepare' | 'look' | 'apply'>

/**
 * Two works as one transaction: a refusal of the second takes back what the first has written. The second must refuse
 * while it is prepared, not while it is applied.
 */
export function precededBy<Answer>(first: Preceding | null, second: Work<Answer>): Work<Answer> {
  if (first === null) return second
  const { look: _look, ...rest } = second
  return {
    ...rest,
    prepare: async (tx, now, reads) => {
      const prepare = (work: Omit<Preceding, 'apply'>) => work.prepare?.(tx, now, reads) ?? work.look?.(reads, now)
      return wholeOrNothing(tx, async () => [await prepare(first), await prepare(second)])
    },
    apply: (desk, prepared) => {
      const [before, after] = prepared as readonly [unknown, unknown]
      const answer = second.apply(desk, after)
      first.apply(desk, before)
      return answer
    },
  }
}

async function wholeOrNothing<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  setSavepoint(tx, 'whole')
  try {
    const done = await work()
    releaseSavepoint(tx, 'whole')
    return done
  } catch (error) {
    if (error instanceof Refusal) await goBackTo(tx, 'whole')
    throw error
  }
}
