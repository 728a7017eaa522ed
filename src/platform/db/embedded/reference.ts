import { realpath } from 'node:fs/promises'
import { Client, DatabaseError as DriverError } from 'pg'
import { LOCK_SPACE } from '../advisory-locks.ts'
import { DatabaseError } from '../database-error.ts'
import type { Connection } from '../database.ts'
import { counted } from '../table.ts'
import { codeOf } from './files.ts'
import { DATABASE, SUPERUSER } from './init.ts'
import { parsePid } from './pid-file.ts'
import { type ServerPaths, PORT } from './place.ts'

/**
 * Reference counting of processes that share one server. Each process holds a shared advisory lock on its own connection
 * while it uses the server; the lock ends with the process in any case. A leaving process releases its lock and then tries
 * to take the exclusive one, which only the last process gets. While it holds that lock no process can join: a newcomer
 * waits for its shared lock, is disconnected by the shutdown, and starts the server again. If several processes leave at
 * once, the one that releases last gets the exclusive lock, unless another one is already stopping the server.
 */
export interface Reference {
  readonly client: Client
  readonly pid: number
}

const LOCK = [LOCK_SPACE.embeddedReference, 0]

/** Joins the server at these paths; `undefined`: no server accepts connections. */
export async function joinServer(paths: ServerPaths, password: string): Promise<Reference | undefined> {
  const client = new Client({
    host: paths.socketDirectory,
    port: PORT,
    user: SUPERUSER,
    password,
    database: DATABASE,
    ssl: false,
    application_name: 'escapement reference',
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await refuseForeignServer(client, paths)
    await client.query('select pg_advisory_lock_shared($1, $2)', LOCK)
    return { client, pid: await readPid(client) }
  } catch (error) {
    await client.end().catch(() => undefined)
    if (isNotReady(error)) return undefined
    throw serverRefusal(error, paths)
  }
}

function serverRefusal(error: unknown, paths: ServerPaths): DatabaseError {
  if (error instanceof DatabaseError) return error
  const isStranger = error instanceof DriverError && /^28/.test(error.code ?? '')
  const detail = `${paths.socketDirectory} answers: ${error instanceof Error ? error.message : String(error)}`
  return new DatabaseError(isStranger ? 'server_foreign' : 'server_failed', { detail, cause: error })
}

/** Releases the reference. `last`: no other process uses the server, and none can join until the client is closed. */
export async function releaseReference({ client }: Reference): Promise<'last' | 'others'> {
  await client.query('select pg_advisory_unlock_shared($1, $2)', LOCK)
  const { rows } = await client.query<{ readonly got: boolean }>('select pg_try_advisory_lock($1, $2) as got', LOCK)
  return rows[0]?.got === true ? 'last' : 'others'
}

async function readPid(client: Client): Promise<number> {
  const { rows } = await client.query<{ readonly text: string }>("select pg_read_file('postmaster.pid') as text")
  const pid = parsePid(rows[0]?.text ?? '')
  if (pid === undefined) throw new DatabaseError('server_foreign', { detail: 'its postmaster.pid cannot be read' })
  return pid
}

async function refuseForeignServer(client: Client, paths: ServerPaths): Promise<void> {
  const { rows } = await client.query<{ readonly data: string }>("select current_setting('data_directory') as data")
  const served = rows[0]?.data ?? ''
  const same = served === paths.cluster || (await realpath(served).catch(() => served)) === paths.cluster
  if (!same) throw new DatabaseError('server_foreign', { detail: `${paths.socketDirectory} leads to ${served}` })
}

/** No socket, no server behind it, starting, stopping, or disconnected meanwhile. */
function isNotReady(error: unknown): boolean {
  if (error instanceof DatabaseError) return false
  if (error instanceof DriverError) return /^57P0/.test(error.code ?? '')
  const code = codeOf(error)
  // The driver reports an ended connection as an error without a code.
  return code === undefined || ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)
}

/** The number of processes that use the embedded server: each holds one shared lock. */
export async function countUsers(connection: Connection): Promise<number> {
  const rows = await connection.query(
    `select ${counted.list} from pg_locks where locktype = 'advisory' and classid = $1::bigint::oid and granted`,
    [LOCK_SPACE.embeddedReference],
  )
  return counted.only(rows).count
}
