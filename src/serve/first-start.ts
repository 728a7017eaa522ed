import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../api/refusals.ts'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import type { AgentId } from '../domain/ids.ts'
import { ensureAgents } from '../features/access/first-start.ts'
import { hasPersonalKey } from '../features/access/keys.ts'
import { ensureOwnerKey, type OwnerKey } from '../features/access/first-key.ts'
import type { Ports } from '../engine/ports.ts'
import { writePrivateFile } from '../platform/private-file.ts'
import { createStartLink } from '../features/access/sign-in.ts'
import { backoffMs, RECONNECT_BACKOFF } from '../platform/db/backoff.ts'
import { DatabaseError, isDatabaseAway } from '../platform/db/database-error.ts'
import { isLoopback } from './address.ts'
import { type ServerOptions, StartError } from './configuration.ts'

/** Prepares the owner key; refuses to listen for other machines before there is a personal key. */
export async function prepareOwnerKey(
  ports: Ports,
  { options, data }: { readonly options: ServerOptions; readonly data: string },
): Promise<void> {
  const { configuration, log, ownerKey } = options
  const { server, database } = configuration.live.current().config
  const file = path.join(data, 'owner.key')
  const source = { file, schema: database.schema, environment: ownerKey, alone: database.url === null }
  const found = await retryWhileAway(() => ensureOwnerKey(ports, source))
  logOwnerKey(log.log, found, file)
  if (isLoopback(server.host)) return
  if (ownerKey === null && !(await hasPersonalKey(ports))) throw publicAddressRefused(server.host)
  if (server.public_url === null && server.allowed_hosts.length === 0)
    log.log({
      level: 'warn',
      message:
        'Requests from other machines are refused until server.public_url or server.allowed_hosts names the host they use',
      facts: { host: server.host },
    })
}

const MAX_TRIES = 5

/** Retries after a lost connection; only for idempotent functions. */
async function retryWhileAway<T>(operation: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1)
    try {
      return await operation()
    } catch (error) {
      if (!isDatabaseAway(error) || failures >= MAX_TRIES) throw startErrorOf(error)
      await sleep(backoffMs(failures, Math.random(), RECONNECT_BACKOFF))
    }
}

const startErrorOf = (error: unknown): unknown =>
  error instanceof Refusal || error instanceof DatabaseError ? new StartError(error.message, { cause: error }) : error

/** Creates the agents of this build, if they do not exist. */
export const prepareAgents = (ports: Ports, ids: readonly AgentId[]): Promise<AgentId> =>
  retryWhileAway(() => ensureAgents(ports, OPERATOR_ORG, ids))

function logOwnerKey(log: ServerOptions['log']['log'], { kind }: OwnerKey, file: string): void {
  if (kind === 'made') log({ level: 'info', message: 'Created the owner key', facts: { file } })
  if (kind === 'revoked')
    log({
      level: 'warn',
      message: 'The owner key was revoked; remove the file, and the next start creates a new key',
      facts: { file },
    })
}

const publicAddressRefused = (host: string): StartError =>
  new StartError(
    [
      `Refusing to listen on ${host}: other machines can reach this address, and no key for other users exists yet.`,
      '  Either start with --host 127.0.0.1, sign in and create a key: escapement keys create',
      '  or set the owner key yourself: ESCAPEMENT_OWNER_KEY=esc_… escapement serve --host …',
    ].join('\n'),
  )

/** Creates a one-time sign-in link and saves it in a private file. */
export async function prepareSignIn(
  ports: Ports,
  { url, data }: { readonly url: string; readonly data: string },
): Promise<string> {
  const { token } = await createStartLink(ports)
  const link = `${url}/#signin=${token}`
  await writePrivateFile(path.join(data, 'signin'), `${link}\n`)
  return link
}
