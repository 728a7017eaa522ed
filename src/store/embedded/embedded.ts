import { type SocketTarget } from '../postgres/target.ts'
import { DATABASE, SUPERUSER } from './init.ts'
import { keepJoined } from './keeper.ts'
import { PORT, type Place } from './place.ts'
import { prepareServer, type PrepareOptions } from './prepare.ts'
import { giveBack, type Reference } from './reference.ts'
import { joinOrStart } from './running.ts'
import { trimLog } from './server-log.ts'
import { stopServer } from './stop-server.ts'

export interface EmbeddedOptions extends PrepareOptions {
  /** Chance for the waits, in [0, 1). */
  readonly random?: () => number
}

export interface EmbeddedServer {
  readonly target: SocketTarget
  /** Gives the server back; whoever is last stops it. To be called when every connection is closed. */
  readonly leave: () => Promise<'stopped' | 'left'>
}

const TRIM_EVERY_MS = 60_000

/** Joins or starts the embedded PostgreSQL of a data directory and keeps it up until told to leave. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const leaving = new AbortController()
  const ctx = await prepareServer(options, leaving.signal)
  const reference = await joinOrStart(ctx)
  const keeper = keepJoined(ctx, reference, options.random ?? Math.random)
  const trimming = setInterval(() => void trimLog(ctx.place.log), TRIM_EVERY_MS).unref()
  let left: Promise<'stopped' | 'left'> | undefined
  return {
    target: {
      host: ctx.place.socketDirectory,
      port: PORT,
      user: SUPERUSER,
      password: ctx.password,
      database: DATABASE,
    },
    leave: () => {
      clearInterval(trimming)
      leaving.abort()
      left ??= keeper.current().then((held) => (held === undefined ? 'left' : leave(held, ctx.place)))
      return left
    },
  }
}

async function leave(reference: Reference, place: Place): Promise<'stopped' | 'left'> {
  try {
    if ((await giveBack(reference)) === 'others') return 'left'
    await stopServer(reference, place)
    return 'stopped'
  } catch {
    // The connection is gone, and our share of the server with it.
    return 'left'
  } finally {
    await reference.client.end().catch(() => undefined)
  }
}
