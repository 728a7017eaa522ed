import type { Writable } from 'node:stream'
import type { ClientBase, PoolClient, QueryConfig } from 'pg'
import { DatabaseError, isDatabaseAway } from '../database-error.ts'
import type { SqlValue, Transaction, TransactionOptions } from '../../../store/database.ts'
import { translate } from './failures.ts'
import { ANSWER_MARGIN_MS } from './session.ts'

export interface TransactionContext {
  readonly client: PoolClient
  readonly toStatement: (text: string, params?: readonly SqlValue[]) => QueryConfig
  /** Whether this connection is known to be of no further use. */
  readonly isBroken: () => boolean
  readonly setBroken: () => unknown
}

type WiredContext = TransactionContext & { readonly wire: Wire }

/** Runs the work between BEGIN and COMMIT on one connection, and says what is known about the end. */
export async function runTransaction<T>(
  ctx: TransactionContext,
  work: (tx: Transaction) => T | Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const wire = openWire(ctx.client)
  const { tx, sent, finish } = openTransaction({ ...ctx, wire }, options)
  // Nobody waits for BEGIN: whatever follows it on the wire fails if it does. It is sent at once, so that the server has
  // the lock by the time the first question comes.
  const opened = ctx.client.query(opening(options)).then(
    () => null,
    (error: unknown) => translate(error, 'in_transaction'),
  )
  let result: T
  try {
    await setLimits(tx, options)
    result = await work(tx)
    await sent.nextTick()
  } catch (error) {
    finish()
    wire.flush()
    const refused = await opened
    await rollBack(ctx)
    throw refused ?? error
  }
  finish()
  await commit({ ...ctx, wire }, sent, options)
  return result
}

/** The lock comes with BEGIN, in one trip to the server: a statement of its own all the same. */
const opening = ({ lock }: TransactionOptions): string =>
  lock === undefined ? 'begin' : `begin; select pg_advisory_xact_lock(${Math.trunc(lock[0])}, ${Math.trunc(lock[1])})`

/** What has become of the statements nobody waits for. */
interface Sent {
  failure: DatabaseError | null
  /** A statement that the driver could not even send has failed by then; COMMIT must not follow it. */
  readonly nextTick: () => Promise<void>
}

interface Opened {
  readonly tx: Transaction
  readonly sent: Sent
  readonly finish: () => void
}

/** A transaction that can be used until it is finished: a statement that comes later must not land in the next one. */
function openTransaction(ctx: WiredContext, options: TransactionOptions): Opened {
  let finished = false
  const limit = answerLimit(options)
  const run = (text: string, params?: readonly SqlValue[]): Promise<{ rows: Readonly<Record<string, unknown>>[] }> => {
    if (finished) throw new DatabaseError('statement_failed', { detail: 'its transaction has already ended' })
    return ctx.client.query<Readonly<Record<string, unknown>>>({ ...ctx.toStatement(text, params), ...limit })
  }
  const failed = (error: unknown): DatabaseError => {
    const failure = translate(error, 'in_transaction')
    // An answer that did not come in time leaves the connection busy with a statement nobody waits for any more.
    if (isDatabaseAway(failure)) ctx.setBroken()
    return failure
  }
  const query: Transaction['query'] = async (text, params) => {
    try {
      const answer = run(text, params)
      ctx.wire.flush()
      const { rows } = await answer
      return rows
    } catch (error) {
      // Once a statement has failed, the others only say that the transaction has.
      throw sent.failure ?? failed(error)
    }
  }
  const sent: Sent = {
    failure: null,
    nextTick: () =>
      new Promise((resolve, reject) => {
        process.nextTick(() => {
          if (sent.failure === null) resolve()
          else reject(sent.failure)
        })
      }),
  }
  const send: Transaction['send'] = (text, params) => {
    ctx.wire.hold()
    run(text, params).catch((error: unknown) => {
      sent.failure ??= failed(error)
    })
    ctx.wire.flushIfMuch()
  }
  return { tx: { inTransaction: true, query, send }, sent, finish: () => void (finished = true) }
}

// The driver's own timer, in its type it is missing. The longest a timer can run stands for "no limit".
const answerLimit = ({ statementMs }: TransactionOptions): object =>
  statementMs === undefined ? {} : { query_timeout: statementMs === 0 ? 2_147_483_647 : statementMs + ANSWER_MARGIN_MS }

async function setLimits(tx: Transaction, { statementMs, lockMs }: TransactionOptions): Promise<void> {
  if (statementMs === undefined && lockMs === undefined) return
  const values = Object.entries({ statement_timeout: statementMs, lock_timeout: lockMs }).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  )
  await tx.query('select set_config(name, value, true) from unnest($1::text[], $2::text[]) as setting(name, value)', [
    values.map(([name]) => name),
    values.map(([, value]) => String(value)),
  ])
}

async function rollBack(ctx: TransactionContext): Promise<void> {
  // A connection that cannot roll back is thrown away by whoever lent it; the server then rolls back by itself.
  if (!ctx.isBroken()) await ctx.client.query('rollback').catch(ctx.setBroken)
}

async function commit(ctx: WiredContext, sent: Sent, { committing }: TransactionOptions): Promise<void> {
  // Lost before COMMIT was sent: nothing can have been kept.
  if (ctx.isBroken()) throw new DatabaseError('connection_lost', { detail: 'it ended before COMMIT was sent' })
  const committed = ctx.client.query('commit').catch((error: unknown) => {
    throw isRefused(sent.failure) ? sent.failure : translate(error, 'commit')
  })
  ctx.wire.flush()
  committing?.()
  const { command } = await committed
  // PostgreSQL answers COMMIT with ROLLBACK, and no error, when a statement failed and the work went on regardless.
  if (command === 'ROLLBACK') throw sent.failure ?? new DatabaseError('rolled_back')
}

/** The server has refused a statement, or ended the session before it read it: a COMMIT behind it kept nothing. */
const isRefused = (failure: DatabaseError | null): failure is DatabaseError =>
  failure !== null && (!isDatabaseAway(failure) || failure.sqlState === '25P03')

/** Messages to the server that follow each other soon, sent together: each write costs a system call and wakes the server. */
interface Wire {
  /** What is written from now on waits for `flush`, or for the next turn of the event loop. */
  readonly hold: () => void
  /** Sends what is held if there is much of it. */
  readonly flushIfMuch: () => void
  readonly flush: () => void
}

/** So much is sent at once: the server can begin with it while the rest is decided. */
const ENOUGH_BYTES = 8 << 10

export function openWire(client: ClientBase): Wire {
  // In the type of the driver it is missing, and TLS replaces it, so that it is asked for again each time.
  const stream = (): Writable => (client as unknown as { readonly connection: { stream: Writable } }).connection.stream
  let held: Writable | null = null
  const flush = (): void => {
    const corked = held
    held = null
    corked?.uncork()
  }
  return {
    hold: () => {
      if (held !== null) return
      held = stream()
      held.cork()
      // What is not flushed in time must not wait for ever.
      setImmediate(flush)
    },
    flushIfMuch: () => {
      if (held !== null && held.writableLength >= ENOUGH_BYTES) flush()
    },
    flush,
  }
}
