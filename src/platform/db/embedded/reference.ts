import { realpath } from 'node:fs/promises'
import { Client, DatabaseError as DriverError } from 'pg'
import { LOCK_SPACE } from '../../../store/advisory-locks.ts'
import { DatabaseError } from '../database-error.ts'
import type { Connection } from '../../../store/database.ts'
import { counted } from '../table.ts'
import { codeOf } from '../../../store/embedded/files.ts'
import { DATABASE, SUPERUSER } from './init.ts'
import { parsePid } from './pid-file.ts'
import { type Place, PORT } from './place.ts'

/**
 * How processes share one server. Each holds a shared advisory lock on a connection of its own for as long as it uses
 * the server; the connection ends with the process, however it ends, so nothing can be left behind. Who leaves gives
 * its lock back first and then tries for the exclusive one. Only the last can get it, and while it has it nobody can
 * join: a newcomer waits for its shared lock, is thrown out by the shutdown, and starts the server again. Of several
 * who leave together, whoever gives back last finds no other lock in its way, unless somebody is already stopping.
 */
export interface Reference {
  readonly client: Client
  readonly pid: number
}

const LOCK = [LOCK_SPACE.embeddedReference, 0]

/** Joins the server at this place if it is there and ready; `undefined` if it is not, or not yet, or not any more. */
export async function join(place: Place, password: string): Promise<Reference | undefined> {
  const client = new Client({
    host: place.socketDirectory,
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
    await refuseForeignServer(client, place)
    await client.query('select pg_advisory_lock_shared($1, $2)', LOCK)
    return { client, pid: await readPid(client) }
  } catch (error) {
    await client.end().catch(() => undefined)
    if (isNotReady(error)) return undefined
    throw refuseServer(error, place)
  }
}

function refuseServer(error: unknown, place: Place): DatabaseError {
  if (error instanceof DatabaseError) return error
  const isStranger = error instanceof DriverError && /^28/.test(error.code ?? '')
  const detail = `${place.socketDirectory} answers: ${error instanceof Error ? error.message : String(error)}`
  return new DatabaseError(isStranger ? 'server_foreign' : 'server_failed', { detail, cause: error })
}

/** Gives the server back. With `last`, nobody else uses it and nobody can join until the client is closed. */
export async function giveBack({ client }: Reference): Promise<'last' | 'others'> {
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

async function refuseForeignServer(client: Client, place: Place): Promise<void> {
  const { rows } = await client.query<{ readonly data: string }>("select current_setting('data_directory') as data")
  const served = rows[0]?.data ?? ''
  const same = served === place.cluster || (await realpath(served).catch(() => served)) === place.cluster
  if (!same) throw new DatabaseError('server_foreign', { detail: `${place.socketDirectory} leads to ${served}` })
}

/** No socket, nobody behind it, starting up, shutting down, or gone while we were talking. */
function isNotReady(error: unknown): boolean {
  if (error instanceof DatabaseError) return false
  if (error instanceof DriverError) return /^57P0/.test(error.code ?? '')
  const code = codeOf(error)
  // An error without a code is the driver's "connection ended" in one of its forms.
  return code === undefined || ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)
}

/** How many processes use the embedded server: each holds one share of it. */
export async function countUsers(connection: Connection): Promise<number> {
  const rows = await connection.query(
    `select ${counted.list} from pg_locks where locktype = 'advisory' and classid = $1::bigint::oid and granted`,
    [LOCK_SPACE.embeddedReference],
  )
  return counted.only(rows).count
}
