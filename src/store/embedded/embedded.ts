import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, RECONNECT_BACKOFF } from '../../platform/db/backoff.ts'
import type { SocketTarget } from '../postgres/target.ts'
import { DATABASE, SUPERUSER } from '../../platform/db/embedded/init.ts'
import { isAlive, isServerOf } from '../../platform/db/embedded/pid-file.ts'
import { type Place, PORT } from '../../platform/db/embedded/place.ts'
import { type PrepareOptions, prepareServer } from './prepare.ts'
import { giveBack, type Reference } from '../../platform/db/embedded/reference.ts'
import { joinOrStart, type RunningContext } from '../../platform/db/embedded/running.ts'
import { trimLog } from '../../platform/db/embedded/server-process.ts'

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
  const current = keepJoined(ctx, reference, options.random ?? Math.random)
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
      left ??= current().then((held) => (held === undefined ? 'left' : leave(held, ctx.place)))
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

/**
 * Keeps this process joined. An embedded server has nobody else to look after it: when the reference breaks because the
 * server died, it is started again; when only the connection broke, it is joined again. Answers with what gives the
 * reference that is held, or will be once the server is back; `undefined` if it was given up.
 */
function keepJoined(ctx: RunningContext, first: Reference, random: () => number): () => Promise<Reference | undefined> {
  let current: Promise<Reference | undefined> = Promise.resolve(first)
  const watch = (reference: Reference): void => {
    reference.client.once('end', () => {
      if (ctx.signal.aborted) return
      ctx.tell({ kind: 'lost', message: 'The embedded PostgreSQL is away' })
      current = rejoin(ctx, random).then((again) => {
        if (again !== undefined) watch(again)
        return again
      })
    })
  }
  watch(first)
  return () => current
}

async function rejoin(ctx: RunningContext, random: () => number): Promise<Reference | undefined> {
  for (let failures = 1; !ctx.signal.aborted; failures += 1) {
    try {
      const reference = await joinOrStart(ctx)
      ctx.tell({ kind: 'returned', message: 'The embedded PostgreSQL is back' })
      return reference
    } catch (error) {
      ctx.tell({ kind: 'still_away', message: error instanceof Error ? error.message : String(error) })
      const wait = backoffMs(failures, random(), RECONNECT_BACKOFF)
      await sleep(wait, undefined, { signal: ctx.signal, ref: false }).catch(() => undefined)
    }
  }
  return undefined
}

/** A shutdown writes everything to disk; on a slow one with much to write it takes its time. */
const LONGEST_STOP_MS = 30_000

/**
 * Stops the server ("fast": no more statements, everything on disk). The reference still holds the exclusive lock, so
 * the server is alive and its process number is really its own.
 */
async function stopServer({ client, pid }: Reference, place: Place): Promise<void> {
  if ((await isServerOf(pid, place.cluster)) === false) return
  const gone = new Promise<void>((resolve) => client.once('end', resolve))
  try {
    process.kill(pid, 'SIGINT')
  } catch {
    return
  }
  const deadline = performance.now() + LONGEST_STOP_MS
  await Promise.race([gone, sleep(LONGEST_STOP_MS, undefined, { ref: false })])
  while (isAlive(pid) && (await isServerOf(pid, place.cluster)) !== false && performance.now() < deadline)
    await sleep(5)
}
