import type { AgentId, OrgId, SessionKey } from '../../domain/ids.ts'
import { DAY_MS, earlier, type Instant } from '../../domain/instant.ts'
import { Refusal } from '../../api/refusals.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { isCommitUnknown } from '../../platform/db/database-error.ts'
import type { RunRow } from '../../store/run-row.ts'
import {
  loadStanding,
  loadTurnWriter,
  orgLock,
  type Standing,
  type StoredEvent,
  type TurnRow,
} from '../../engine/transaction/history-store.ts'
import { appendAudits } from '../audit-chain.ts'
import type { Changes, Desk } from '../desk/desk.ts'
import { joinSession } from '../desk/run-session.ts'
import type { Work } from '../turn-port.ts'
import { reviewBudgets } from './budgets.ts'
import { assignRuns, type Assignment } from './assign.ts'
import { claimRuns, type Claim, type Offer } from './claim.ts'
import { judgeBeats } from './heartbeats.ts'
import { tidyMemory, type Memory, type NodeFacts } from './memory.ts'
import { absentNeeds, fetchNeeds, type Needing, readPayloads, withPayloads } from './needs.ts'
import { noteAgents, noteChanges, noteOrg } from './notes.ts'
import { beginTurn, letTimePass } from './passing.ts'
import { keepPayloads } from './payloads.ts'
import { reviewQuotas } from './quotas.ts'
import { catchUp, MemoryTooOld } from './catch-up.ts'
import { noteVersion, readAhead, taskAgent } from './recall.ts'
import { isUnchanged, saveEndings, saveTurn } from '../../engine/transaction/save.ts'
import { allowanceOf, NO_TURN_LIMITS, type TurnLimits } from './turn-limits.ts'
import { createTurnReads } from './turn-reads.ts'

/** What a turn needs from the node that takes it. */
export interface TurnContext {
  readonly database: Database
  readonly node: NodeFacts
  readonly nodeId: string
  /** Takes in what the database said the time is, and says what it is. */
  readonly hearClock: (said: Instant) => Instant
  /** How much is done before others have their turn. Left out: everything there is. */
  readonly limits?: TurnLimits
  /** The node's counter before the turn was asked for: whatever the database says in it is not older. Left out: not known. */
  readonly askedAt?: number
}

/** What became of one piece of work: its answer, or why it was refused. */
export type Done = { readonly ok: true; readonly answer: unknown } | { readonly ok: false; readonly refusal: Refusal }

export interface TurnResult {
  /** In the order of the works; those at the end that the turn had no time for are not among them. */
  readonly done: readonly Done[]
  readonly claims: readonly Claim[]
  /** What workers that wait at this node were given. */
  readonly assigned: readonly Assignment[]
  /** Turns of other nodes that had not been heard of before. */
  readonly heard: readonly TurnRow[]
  /** The turn as it was written; null when nothing changed. */
  readonly written: TurnRow | null
  /** Runs that were changed, by this node or others: whoever executes one looks whether it still should. */
  readonly changed: readonly RunRow[]
  /** Until when the node's lease holds for certain, by its counter; null: it is not known to hold at all. */
  readonly sureUntil: number | null
  /** Everything the turn has changed, for who counts; valid until the next turn. */
  readonly changes: Changes
}

/**
 * One turn of an org: under its lock, bring the memory up to date, do what was asked, let time pass, start what may
 * start, write it all. After an error the memory must not be used again: decisions may be in it that were never kept.
 */
export async function takeTurn(ctx: TurnContext, memory: Memory, asked: Omit<Asked, 'memory'>): Promise<TurnResult> {
  const result = await commitTurn(ctx, { memory, ...asked })
  const { written } = result
  if (written !== null) noteVersion(memory, { version: written.no, at: written.at, writer: written.nodeId })
  memory.isUnsettled = false
  keepPayloads(memory)
  tidyMemory(memory)
  return result
}

async function commitTurn(ctx: TurnContext, asked: Asked): Promise<TurnResult> {
  const decided: TurnResult[] = []
  try {
    return await ctx.database.transaction(
      async (tx) => {
        const result = await turn(tx, ctx, asked)
        decided.push(result)
        return result
      },
      { lock: asked.memory.lock, committing: asked.committing },
    )
  } catch (error) {
    const [result] = decided
    if (result === undefined || result.written === null || !isCommitUnknown(error)) throw error
    throw new CommitUnknown(result, result.written, error)
  }
}

