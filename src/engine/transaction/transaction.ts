import { Refusal } from '../../api/refusals.ts'
import type { AgentId, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import { DAY_MS, earlier, type Instant } from '../../domain/instant.ts'
import type { Command } from '../commands-port.ts'
import { type Assignment, assignReadyRuns } from '../commands/assign.ts'
import { decideHeartbeats } from '../commands/heartbeats.ts'
import { chargeStated } from '../commands/quotas.ts'
import { joinSession } from '../commands/submit.ts'
import { DEFAULT_WINDOW, loadShortSessions, moveToBacklog } from '../org-state/backlog.ts'
import { applyAgentChanges, applyChanges, reloadOrgLimits } from '../org-state/changes.ts'
import {
  setVersion,
  type CommandBatch,
  loadNeeds,
  missingRows,
  readAhead,
  taskAgent,
  withBacklog,
} from '../org-state/load.ts'
import { type LoadedOrg, type NodeCapabilities, evictIdleRows } from '../org-state/memory.ts'
import type { Changes, OrgState } from '../org-state/org-state.ts'
import { keepPayloads } from '../org-state/payloads.ts'
import { catchUp } from './catch-up.ts'
import { type Claim, type SlotOffer, startReadyRuns } from './claim.ts'
import {
  loadVersionAndLease,
  loadTransactionWriter,
  orgLock,
  StateTooOld,
  type VersionAndLease,
  type StoredEvent,
  type TransactionRow,
} from './history-store.ts'
import { type Allowance, allowanceOf, NO_TRANSACTION_LIMITS, type TransactionLimits } from './limits.ts'
import { advanceTime, beginOrgTransaction, loadPassing, unblockHeld } from './pass-time.ts'
import { createTransactionReads } from './reads.ts'
import { reviewBudgets, reviewQuotas } from './review-budgets.ts'
import { isUnchanged, saveEndings, saveNewRuns, saveTransaction } from './save.ts'
import { appendAudits } from '../../features/audit/entry.ts'
import { loadPayloads } from '../../features/runs/read-store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { isCommitUnknown } from '../../platform/db/database-error.ts'
import type { Database, Transaction } from '../../platform/db/database.ts'

type WithPayload = Pick<Claim, 'run' | 'payload'>
type Payloads = ReadonlyMap<RunId, unknown>
const NO_PAYLOADS: Promise<Payloads> = Promise.resolve(new Map())

/** Reads the payloads that are not in memory; the rest of the transaction is sent before they arrive. */
function readPayloads(tx: Transaction, { state }: LoadedOrg, items: readonly WithPayload[]): Promise<Payloads> {
  const ids = items.filter(({ payload }) => payload === undefined).map(({ run }) => run.id)
  if (ids.length === 0) return NO_PAYLOADS
  const read = async (): Promise<Payloads> => {
    const payloads = await loadPayloads(tx, { orgId: state.orgId, ids })
    if (state.quotas !== null)
      for (const { run } of items)
        if (payloads.has(run.id)) chargeStated(state, state.quotas, { run, payload: payloads.get(run.id) })
    return payloads
  }
  const reading = read()
  // A statement that fails first ends the transaction before this result is awaited.
  reading.catch(() => undefined)
  return reading
}

/** Fills in the payloads that were read. */
const withPayloads = <Item extends WithPayload>(items: readonly Item[], payloads: Payloads): readonly Item[] =>
  payloads.size === 0
    ? items
    : items.map((item) => (item.payload === undefined ? { ...item, payload: payloads.get(item.run.id) } : item))

/** What a transaction needs from its node. */
export interface TransactionContext {
  readonly database: Database
  readonly node: NodeCapabilities
  readonly nodeId: string
  /** Records the database's time and returns the engine's. */
  readonly syncClock: (databaseTime: Instant) => Instant
  /** How much one transaction may do. Left out: no limits. */
  readonly limits?: TransactionLimits
  /**
   * The node's counter before the transaction was requested: no answer of the database in it is older. Left out: not
   * known.
   */
  readonly askedAt?: number
}

/** The result of one command: its answer, or its refusal. */
export type CommandResult =
  { readonly ok: true; readonly answer: unknown } | { readonly ok: false; readonly refusal: Refusal }

export interface TransactionResult {
  /** In the order of the commands; commands at the end that the transaction had no time for are missing. */
  readonly results: readonly CommandResult[]
  readonly claims: readonly Claim[]
  /** The runs assigned to workers that wait at this node. */
  readonly assigned: readonly Assignment[]
  /** Transactions of other nodes that were not known before. */
  readonly caughtUp: readonly TransactionRow[]
  /** The history row; null when nothing changed. */
  readonly written: TransactionRow | null
  /** Changed runs, by this node or others: their attempts on this node may have to be aborted. */
  readonly changed: readonly RunRow[]
  /** Until when the node's lease holds for certain, by its counter; null: not known. */
  readonly sureUntil: number | null
  /** All changes of the transaction, for the meter; valid until the next transaction. */
  readonly changes: Changes
}

/**
 * One transaction of an org: under its lock, update the state, apply the commands, let time pass, start runs, write
 * everything. After an error the state must not be used again, because it may contain decisions that were not
 * committed.
 */
export async function runTransaction(
  ctx: TransactionContext,
  org: LoadedOrg,
  request: Omit<TransactionRequest, 'org'>,
): Promise<TransactionResult> {
  const result = await commitTransaction(ctx, { org, ...request })
  const { written } = result
  if (written !== null) setVersion(org, { version: written.no, at: written.at, writer: written.nodeId })
  org.isUnsettled = false
  keepPayloads(org)
  evictIdleRows(org)
  return result
}

async function commitTransaction(ctx: TransactionContext, request: TransactionRequest): Promise<TransactionResult> {
  const decided: TransactionResult[] = []
  try {
    return await ctx.database.transaction(
      async (tx) => {
        const result = await runInTransaction(tx, ctx, request)
        decided.push(result)
        return result
      },
      { lock: request.org.lock, committing: request.committing },
    )
  } catch (error) {
    const [result] = decided
    if (result === undefined || result.written === null || !isCommitUnknown(error)) throw error
    throw new CommitUnknown(result, result.written, error)
  }
}

/**
 * The connection ended during COMMIT. Whether the transaction was committed is read from its row in the org's history,
 * under the lock: once the lock is free, a commit in progress has ended one way or the other.
 */
export class CommitUnknown extends Error {
  readonly result: TransactionResult
  readonly written: TransactionRow

  constructor(result: TransactionResult, written: TransactionRow, cause: unknown) {
    super('it is not known whether the transaction was committed', { cause })
    this.name = 'CommitUnknown'
    this.result = result
    this.written = written
  }
}

/** Whether the transaction was committed after all. */
export async function wasCommitted(
  ctx: Pick<TransactionContext, 'database'>,
  orgId: OrgId,
  transaction: TransactionRow,
): Promise<boolean> {
  const findWriter = async (tx: Transaction): Promise<boolean> => {
    const writer = await loadTransactionWriter(tx, { orgId, no: transaction.no })
    return writer !== null && writer.nodeId === transaction.nodeId && writer.at === transaction.at
  }
  return ctx.database.transaction(findWriter, { lock: orgLock(orgId) })
}

interface TransactionRequest {
  readonly org: LoadedOrg
  /** The probable commands: what they need is read in the same round trip as the lock. */
  readonly ahead: () => readonly Command<unknown>[]
  /** Called as late as possible, so that commands that arrive while waiting for the lock are included. */
  readonly commands: () => readonly Command<unknown>[]
  readonly offer: () => SlotOffer | null
  /** The transaction is decided and being committed; until it is, there is time for other things. */
  readonly committing: () => void
}

async function runInTransaction(
  tx: Transaction,
  ctx: TransactionContext,
  request: TransactionRequest,
): Promise<TransactionResult> {
  const { org, commands, offer } = request
  const { state } = org
  const readingHead = loadVersionAndLease(tx, { orgId: state.orgId, nodeId: ctx.nodeId })
  const ahead = readAhead(tx, org, { node: ctx.node, ...missingRows(org, request.ahead()) })
  const head = await readingHead
  const caughtUp = await catchUp(tx, org, { newest: head, node: ctx.node })
  if (caughtUp === null) throw new StateTooOld(state.orgId)
  const { limits = NO_TRANSACTION_LIMITS } = ctx
  org.isUnsettled = true
  const { version, at: newestAt } = head
  const now = ctx.syncClock(head.now)
  beginOrgTransaction(org, { now, newestAt, no: version + 1, maxChanges: limits.maxChanges })
  await ahead.arrive()
  const results = await applyCommands(tx, ctx, { org, commands: commands(), ahead })
  applyAgentChanges(org)
  // Every change of an org is audited, and most transactions have no audit entry.
  if (state.changes.audits.length > 0) await reloadOrgLimits(tx, org)
  applyChanges(org, ctx.node)
  const allowance = allowanceOf(limits)
  await withBacklog(tx, { org, node: ctx.node }, loadPassing(org, allowance))
  advanceTime(org, ctx.node, { allowance, between: () => saveEndings(tx, state) })
  if (state.budgets !== null || state.reservesChanged) await reviewBudgets(tx, org)
  if (state.quotas !== null || state.quotasChanged) await reviewQuotas(tx, org)
  if (state.changes.endedHeartbeats.length > 0) await decideHeartbeats(tx, state)
  // A node whose lease has lapsed must not claim runs. Compared with the clock, because the org's time does not follow
  // a clock that was set back.
  const alive = head.leaseUntil !== null && head.leaseUntil > now
  // The server writes endings while runs are picked.
  saveEndings(tx, state)
  const changedBefore = state.changes.changed.size
  // Called last: a slot released by a report of this transaction must be on offer in it, or its run would wait in vain.
  const offered = alive ? offer() : null
  const started = await startRuns(tx, ctx, { org, offered, allowance })
  const { audits } = state.changes
  if (audits.length > 0) await appendAudits(tx, state.orgId, { entries: audits, at: state.now })
  const changed = [...state.changes.changed]
  const written = isUnchanged(state.changes) ? null : writeTransaction(tx, ctx, { state, changedBefore })
  return {
    results,
    claims: await started.claims(),
    assigned: await started.assigned(),
    caughtUp,
    written,
    changed,
    sureUntil: sureUntil(ctx, head),
    changes: state.changes,
  }
}

/** What has started, with payloads, which arrive later. */
interface StartedRuns {
  readonly claims: () => Promise<readonly Claim[]>
  readonly assigned: () => Promise<readonly Assignment[]>
}

/** Starts and assigns what may start, and leaves in memory what is near its turn. */
async function startRuns(
  tx: Transaction,
  { node }: TransactionContext,
  request: { readonly org: LoadedOrg; readonly offered: SlotOffer | null; readonly allowance: Allowance },
): Promise<StartedRuns> {
  const { org, offered, allowance } = request
  const { state } = org
  const within = { org, node }
  const before = allowance.left
  const newcomers = node.window?.() ?? null
  const start = { allowance, window: newcomers ?? DEFAULT_WINDOW }
  const claims = offered === null ? [] : await withBacklog(tx, within, startReadyRuns(org, offered, start))
  unblockHeld(org, node)
  const ofClaims = readPayloads(tx, org, claims)
  // With quotas, the tokens these runs state decide what else may start.
  if (state.quotas !== null) await ofClaims
  const waiting = offered?.workers ?? null
  const assigned =
    waiting === null ? NO_ASSIGNMENTS : await withBacklog(tx, within, assignReadyRuns(org, waiting, start))
  const ofAssigned = readPayloads(tx, org, assigned)
  if (state.quotas !== null) await ofAssigned
  // Some runs ended instead of starting: runs that waited for their schedule slots are ready now.
  if (allowance.left < before) {
    saveEndings(tx, state)
    applyChanges(org, node)
  }
  await withBacklog(tx, within, loadShortSessions(org, start.window))
  if (newcomers !== null) moveToBacklog(org, newcomers)
  return {
    claims: async () => withPayloads(claims, await ofClaims),
    assigned: async () => withPayloads(assigned, await ofAssigned),
  }
}

/** The lease was read after `askedAt`, so it lasts at least as long from there as it had left then. */
const sureUntil = ({ askedAt }: TransactionContext, { now, leaseUntil }: VersionAndLease): number | null =>
  askedAt === undefined || leaseUntil === null ? null : askedAt + (leaseUntil - now)

/** How long an idempotency key is valid. */
const IDEMPOTENCY_KEY_MS = DAY_MS

/** Endings per statement, so that each statement is worth its round trip. */
const ENDINGS_AT_ONCE = 128

async function applyCommands(
  tx: Transaction,
  ctx: TransactionContext,
  { org, commands, ahead }: CommandBatch,
): Promise<readonly CommandResult[]> {
  const { prepared, refused } = await prepareCommands(tx, { org, commands })
  await loadNeeds(tx, ctx.node, { org, commands, ahead })
  const results: CommandResult[] = []
  const isOver = (ctx.limits ?? NO_TRANSACTION_LIMITS).stopwatch()
  const between = (): void => saveNewRuns(tx, org.state)
  const apply = (command: Command<unknown>): CommandResult => {
    const refusal = refused.get(command)
    if (refusal !== undefined) return { ok: false, refusal }
    try {
      return { ok: true, answer: command.apply(org.state, prepared.get(command), between) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { ok: false, refusal: error }
    }
  }
  for (const command of commands) {
    // The server starts to write what is decided so far; the rest is done in the next transaction.
    if (results.length % ENDINGS_AT_ONCE === 0) saveEndings(tx, org.state)
    between()
    if (results.length > 0 && isOver()) break
    results.push(apply(command))
  }
  for (const [index, command] of commands.entries()) {
    const answered = results[index]
    if (command.afterApply !== undefined && answered?.ok === true)
      await command.afterApply(tx, answered.answer, org.state.now)
  }
  return results
}

interface PreparedCommands {
  readonly prepared: Map<Command<unknown>, unknown>
  readonly refused: Map<Command<unknown>, Refusal>
}

/** A command with `prepare` is alone; commands that only read do so at the same time, and shared rows are read once. */
async function prepareCommands(
  tx: Transaction,
  { org, commands }: Omit<CommandBatch, 'ahead'>,
): Promise<PreparedCommands> {
  const { orgId, now } = org.state
  const results: PreparedCommands = { prepared: new Map(), refused: new Map() }
  const preparing = commands.filter(
    ({ prepare, load: findWriter }) => prepare !== undefined || findWriter !== undefined,
  )
  if (preparing.length === 0) return results
  const reads = createTransactionReads(tx, orgId, earlier(now, IDEMPOTENCY_KEY_MS))
  await Promise.all(
    preparing.map(async (command) => {
      try {
        results.prepared.set(command, await (command.prepare?.(tx, now, reads) ?? command.load?.(reads, now)))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        results.refused.set(command, error)
      }
    }),
  )
  return results
}

/** Creates the session of a run if it does not exist. */
export function ensureSession({ state }: Pick<LoadedOrg, 'state'>, key: SessionKey): void {
  if (state.sessions.has(key)) return
  const session = {
    orgId: state.orgId,
    key,
    own: {},
    cutoff: null,
    generation: 0,
    context: null,
    behind: 0,
    behindFrom: 0,
    createdAt: state.now,
  }
  state.sessions.set(key, session)
  state.changes.newSessions.add(session)
  const run = joinSession(state, key)
  if (run !== undefined) state.changes.changed.add(run)
}

/** Creates the agent a task names, which need not be registered. */
export function ensureTaskAgent({ state }: Pick<LoadedOrg, 'state'>, id: AgentId): void {
  if (!state.agents.has(id)) state.agents.set(id, taskAgent(id))
}

const NO_ASSIGNMENTS: readonly Assignment[] = []

function writeTransaction(
  tx: Transaction,
  { nodeId }: TransactionContext,
  { state, changedBefore }: { readonly state: OrgState; readonly changedBefore: number },
): TransactionRow {
  const events: readonly StoredEvent[] = saveTransaction(tx, state, { nodeId, changedBefore })
  return { no: state.transactionNo, at: state.now, nodeId, events }
}
