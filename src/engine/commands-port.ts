import { orRefusal, Refusal } from '../api/refusals.ts'
import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { addAll } from '../domain/long-lists.ts'
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
   * A command that decides much calls `between` from time to time, so that the server writes what is decided meanwhile.
   */
  readonly apply: (state: OrgState, prepared: unknown, between?: () => void) => Answer
  /** Extra statements after `apply`, in the same transaction. */
  readonly afterApply?: (tx: Transaction, answer: Answer, now: Instant) => Promise<void>
}

/** The outcome of one of several commands: its answer, or why it was refused. Plain data, to be stored for repetitions. */
export type Outcome<Answer> = { readonly ok: true; readonly answer: Answer } | RefusedOutcome

interface RefusedOutcome extends Pick<Refusal, 'code' | 'message' | 'runId' | 'retryAfterMs'> {
  readonly ok: false
}

export const refusedOutcome = ({ code, message, runId, retryAfterMs }: Refusal): RefusedOutcome => ({
  ok: false,
  code,
  message,
  runId,
  retryAfterMs,
})

/** A command without statements of its own. */
export type PlainCommand<Answer> = Omit<Command<Answer>, 'prepare' | 'afterApply'>

/** Several commands of an org as one: applied in order, each decided on its own. */
export function eachOf<Answer>(
  orgId: OrgId,
  commands: readonly PlainCommand<Answer>[],
): Command<readonly Outcome<Answer>[]> {
  const load = (reads: TransactionReads, now: Instant): Promise<readonly unknown[]> =>
    Promise.all(commands.map((command) => loadOrRefusal(command, reads, now)))
  // Not each once: every submission to a session may drop a run there.
  const keysOf = <Key>(keys: (needs: NonNullable<Command<Answer>['needs']>) => readonly Key[] | undefined): Key[] => {
    const all: Key[] = []
    for (const { needs } of commands) if (needs !== undefined) addAll(all, keys(needs) ?? [])
    return all
  }
  return {
    orgId,
    needs: {
      sessions: keysOf(({ sessions }) => sessions),
      schedules: keysOf(({ schedules }) => schedules),
      agents: keysOf(({ agents }) => agents),
      runs: keysOf(({ runs }) => runs),
    },
    ...(commands.some((command) => command.load !== undefined) ? { load } : {}),
    apply: (state, prepared, between) => {
      const loaded = prepared as readonly unknown[] | undefined
      return commands.map((command, index) => {
        between?.()
        return applied(command, state, loaded?.[index])
      })
    },
  }
}

async function loadOrRefusal<Answer>(
  { load }: PlainCommand<Answer>,
  reads: TransactionReads,
  now: Instant,
): Promise<unknown> {
  try {
    return await load?.(reads, now)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function applied<Answer>(command: PlainCommand<Answer>, state: OrgState, loaded: unknown): Outcome<Answer> {
  const answer = loaded instanceof Refusal ? loaded : orRefusal(() => command.apply(state, loaded))
  return answer instanceof Refusal ? refusedOutcome(answer) : { ok: true, answer }
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
