import { Refusal } from '../api/refusals.ts'
import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { OrgState } from './org-state/org-state.ts'
import type { TransactionReads } from './transaction/reads.ts'
import { rollBackToSavepoint, releaseSavepoint, setSavepoint } from '../platform/db/advisory-locks.ts'
import type { Transaction } from '../platform/db/database.ts'

/** A change to an org, applied under the org's lock in one transaction together with other commands. */
export interface Command<Answer> {
  readonly orgId: OrgId
  /** Rows that must be in the org state before `apply` runs. */
  readonly needs?: {
    readonly sessions?: readonly SessionKey[]
    readonly schedules?: readonly ScheduleId[]
    readonly agents?: readonly AgentId[]
    /** Pending runs; those that are not pending are left out. */
    readonly runs?: readonly RunId[]
    /** Sessions whose oldest waiting run must be in the org state whatever their rules are. */
    readonly oldest?: readonly SessionKey[]
  }
  /**
   * Reads what `apply` needs beyond the org state; the result is passed to `apply`. It must not write, because it
   * shares its transaction with other commands.
   */
  readonly load?: (reads: TransactionReads, now: Instant) => Promise<unknown>
  /**
   * Extra statements of rare operations, run before `apply` and instead of `load`; the result is passed to `apply`. A
   * command with `prepare` gets a transaction of its own.
   */
  readonly prepare?: (tx: Transaction, now: Instant, reads: TransactionReads) => Promise<unknown>
  /**
   * Decides and changes the org state. Throwing a Refusal refuses this command alone and must happen before any change.
   */
  readonly apply: (state: OrgState, prepared: unknown) => Answer
  /** Extra statements after `apply`, in the same transaction. */
  readonly afterApply?: (tx: Transaction, answer: Answer, now: Instant) => Promise<void>
}

/** Executes commands. */
export interface Commands {
  readonly execute: <Answer>(command: Command<Answer>) => Promise<Answer>
}

/** A command that runs first: nothing follows it once it is applied. */
export type PrecedingCommand = Pick<Command<unknown>, 'prepare' | 'load' | 'apply'>

/**
 * Combines two commands into one transaction: when the second is refused, what the first has written is rolled back.
 * The second must refuse while it is prepared, not while it is applied.
 */
export function precededBy<Answer>(first: PrecedingCommand | null, second: Command<Answer>): Command<Answer> {
  if (first === null) return second
  const { load: _load, ...rest } = second
  return {
    ...rest,
    prepare: async (tx, now, reads) => {
      const prepare = (command: Omit<PrecedingCommand, 'apply'>) =>
        command.prepare?.(tx, now, reads) ?? command.load?.(reads, now)
      return inSavepoint(tx, async () => [await prepare(first), await prepare(second)])
    },
    apply: (state, prepared) => {
      const [before, after] = prepared as readonly [unknown, unknown]
      const answer = second.apply(state, after)
      first.apply(state, before)
      return answer
    },
  }
}

async function inSavepoint<T>(tx: Transaction, command: () => Promise<T>): Promise<T> {
  setSavepoint(tx, 'whole')
  try {
    const done = await command()
    releaseSavepoint(tx, 'whole')
    return done
  } catch (error) {
    if (error instanceof Refusal) await rollBackToSavepoint(tx, 'whole')
    throw error
  }
}
