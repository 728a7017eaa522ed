import { bookHabits } from '../desk/budget-book.ts'
import type { Changes } from '../desk/desk.ts'
import type { Work } from '../turn-port.ts'
import { applyBudgets } from './budgets.ts'
import type { Claim } from './claim.ts'
import type { Memory, NodeFacts } from './memory.ts'
import { noteChanges } from './notes.ts'
import { beginTurn, letTimePass, type TurnMoment } from './passing.ts'
import { applyQuotas } from './quotas.ts'

/** What is done in a transaction. Nothing of it needs more than the desk. */
export type Deed = Pick<Work<unknown>, 'apply'>

/** What is asked of a transaction. */
export interface AskedInMemory {
  readonly at: TurnMoment
  readonly works: readonly Deed[]
  /** Starts what may start. Asked last: what was done may have given slots back. */
  readonly claim: () => readonly Claim[]
}

/**
 * One transaction of an org without a database: what was asked is done, time passes, what may start starts. Everything
 * that decides is what a node uses; here is only the order of it.
 */
export function takeTurnInMemory(
  memory: Memory,
  node: NodeFacts,
  { at, works, claim }: AskedInMemory,
): readonly Claim[] {
  const { desk } = memory
  beginTurn(memory, at)
  for (const work of works) work.apply(desk, undefined)
  noteChanges(memory, node)
  letTimePass(memory, node)
  if (desk.budgets !== null || desk.reservesChanged) reviewBudgets(memory)
  if (desk.quotas !== null || desk.quotasChanged) applyQuotas(memory)
  return claim()
}

/** The same object again: nobody looks at it after the transaction, and there are millions of them. */
export function emptied(changes: Changes): Changes {
  for (const name in changes) {
    const part: unknown = changes[name as keyof Changes]
    if (Array.isArray(part)) {
      if (part.length > 0) part.length = 0
    } else if ((part as Set<unknown>).size > 0) (part as Set<unknown>).clear()
  }
  return changes
}

/** Only what happened in memory is on record: agents and schedules that are not known have used nothing yet. */
function reviewBudgets(memory: Memory): void {
  const book = memory.desk.budgets
  if (book !== null && book.unread.agents.size + book.unread.schedules.size > 0)
    bookHabits(book, { agents: [], schedules: [] })
  applyBudgets(memory)
}
