import type { Writable } from 'node:stream'
import { type ClientBase, type CustomTypesConfig, type PoolClient, type QueryConfig, types } from 'pg'
import { DatabaseError, isDatabaseAway } from '../database-error.ts'
import type { SqlValue, Transaction, TransactionOptions } from '../database.ts'
import { toDatabaseError } from './failures.ts'
import { ANSWER_MARGIN_MS } from './session.ts'
import { fromTimestamp } from '../table.ts'

/** Type ids of the PostgreSQL catalog, which never change. */
const OID = {
  int8: 20,
  int8Array: 1016,
  timestamptz: 1184,
  timestamptzArray: 1185,
  textArray: 1009,
  date: 1082,
  timestamp: 1114,
  interval: 1186,
} as const

// The type of the driver lacks the array types.
const driverParser = types.getTypeParser as (oid: number, format?: 'text' | 'binary') => (text: string) => unknown

const parseTextArray = driverParser(OID.textArray) as (text: string) => readonly unknown[]

const asText = (text: string): string => text

/** BIGINT as a number where that is exact, otherwise as a bigint, so that no value is rounded. */
function parseInt8(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

const inArray = (parse: (text: string) => unknown) => {
  const each = (item: unknown): unknown =>
    Array.isArray(item) ? item.map(each) : typeof item === 'string' ? parse(item) : item
  return (text: string): unknown => parseTextArray(text).map(each)
}

// The driver would convert the last three to Date objects in local time, which differ between machines.
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [OID.int8, parseInt8],
  [OID.int8Array, inArray(parseInt8)],
  [OID.timestamptz, fromTimestamp],
  [OID.timestamptzArray, inArray(fromTimestamp)],
  [OID.date, asText],
  [OID.timestamp, asText],
  [OID.interval, asText],
])

/** The parsers of column values. Set per connection, because the driver's own table is global to the process. */
export const ROW_VALUES: CustomTypesConfig = {
  getTypeParser: (oid, format) => (format === 'binary' ? undefined : PARSERS.get(oid)) ?? driverParser(oid, format),
}

interface PostgresTransactionContext {
  readonly client: PoolClient
  readonly toStatement: (text: string, params?: readonly SqlValue[]) => QueryConfig
  /** Whether this connection is known to be broken. */
  readonly isBroken: () => boolean
  readonly setBroken: () => unknown
}

type WiredContext = PostgresTransactionContext & { readonly wire: Wire }

/** Runs the callback between BEGIN and COMMIT on one connection; its errors say what is known about the outcome. */
export async function runPostgresTransaction<T>(
  ctx: PostgresTransactionContext,
  callback: (tx: Transaction) => T | Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const wire = openWire(ctx.client)
  const { tx, sent, finish } = openTransaction({ ...ctx, wire }, options)
  // Not awaited, because later statements fail if BEGIN does. Sent at once, so that the server can take the lock before the
  // first query arrives.
  const opened = ctx.client.query(beginStatement(options)).then(
    () => null,
    (error: unknown) => toDatabaseError(error, 'in_transaction'),
  )
  let result: T
  try {
    await setLimits(tx, options)
    result = await callback(tx)
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

/** BEGIN and the lock, as two statements in one round trip. */
const beginStatement = ({ lock }: TransactionOptions): string =>
  lock === undefined ? 'begin' : `begin; select pg_advisory_xact_lock(${Math.trunc(lock[0])}, ${Math.trunc(lock[1])})`

/** The state of statements that were sent without waiting. */
interface SentStatements {
  failure: DatabaseError | null
  /** Rejects if the driver failed to send a statement, so that COMMIT does not follow it. */
  readonly nextTick: () => Promise<void>
}

interface OpenedTransaction {
  readonly tx: Transaction
  readonly sent: SentStatements
  readonly finish: () => void
}

/** Opens a transaction that refuses statements after `finish`, so that they do not run in the next one. */
function openTransaction(ctx: WiredContext, options: TransactionOptions): OpenedTransaction {
  let finished = false
  const limit = answerLimit(options)
  const run = (text: string, params?: readonly SqlValue[]): Promise<{ rows: Readonly<Record<string, unknown>>[] }> => {
    if (finished) throw new DatabaseError('statement_failed', { detail: 'its transaction has already ended' })
    return ctx.client.query<Readonly<Record<string, unknown>>>({ ...ctx.toStatement(text, params), ...limit })
  }
  const failed = (error: unknown): DatabaseError => {
    const failure = toDatabaseError(error, 'in_transaction')
    // After a timeout, the connection is still busy with the statement.
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
      // After the first failure, other statements only report that the transaction failed.
      throw sent.failure ?? failed(error)
    }
  }
  const sent: SentStatements = {
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

// The timer of the driver, missing in its type. The maximum of a timer stands for "no limit".
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

async function rollBack(ctx: PostgresTransactionContext): Promise<void> {
  // `lend` closes a connection that cannot roll back, which makes the server roll back.
  if (!ctx.isBroken()) await ctx.client.query('rollback').catch(ctx.setBroken)
}

async function commit(ctx: WiredContext, sent: SentStatements, { committing }: TransactionOptions): Promise<void> {
  // Lost before COMMIT was sent, so nothing was committed.
  if (ctx.isBroken()) throw new DatabaseError('connection_lost', { detail: 'it ended before COMMIT was sent' })
  const committed = ctx.client.query('commit').catch((error: unknown) => {
    throw provesRollback(sent.failure) ? sent.failure : toDatabaseError(error, 'commit')
  })
  ctx.wire.flush()
  committing?.()
  const { command } = await committed
  // After a failed statement, PostgreSQL answers COMMIT with ROLLBACK and without an error.
  if (command === 'ROLLBACK') throw sent.failure ?? new DatabaseError('rolled_back')
}

/** Whether the failure proves that a following COMMIT had no effect. */
const provesRollback = (failure: DatabaseError | null): failure is DatabaseError =>
  failure !== null && (!isDatabaseAway(failure) || failure.sqlState === '25P03')

/** Buffers messages to the server, because each write costs a system call and wakes the server. */
interface Wire {
  /** Holds messages back until `flush`, or until the next iteration of the event loop. */
  readonly hold: () => void
  /** Flushes if enough is held. */
  readonly flushIfMuch: () => void
  readonly flush: () => void
}

/** Flushed early at this size, so that the server can start working. */
const FLUSH_BYTES = 8 << 10

export function openWire(client: ClientBase): Wire {
  // Missing in the type of the driver. Read each time, because TLS replaces the stream.
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
      // Makes sure that held messages are sent.
      setImmediate(flush)
    },
    flushIfMuch: () => {
      if (held !== null && held.writableLength >= FLUSH_BYTES) flush()
    },
    flush,
  }
}
