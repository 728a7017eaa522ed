import type { Instant } from '../../src/domain/instant.ts'
import { PRESENT } from '../../src/platform/db/clock.ts'
import type {
  Connection,
  Database,
  Row,
  SqlValue,
  Transaction,
  TransactionOptions,
} from '../../src/platform/db/database.ts'
import { DatabaseError, type DatabaseErrorCode } from '../../src/platform/db/database-error.ts'
import { unpackEvents } from '../../src/engine/transaction/history-store.ts'
import type { FaultKind, StoreFault } from './faults.ts'
import type { Quiet } from './quiet.ts'
import { transactionThrough } from './sending.ts'

export type Lock = NonNullable<TransactionOptions['lock']>

/** How a node stands towards the world. */
export type NodeState = 'alive' | 'frozen' | 'cut_off' | 'gone'

export interface FaultyContext {
  readonly real: Database
  readonly quiet: Quiet
  /** The present by the server's clock. */
  readonly now: () => Instant
  readonly state: () => NodeState
  /** Resolves when the node is not frozen any more. */
  readonly thawed: () => Promise<void>
  /** Waits a while by the hand-moved clock, so that others get ahead. */
  readonly dawdle: (atLeastMs: number, atMostMs: number) => Promise<void>
  /** Waits while another client holds the lock. False: for longer than a server lets anybody wait. */
  readonly awaitLock: (lock: Lock) => Promise<boolean>
  /** A statement outside a transaction was carried out. */
  readonly carriedOut: (text: string, params: readonly SqlValue[], rows: readonly Row[]) => void
  /** A whole number from `min` to `max`. */
  readonly int: (min: number, max: number) => number
  readonly happened: (fault: FaultKind) => void
  /** A transaction that tells other nodes was kept. */
  readonly notify: () => void
  /** The process ends, here and now. */
  readonly die: () => void
  /** A transaction that starts the run is being written. */
  readonly claimed: (runId: string) => void
}

/** A database port through which things go wrong. */
export interface FaultyDatabase {
  readonly database: Database
  /** The fault happens to the next transaction or statement that it can happen to. */
  readonly arm: (fault: StoreFault | 'node_gone_inside') => void
  readonly disarm: () => void
}

type Armed = StoreFault | 'node_gone_inside'

/** How late an answer is, in milliseconds: so that others take turns meanwhile, and for longer than a lease. */
const SHORT_MS = [1, 1_500] as const
const LONG_MS = [3_000, 20_000] as const

/** Whoever is gone never hears an answer. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined)

/** Ends the real transaction without keeping it. What the node is told is another matter. */
class NotKept extends Error {}

export function createFaultyDatabase(ctx: FaultyContext): FaultyDatabase {
  const armed: Armed[] = []
  const take = (...kinds: readonly Armed[]): Armed | null => {
    const index = armed.findIndex((fault) => kinds.includes(fault))
    return index === -1 ? null : (armed.splice(index, 1)[0] ?? null)
  }
  const reach = async (): Promise<void> => {
    while (ctx.state() === 'frozen') await ctx.thawed()
    if (ctx.state() === 'gone') await never()
    if (ctx.state() === 'cut_off') throw new DatabaseError('database_unreachable')
  }
  const answer = async <T>(value: T): Promise<T> => {
    while (ctx.state() === 'frozen') await ctx.thawed()
    return ctx.state() === 'gone' ? never<T>() : value
  }
  const query: Database['query'] = async (text, params) => {
    await reach()
    if (isClock(text)) return [{ at: ctx.now() }]
    if (text.startsWith('select pg_notify')) {
      ctx.notify()
      return []
    }
    const rows = retime(inOrder(text, await ctx.quiet.run(() => ctx.real.query(text, params))), ctx.now())
    ctx.carriedOut(text, params ?? [], rows)
    if (isLookAtNodes(text) && take('look_late') !== null) {
      ctx.happened('look_late')
      await ctx.dawdle(...LONG_MS)
    }
    if (take('answer_lost') !== null) {
      ctx.happened('answer_lost')
      throw new DatabaseError('connection_lost', { mayHaveCommitted: true })
    }
    return answer(rows)
  }
  const transaction: Database['transaction'] = async (work, options) => {
    await reach()
    const before = take('unreachable', 'begun_late')
    if (before !== null) ctx.happened(before)
    if (before === 'unreachable') throw new DatabaseError('database_unreachable')
    if (before === 'begun_late') {
      await ctx.dawdle(...SHORT_MS)
      await reach()
    }
    if (options?.lock !== undefined && !(await ctx.awaitLock(options.lock))) throw new DatabaseError('timed_out')
    await reach()
    const kept = await ctx.quiet.run(() => transact(ctx, take, { work, options }))
    if (kept === GONE) return never()
    const late = kept.wrote ? take('answer_late', 'commit_late') : null
    if (late !== null) {
      ctx.happened(late)
      await (late === 'answer_late' ? ctx.dawdle(...SHORT_MS) : ctx.dawdle(...LONG_MS))
    }
    // Nobody waits for an answer for ever.
    if (late === 'commit_late' && ctx.int(0, 1) === 0) throw new DatabaseError('commit_unknown')
    return answer(kept.result)
  }
  const database: Database = { query, transaction, listen: () => never(), close: () => Promise.resolve() }
  return {
    database,
    arm: (fault) => {
      armed.push(fault)
    },
    disarm: () => {
      armed.length = 0
    },
  }
}

type Take = (...kinds: readonly Armed[]) => Armed | null

interface Asked<T> {
  readonly work: (tx: Transaction) => T | Promise<T>
  readonly options: Parameters<Database['transaction']>[1]
}

