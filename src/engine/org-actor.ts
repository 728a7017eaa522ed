import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Command } from './commands-port.ts'
import { applyCapabilities, type LoadedOrg } from './org-state/memory.ts'
import { StateBehind } from './transaction/catch-up.ts'
import type { SlotOffer } from './transaction/claim.ts'
import { readFailure } from './transaction/failures.ts'
import { StateTooOld } from './transaction/history-store.ts'
import { nextDueTime } from './transaction/pass-time.ts'
import {
  CommitUnknown,
  runTransaction,
  type TransactionContext,
  type TransactionResult,
  wasCommitted,
} from './transaction/transaction.ts'
import { createCommandQueue, type QueuedCommand, type CommandQueue, type CommandQueueContext } from './work-queue.ts'

/**
 * Executes the commands of one org, one transaction at a time. Commands that arrive during a transaction share the next
 * one: a single caller waits for no other, and a thousand callers share one transaction.
 */
export interface OrgActor {
  readonly orgId: OrgId
  /** A `patient` command is retried until it succeeds; any other is refused when it has waited too long. */
  readonly execute: <Answer>(command: Command<Answer>, patient?: boolean) => Promise<Answer>
  /** Requests a transaction, because something has changed outside or a time has come. */
  readonly wake: () => void
  /** The loaded org state; null while nothing is loaded. Between transactions it may be behind other nodes. */
  readonly loaded: () => LoadedOrg | null
  /** The node's lanes, executors or settings have changed. */
  readonly refresh: () => void
  /** No transaction is in progress, no command is queued and no timer is set. */
  readonly isIdle: () => boolean
  /** Waits for the transaction in progress and all commands submitted before. */
  readonly idle: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What an org actor needs from its node. */
export interface OrgActorContext extends CommandQueueContext {
  readonly transactionContext: () => TransactionContext
  readonly load: (orgId: OrgId) => Promise<LoadedOrg>
  /**
   * Applies other nodes' transactions, without the org's lock, to a state that is far behind. Null: it must be loaded
   * again.
   */
  readonly catchUpWithoutLock: (org: LoadedOrg) => Promise<TransactionResult['caughtUp'] | null>
  /** Null while the node claims nothing. */
  readonly offer: (orgId: OrgId) => SlotOffer | null
  /** The transaction is decided and being committed: the node needs no more slots for it than it has claimed. */
  readonly decided: (orgId: OrgId) => void
  readonly withdraw: (orgId: OrgId) => void
  /**
   * A transaction was committed. Called before any caller gets its answer. `reloaded`: the changes since the last one
   * are unknown. Returns the function that starts the claimed runs, which is called once and soon.
   */
  readonly committed: (actor: OrgActor, result: TransactionResult, reloaded: boolean) => () => void
  /** Whether no other node runs transactions in this org, so that the lock is never contended. */
  readonly isAlone: () => boolean
  /** `broken`: the database answers, but something in the transaction cannot be done. */
  readonly failed: (error: unknown, broken: boolean) => void
  /** The org makes no progress although the database answers: its transactions have failed this many times in a row. */
  readonly stuck: (orgId: OrgId, error: unknown, failures: number) => void
  /** A listener failed after a commit, which changes nothing about the transaction. */
  readonly listenerFailed: (error: unknown) => void
  readonly recovered: () => void
  /** Calls back at the time, or soon after. Returns a function that cancels the call. */
  readonly callAt: (at: Instant, callback: () => void) => () => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** The wait after this many failures in a row. */
  readonly backoffMs: (failures: number) => number
}

/** The state of an org actor. */
interface ActorState {
  readonly ctx: OrgActorContext
  readonly actor: OrgActor
  readonly closing: AbortController
  readonly queue: CommandQueue
  loaded: LoadedOrg | null
  /** Transactions of other nodes that were applied outside the lock and not published yet. */
  caughtUp: TransactionResult['caughtUp']
  /** The node has changed since the org state was told about it. */
  stale: boolean
  /** The changes since the last committed transaction are not known. */
  reloaded: boolean
  /** A transaction is requested although no command may be queued. */
  requested: boolean
  running: Promise<void> | null
  failures: number
  /** How many of the last failures were not the database's. */
  repeats: number
  cancelTimer: (() => void) | null
  /** Starts the claims of the last transaction. Null: they have started. */
  start: (() => void) | null
}

const STOPPED = 'the engine has stopped'

export function createOrgActor(ctx: OrgActorContext, orgId: OrgId): OrgActor {
  const actor: OrgActor = {
    orgId,
    execute: <Answer>(command: Command<Answer>, patient = false) => {
      if (state.closing.signal.aborted) return Promise.reject(new Error(STOPPED))
      const answer = state.queue.add(command, patient)
      state.running ??= runLoop(state)
      return answer
    },
    wake: () => {
      wake(state)
    },
    loaded: () => state.loaded,
    refresh: () => {
      state.stale = true
      wake(state)
    },
    isIdle: () => state.running === null && state.queue.isEmpty() && state.cancelTimer === null,
    idle: async () => {
      while (state.running !== null) await state.running
    },
    close: async () => {
      state.closing.abort()
      state.cancelTimer?.()
      while (state.running !== null) await state.running
      state.queue.close(new Error(STOPPED))
    },
  }
  const state: ActorState = {
    ctx,
    actor,
    closing: new AbortController(),
    queue: createCommandQueue(ctx),
    loaded: null,
    caughtUp: [],
    stale: false,
    reloaded: true,
    requested: false,
    running: null,
    failures: 0,
    repeats: 0,
    cancelTimer: null,
    start: null,
  }
  return actor
}

function wake(state: ActorState): void {
  state.requested = true
  state.running ??= runLoop(state)
}

async function runLoop(state: ActorState): Promise<void> {
  // Commands submitted in the same tick share a transaction.
  await Promise.resolve()
  const isNeeded = (): boolean => (!state.queue.isEmpty() || state.requested) && !state.closing.signal.aborted
  while (isNeeded()) {
    await runNextTransaction(state)
    // Starting claims may submit more commands, so check again when nothing else is left.
    if (!isNeeded()) startClaims(state)
  }
  state.running = null
  state.cancelTimer?.()
  const next = state.loaded === null ? null : nextDueTime(state.loaded)
  const over = next === null || state.closing.signal.aborted
  state.cancelTimer = over
    ? null
    : state.ctx.callAt(next, () => {
        wake(state)
      })
}

/** What a transaction has taken from the queue. */
interface Batch {
  entries: readonly QueuedCommand[]
}

async function runNextTransaction(state: ActorState): Promise<void> {
  state.requested = false
  const batch: Batch = { entries: [] }
  let result: TransactionResult
  try {
    result = await tryTransaction(state, batch)
  } catch (error) {
    startClaims(state)
    // Before anything is decided the org state is still valid.
    if (state.loaded?.isUnsettled === true || error instanceof StateTooOld) unload(state)
    // Until it is known whether the transaction was committed, its slots must not be offered to another org.
    if (!(error instanceof CommitUnknown)) state.ctx.withdraw(state.actor.orgId)
    await recover(state, batch.entries, error)
    return
  }
  startClaims(state)
  completeCommands(state, batch.entries, result)
  state.ctx.withdraw(state.actor.orgId)
}

async function tryTransaction(state: ActorState, batch: Batch): Promise<TransactionResult> {
  const { ctx, actor, queue } = state
  state.loaded ??= await ctx.load(actor.orgId)
  const turnContext = ctx.transactionContext()
  applyNodeChanges(state)
  return runTransaction(turnContext, state.loaded, {
    ahead: () => queue.next().map(({ command }) => command),
    commands: () => {
      // A caller that changes a lane and then submits a command expects the new lane, also in a transaction in
      // progress.
      applyNodeChanges(state)
      batch.entries = queue.takeNext()
      return batch.entries.map(({ command }) => command)
    },
    offer: () => ctx.offer(actor.orgId),
    committing: () => {
      ctx.decided(actor.orgId)
      startClaims(state)
    },
  })
}

/** Drops a state that can no longer be trusted. */
function unload(state: ActorState): void {
  state.loaded = null
  state.caughtUp = []
  state.reloaded = true
}

function applyNodeChanges(state: ActorState): void {
  if (state.stale && state.loaded !== null) applyCapabilities(state.loaded, state.ctx.transactionContext().node)
  state.stale = false
}

/** The transaction is committed: no failure after this may execute any of it again. */
function completeCommands(state: ActorState, entries: readonly QueuedCommand[], committed: TransactionResult): void {
  const { ctx, queue } = state
  const result: TransactionResult =
    state.caughtUp.length === 0 ? committed : { ...committed, caughtUp: [...state.caughtUp, ...committed.caughtUp] }
  state.caughtUp = []
  try {
    if (state.failures > 0) ctx.recovered()
    state.start = ctx.committed(state.actor, result, state.reloaded)
    // With more commands waiting, the claims start while the server writes the next transaction, so both work at once.
    if (!ctx.isAlone()) startClaims(state)
  } catch (error) {
    ctx.listenerFailed(error)
  }
  state.failures = 0
  state.repeats = 0
  queue.setFailure(null)
  state.reloaded = state.loaded === null
  result.results.forEach((done, index) => {
    if (done.ok) entries[index]?.resolve(done.answer)
    else entries[index]?.reject(done.refusal)
  })
  // The transaction had no time for the rest.
  if (result.results.length < entries.length) queue.putBack(entries.slice(result.results.length))
}

function startClaims(state: ActorState): void {
  const { start: startAll } = state
  state.start = null
  startAll?.()
}

async function recover(state: ActorState, entries: readonly QueuedCommand[], error: unknown): Promise<void> {
  const { ctx, queue } = state
  if (error instanceof StateBehind) {
    await catchUpAndRetry(state, entries)
    return
  }
  state.failures += 1
  queue.setFailure(error)
  const failure = readFailure(error)
  if (failure !== 'repeat') ctx.failed(error, failure === 'broken')
  state.repeats = failure === 'repeat' ? state.repeats + 1 : 0
  if (isWorthLogging(state.repeats)) ctx.stuck(state.actor.orgId, error, state.repeats)
  if (error instanceof CommitUnknown) {
    const committed = await waitForOutcome(state, error)
    if (committed) completeCommands(state, entries, error.result)
    ctx.withdraw(state.actor.orgId)
    if (committed) return
  }
  // Commands that were not in a transaction yet cannot be the cause; they wait.
  if (failure === 'broken') {
    if (entries.length === 1) {
      entries[0]?.reject(error)
      state.failures = 0
      return
    }
    for (const entry of entries) entry.alone = true
  }
  queue.putBack(entries)
  state.requested = true
  const waitMs = failure === 'repeat' && state.failures < 3 ? 0 : ctx.backoffMs(state.failures)
  await ctx.sleep(waitMs, state.closing.signal)
}

/** Log the third failure in a row, and from then on each time the count has doubled. */
const isWorthLogging = (failures: number): boolean => failures >= 3 && Number.isInteger(Math.log2(failures / 3))

/** Nothing has failed: applies other nodes' transactions without the lock, and starts again. */
async function catchUpAndRetry(state: ActorState, entries: readonly QueuedCommand[]): Promise<void> {
  state.queue.putBack(entries)
  state.requested = true
  const { loaded: org } = state
  if (org === null) return
  try {
    const caughtUp = await state.ctx.catchUpWithoutLock(org)
    if (caughtUp === null) unload(state)
    else state.caughtUp = [...state.caughtUp, ...caughtUp]
  } catch (error) {
    if (org.isUnsettled) unload(state)
    await recover(state, [], error)
  }
}

async function waitForOutcome(state: ActorState, unknown: CommitUnknown): Promise<boolean> {
  const { ctx, closing, actor } = state
  for (let tries = 1; !closing.signal.aborted; tries += 1)
    try {
      return await wasCommitted(ctx.transactionContext(), actor.orgId, unknown.written)
    } catch (error) {
      ctx.failed(error, false)
      await ctx.sleep(ctx.backoffMs(tries), closing.signal)
    }
  return false
}
