import { Refusal } from '../../api/refusals.ts'
import type { OrgId, ScheduleId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Transaction } from '../../store/database.ts'
import { goBackTo, releaseSavepoint, setSavepoint } from '../../store/savepoints.ts'
import type { Desk } from '../desk/desk.ts'
import type { Work } from '../turn-port.ts'
import type { TurnReads } from '../turn/turn-reads.ts'
import { flawsOf, type AnyWork } from './wanted.ts'

/** One of several works that are done together, and what it is for. */
export interface Piece {
  readonly of: string
  readonly work: AnyWork
}

/** What came of it: what stands in the way of which piece, or that everything has moved meanwhile. */
export interface Outcome {
  readonly moved: boolean
  readonly flaws: ReadonlyMap<string, readonly Flaw[]>
}

export interface Together {
  readonly orgId: OrgId
  readonly pieces: readonly Piece[]
  /** Only tries: everything is taken back. */
  readonly isTrial: boolean
  /** Asked under the lock: whether everything still is as it was when the pieces were made. */
  readonly isStill: (tx: Transaction) => Promise<boolean>
}

interface Prepared extends Outcome {
  /** What each piece has prepared; null: nothing is done. */
  readonly done: readonly unknown[] | null
}

/**
 * Several works as one that is done whole or not at all. Each has prepared its part before any of them is applied; a
 * refusal takes back what all have written, and nothing on the desk has been touched by then. Each piece is tried even
 * after another was refused, so that everything that is wrong is told at once.
 */
export function together({ orgId, pieces, isTrial, isStill }: Together): Work<Outcome> {
  let answers: readonly unknown[] = []
  return {
    orgId,
    needs: {
      schedules: isTrial ? [] : pieces.flatMap(({ work }): readonly ScheduleId[] => work.needs?.schedules ?? []),
    },
    prepare: async (tx, now, reads): Promise<Prepared> => {
      if (!(await isStill(tx))) return { moved: true, flaws: NONE, done: null }
      setSavepoint(tx, 'whole')
      const { flaws, done } = await prepareAll(tx, pieces, { now, reads })
      if (flaws.size === 0 && !isTrial) {
        releaseSavepoint(tx, 'whole')
        return { moved: false, flaws, done }
      }
      await goBackTo(tx, 'whole')
      return { moved: false, flaws, done: null }
    },
    apply: (desk, prepared) => {
      const { done, ...outcome } = prepared as Prepared
      answers = done === null ? [] : applyAll(desk, pieces, done)
      return outcome
    },
    conclude: async (tx, _outcome, now) => {
      for (const [at, answer] of answers.entries()) await pieces[at]?.work.conclude?.(tx, answer as never, now)
    },
  }
}

const NONE: Outcome['flaws'] = new Map()

async function prepareAll(
  tx: Transaction,
  pieces: readonly Piece[],
  { now, reads }: { readonly now: Instant; readonly reads: TurnReads },
): Promise<{ readonly flaws: Map<string, readonly Flaw[]>; readonly done: readonly unknown[] }> {
  const flaws = new Map<string, readonly Flaw[]>()
  const done: unknown[] = []
  for (const { of, work } of pieces) {
    setSavepoint(tx, 'piece')
    try {
      done.push(await (work.prepare?.(tx, now, reads) ?? work.look?.(reads, now)))
      releaseSavepoint(tx, 'piece')
    } catch (error) {
      flaws.set(of, flawsOf(error))
      await goBackTo(tx, 'piece')
    }
  }
  return { flaws, done }
}

/** What was prepared cannot be refused any more: if it is, the turn fails as a whole and nothing is kept. */
const applyAll = (desk: Desk, pieces: readonly Piece[], done: readonly unknown[]): readonly unknown[] =>
  pieces.map(({ of, work }, at): unknown => {
    try {
      return work.apply(desk, done[at])
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw new Error(`${of} was refused after it had been prepared: ${error.message}`, { cause: error })
    }
  })