/**
 * The connection ended during COMMIT. Whether the turn was kept is asked of its row in the org's history, under the lock:
 * once the lock is free, a commit that was under way has ended one way or the other.
 */
export class CommitUnknown extends Error {
  readonly result: TurnResult
  readonly written: TurnRow

  constructor(result: TurnResult, written: TurnRow, cause: unknown) {
    super('it is not known whether the turn was kept', { cause })
    this.name = 'CommitUnknown'
    this.result = result
    this.written = written
  }
}

/** Whether the turn was kept after all. */
export async function wasKept(ctx: Pick<TurnContext, 'database'>, orgId: OrgId, turn: TurnRow): Promise<boolean> {
  const look = async (tx: Transaction): Promise<boolean> => {
    const writer = await loadTurnWriter(tx, { orgId, no: turn.no })
    return writer !== null && writer.nodeId === turn.nodeId && writer.at === turn.at
  }
  return ctx.database.transaction(look, { lock: orgLock(orgId) })
}

interface Asked {
  readonly memory: Memory
  /** What will probably be among the works: what it needs is read in the same trip as the lock. */
  readonly ahead: () => readonly Work<unknown>[]
  /** Asked as late as possible: what arrives while the lock is waited for goes along. */
  readonly works: () => readonly Work<unknown>[]
  readonly offer: () => Offer | null
  /** The turn is decided and on its way: until it is kept there is time for other things. */
  readonly committing: () => void
}

async function turn(tx: Transaction, ctx: TurnContext, asked: Asked): Promise<TurnResult> {
  const { memory, works, offer } = asked
  const { desk } = memory
  const asking = loadStanding(tx, { orgId: desk.orgId, nodeId: ctx.nodeId })
  const ahead = readAhead(tx, memory, { node: ctx.node, ...absentNeeds(memory, asked.ahead()) })
  const standing = await asking
  const heard = await catchUp(tx, memory, { newest: standing, node: ctx.node })
  if (heard === null) throw new MemoryTooOld(desk.orgId)
  const { limits = NO_TURN_LIMITS } = ctx
  memory.isUnsettled = true
  const { version, at: newestAt } = standing
  const now = ctx.hearClock(standing.now)
  beginTurn(memory, { now, newestAt, no: version + 1, maxChanges: limits.maxChanges })
  await ahead.arrive()
  const done = await doWorks(tx, ctx, { memory, works: works(), ahead })
  noteAgents(memory)
  // Whoever changes an org is audited, and nearly nobody is.
  if (desk.changes.audits.length > 0) await noteOrg(tx, memory)
  noteChanges(memory, ctx.node)
  const allowance = allowanceOf(limits)
  const between = (): void => {
    saveEndings(tx, desk)
  }
  letTimePass(memory, ctx.node, { allowance, between })
  if (desk.budgets !== null || desk.reservesChanged) await reviewBudgets(tx, memory)
  if (desk.quotas !== null || desk.quotasChanged) await reviewQuotas(tx, memory)
  if (desk.changes.endedBeats.length > 0) await judgeBeats(tx, desk)
  // A node whose lease has lapsed holds nothing any more, so it must not take anything either.
  // By the clock, not by the org's time, which does not follow a clock that was set back.
  const alive = standing.leaseUntil !== null && standing.leaseUntil > now
  // While the server writes what has ended, what may start is picked.
  saveEndings(tx, desk)
  const changedBefore = desk.changes.changed.size
  // Asked for last: a slot that what was just reported has given back must be on offer in the same turn, or nobody comes.
  const offered = alive ? offer() : null
  const before = allowance.left
  const claims = offered === null ? [] : claimRuns(memory, offered, allowance)
  const ofClaims = readPayloads(tx, memory, claims)
  // With quotas, what these runs state they need decides what else may start.
  if (desk.quotas !== null) await ofClaims
  const waiting = offered?.workers ?? null
  const assigned = waiting === null ? NOTHING : assignRuns(memory, waiting, allowance)
  const ofAssigned = readPayloads(tx, memory, assigned)
  if (desk.quotas !== null) await ofAssigned
  // Some ended instead of starting: what waited for their slots has its place now.
  if (allowance.left < before) {
    saveEndings(tx, desk)
    noteChanges(memory, ctx.node)
  }
  const { audits } = desk.changes
  if (audits.length > 0) await appendAudits(tx, desk.orgId, { entries: audits, at: desk.now })
  const changed = [...desk.changes.changed]
  const written = isUnchanged(desk.changes) ? null : write(tx, ctx, { desk, changedBefore })
  return {
    done,
    claims: withPayloads(claims, await ofClaims),
    assigned: withPayloads(assigned, await ofAssigned),
    heard,
    written,
    changed,
    sureUntil: sureUntil(ctx, standing),
    changes: desk.changes,
  }
}