/** The process ended inside the transaction. */
const GONE = Symbol('gone')

interface Kept<T> {
  readonly result: T
  readonly wrote: boolean
}

/** What happens at one of the statements of a transaction. */
interface Breach {
  readonly kind: Armed
  /** Counted from 1. Beyond the last statement it happens before COMMIT is sent. */
  readonly statement: number
}

const CODES: Partial<Record<Armed, DatabaseErrorCode>> = {
  connection_cut: 'connection_lost',
  conflict: 'conflict',
  timed_out: 'timed_out',
}

async function transact<T>(
  ctx: FaultyContext,
  take: Take,
  { work, options }: Asked<T>,
): Promise<Kept<T> | typeof GONE> {
  const kind = take('connection_cut', 'conflict', 'timed_out', 'node_gone_inside')
  const watched = watch(ctx, kind === null ? null : { kind, statement: ctx.int(1, 10) })
  const fate: { commit: Armed | null } = { commit: null }
  try {
    const result = await ctx.real.transaction(async (tx) => {
      const through = transactionThrough(withHole(ctx, take, watched.wrap(tx)))
      const all = async (): Promise<T> => {
        const result = await work(through.tx)
        await through.sent()
        return result
      }
      const done = await Promise.race([all(), watched.gone])
      watched.reachEnd()
      if (watched.wrote()) fate.commit = take('commit_kept', 'commit_lost')
      if (fate.commit === 'commit_lost') throw new NotKept()
      return done
    }, options)
    if (fate.commit === 'commit_kept') throw new NotKept()
    return { result, wrote: watched.wrote() }
  } catch (error) {
    if (watched.isGone()) return GONE
    if (!(error instanceof NotKept) || fate.commit === null) throw error
    ctx.happened(fate.commit)
    throw new DatabaseError('commit_unknown')
  }
}

/** Somewhere between the first and the last of the turns that a node has missed, one may be missing. */
const withHole =
  (ctx: FaultyContext, take: Take, query: Connection['query']): Connection['query'] =>
  async (text, params) => {
    const rows = await query(text, params)
    if (rows.length < 3 || !text.startsWith('select no, at, node_id, events from turn')) return rows
    if (take('history_hole') === null) return rows
    ctx.happened('history_hole')
    const missing = ctx.int(1, rows.length - 2)
    return rows.filter((_, index) => index !== missing)
  }

interface Watched {
  readonly wrap: (tx: Transaction) => Connection['query']
  /** Rejects when the process ends inside the transaction. */
  readonly gone: Promise<never>
  /** All statements are done; a breach that has not happened yet happens now. */
  readonly reachEnd: () => void
  readonly wrote: () => boolean
  readonly isGone: () => boolean
}

function watch(ctx: FaultyContext, breach: Breach | null): Watched {
  let statements = 0
  let happened = false
  let wrote = false
  let isGone = false
  let leave: (error: Error) => void = () => undefined
  const gone = new Promise<never>((_, reject) => {
    leave = reject
  })
  gone.catch(() => undefined)
  const breakDown = (kind: Armed): void => {
    if (!happened) ctx.happened(kind)
    happened = true
    const code = CODES[kind]
    if (code !== undefined) throw new DatabaseError(code)
    isGone = true
    ctx.die()
    leave(new NotKept())
  }
  const wrap =
    (tx: Transaction): Connection['query'] =>
    async (text, params) => {
      statements += 1
      if (breach !== null && (happened || statements >= breach.statement)) breakDown(breach.kind)
      if (isGone) return never()
      if (text.includes('insert into turn ')) {
        wrote = true
        for (const id of startedIn(params ?? [])) ctx.claimed(id)
      }
      return retime(inOrder(text, await tx.query(text, params)), ctx.now())
    }
  return {
    wrap,
    gone,
    reachEnd: () => {
      if (breach === null || happened) return
      breakDown(breach.kind)
      if (isGone) throw new NotKept()
    },
    wrote: () => wrote,
    isGone: () => isGone,
  }
}

/** The runs that a turn starts, by the events in the statement that writes it. */
const startedIn = (params: readonly SqlValue[]): readonly string[] =>
  params
    .filter((param) => typeof param === 'string' && param.startsWith('[["'))
    .flatMap((events) => unpackEvents(JSON.parse(events as string)))
    .filter(([kind, , { status }]) => kind === 'run.changed' && status === 'running')
    .map(([, subject]) => subject)

const isClock = (text: string): boolean => text === `select ${PRESENT} as at`

const isLookAtNodes = (text: string): boolean => /^select .* from node order by/s.test(text)

/** Rows of which nobody asked the order come in the same one every time, which a server does not promise. */
function inOrder(text: string, rows: readonly Row[]): readonly Row[] {
  // Schedules that are due at the same moment have no order, either.
  if (rows.length < 2 || (isOrdered(text) && !text.includes('order by next_run_at'))) return rows
  const key = (row: Row): string => String(row['id'] ?? row['key'] ?? row['org_id'])
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** Whether the statement itself has an order; one inside a part of it, in brackets, says nothing about its rows. */
function isOrdered(text: string): boolean {
  let depth = 0
  for (const [token] of text.matchAll(/[()]|order by/g)) {
    if (token === 'order by' && depth === 0) return true
    if (token !== 'order by') depth += token === '(' ? 1 : -1
  }
  return false
}

/** The hand-moved clock is the server's clock, too. */
const retime = (rows: readonly Row[], now: Instant): readonly Row[] =>
  rows[0] !== undefined && 'now' in rows[0] ? rows.map((row) => ({ ...row, now })) : rows
