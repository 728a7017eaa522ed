import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../api/refusals.ts'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import type { AgentId } from '../domain/ids.ts'
import { ensureAgents } from '../features/access/first-start.ts'
import { hasPersonalKey } from '../features/access/keys.ts'
import { ensureOwnerKey, type OwnerKey } from '../service/owner-key.ts'
import type { Ports } from '../service/ports.ts'
import { writePrivateFile } from '../platform/private-file.ts'
import { createStartLink } from '../service/sign-in.ts'
import { backoffMs, RECONNECT_BACKOFF } from '../platform/db/backoff.ts'
import { DatabaseError, isDatabaseAway } from '../platform/db/database-error.ts'
import { isLoopback } from './loopback.ts'
import type { ServerOptions } from './configuration.ts'
import { StartRefused } from './start-refused.ts'

/** Sees to the owner's key, and that nobody is let in from outside before a person has decided who that may be. */
export async function prepareOwner(
  ports: Ports,
  { options, data }: { readonly options: ServerOptions; readonly data: string },
): Promise<void> {
  const { configuration, log, ownerKey } = options
  const { server, database } = configuration.keeper.current().config
  const file = path.join(data, 'owner.key')
  const place = { file, schema: database.schema, environment: ownerKey, alone: database.url === null }
  const found = await untilThere(() => ensureOwnerKey(ports, place))
  tellOwner(log.log, found, file)
  if (isLoopback(server.host)) return
  if (ownerKey === null && !(await hasPersonalKey(ports))) throw notFromOutside(server.host)
  if (server.public_url === null && server.allowed_hosts.length === 0)
    log.log({
      level: 'warn',
      message:
        'Requests from other machines are refused until server.public_url or server.allowed_hosts names the host they use',
      facts: { host: server.host },
    })
}

const TRIES = 5

/** A connection that is lost in the middle is no reason not to start. Only for work that may run several times. */
async function untilThere<T>(work: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1)
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseAway(error) || failures >= TRIES) throw refusalOf(error)
      await sleep(backoffMs(failures, Math.random(), RECONNECT_BACKOFF))
    }
}

const refusalOf = (error: unknown): unknown =>
  error instanceof Refusal || error instanceof DatabaseError ? new StartRefused(error.message, { cause: error }) : error

/** Creates the agents that this build brings along, where they do not exist yet. */
export const prepareAgents = (ports: Ports, ids: readonly AgentId[]): Promise<AgentId> =>
  untilThere(() => ensureAgents(ports, OPERATOR_ORG, ids))

function tellOwner(log: ServerOptions['log']['log'], { kind }: OwnerKey, file: string): void {
  if (kind === 'made') log({ level: 'info', message: "The owner's key was made", facts: { file } })
  if (kind === 'revoked')
    log({
      level: 'warn',
      message: "The owner's key was revoked; remove the file, and the next start makes another one",
      facts: { file },
    })
}

const notFromOutside = (host: string): StartRefused =>
  new StartRefused(
    [
      `It does not listen on ${host} yet: other machines could reach it, and nobody has made a key for them.`,
      '  Either start on this machine alone (--host 127.0.0.1), sign in and make a key: escapement keys create',
      "  or give the owner's key yourself: ESCAPEMENT_OWNER_KEY=esc_… escapement serve --host …",
    ].join('\n'),
  )

/** Makes the link that signs in once, and leaves it where only the owner of the process can read it. */
export async function prepareSignIn(
  ports: Ports,
  { url, data }: { readonly url: string; readonly data: string },
): Promise<string> {
  const { token } = await createStartLink(ports)
  const link = `${url}/#signin=${token}`
  await writePrivateFile(path.join(data, 'signin'), `${link}\n`)
  return link
}