/** The lease was read after the question was asked, so it lasts at least as long from there on as it had left then. */
const sureUntil = ({ askedAt }: TurnContext, { now, leaseUntil }: Standing): number | null =>
  askedAt === undefined || leaseUntil === null ? null : askedAt + (leaseUntil - now)

/** How long the key of a request is remembered. */
const KEY_KEPT_MS = DAY_MS

/** Enough endings for a statement of their own to be worth it. */
const ENDINGS_AT_ONCE = 128

async function doWorks(tx: Transaction, ctx: TurnContext, { memory, works, ahead }: Needing): Promise<readonly Done[]> {
  const { prepared, refused } = await prepareWorks(tx, { memory, works })
  await fetchNeeds(tx, ctx.node, { memory, works, ahead })
  const done: Done[] = []
  const isOver = (ctx.limits ?? NO_TURN_LIMITS).stopwatch()
  const apply = (work: Work<unknown>): Done => {
    const refusal = refused.get(work)
    if (refusal !== undefined) return { ok: false, refusal }
    try {
      return { ok: true, answer: work.apply(memory.desk, prepared.get(work)) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { ok: false, refusal: error }
    }
  }
  for (const work of works) {
    // The server begins to write what has ended so far.
    if (done.length % ENDINGS_AT_ONCE === 0) saveEndings(tx, memory.desk)
    // What is left is done in the next turn.
    if (done.length > 0 && isOver()) break
    done.push(apply(work))
  }
  for (const [index, work] of works.entries()) {
    const answered = done[index]
    if (work.conclude !== undefined && answered?.ok === true) await work.conclude(tx, answered.answer, memory.desk.now)
  }
  return done
}

interface PreparedWorks {
  readonly prepared: Map<Work<unknown>, unknown>
  readonly refused: Map<Work<unknown>, Refusal>
}

/** Whoever writes is alone; those who only look do so at the same time, and what several look for is read once. */
async function prepareWorks(tx: Transaction, { memory, works }: Omit<Needing, 'ahead'>): Promise<PreparedWorks> {
  const { orgId, now } = memory.desk
  const done: PreparedWorks = { prepared: new Map(), refused: new Map() }
  const preparing = works.filter(({ prepare, look }) => prepare !== undefined || look !== undefined)
  if (preparing.length === 0) return done
  const reads = createTurnReads(tx, orgId, earlier(now, KEY_KEPT_MS))
  await Promise.all(
    preparing.map(async (work) => {
      try {
        done.prepared.set(work, await (work.prepare?.(tx, now, reads) ?? work.look?.(reads, now)))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        done.refused.set(work, error)
      }
    }),
  )
  return done
}

/** The session a run is made in, which begins with it if need be. */
export function sessionFor({ desk }: Pick<Memory, 'desk'>, key: SessionKey): void {
  if (desk.sessions.has(key)) return
  const session = { orgId: desk.orgId, key, own: {}, cutoff: null, generation: 0, context: null, createdAt: desk.now }
  desk.sessions.set(key, session)
  desk.changes.newSessions.add(session)
  const run = joinSession(desk, key)
  if (run !== undefined) desk.changes.changed.add(run)
}

/** The agent a task names, which need not exist. */
export function taskAgentFor({ desk }: Pick<Memory, 'desk'>, id: AgentId): void {
  if (!desk.agents.has(id)) desk.agents.set(id, taskAgent(id))
}

const NOTHING: readonly Assignment[] = []

function write(
  tx: Transaction,
  { nodeId }: TurnContext,
  { desk, changedBefore }: { readonly desk: Desk; readonly changedBefore: number },
): TurnRow {
  const events: readonly StoredEvent[] = saveTurn(tx, desk, { nodeId, changedBefore })
  return { no: desk.turnNo, at: desk.now, nodeId, events }
}
