import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError } from '../database-error.ts'
import type { Account } from './files.ts'
import type { Binaries } from './binaries.ts'
import { refuseOtherMajor } from './init.ts'
import { findHolder, moveStaleSocket } from './pid-file.ts'
import type { ServerPaths } from './place.ts'
import { joinServer, type Reference } from './reference.ts'
import { startServer, whyEnded } from './server-process.ts'

export interface RunningContext {
  readonly paths: ServerPaths
  readonly account: Account | undefined
  readonly binaries: Binaries
  readonly password: string
  readonly startMs: number
  readonly onEvent: (news: EmbeddedEvent) => void
  /** Aborted when this process leaves the server. */
  readonly signal: AbortSignal
}

/** Polling interval of a starting server, which takes about 40 ms; each poll costs a failed connection. */
const START_POLL_MS = 10

/** Delay after losing a start race, to give the winner time; every attempt starts a process. */
const START_RETRY_MS = 50

/**
 * Joins the running server, or starts one. Needs no lock, because PostgreSQL allows one server per directory and the loser
 * of a race tries again.
 */
export async function joinOrStart(ctx: RunningContext): Promise<Reference> {
  const { paths, onEvent } = ctx
  const deadline = performance.now() + ctx.startMs
  await refuseOtherMajor(paths.cluster, ctx.binaries.major)
  for (;;) {
    const running = await joinServer(paths, ctx.password)
    if (running !== undefined) {
      onEvent({ kind: 'adopted', message: `Joined the running embedded PostgreSQL (process ${running.pid})` })
      return running
    }
    const holder = await findHolder(paths.cluster)
    if (holder.kind === 'stale') {
      await moveStaleSocket(paths.cluster, holder.text)
      onEvent({ kind: 'stale_pid_file', message: 'Removed a stale postmaster.pid' })
    }
    if (holder.kind === 'none' || holder.kind === 'stale') {
      const started = await startAndJoin(ctx, deadline)
      if (started !== undefined) return started
      await sleep(START_RETRY_MS)
    }
    ctx.signal.throwIfAborted()
    if (performance.now() > deadline) throw tooSlow(ctx, 'pid' in holder ? ` from process ${holder.pid}` : '')
    await sleep(START_POLL_MS)
  }
}

/** Starts the server and joins it; `undefined`: another process started one first. */
async function startAndJoin(ctx: RunningContext, deadline: number): Promise<Reference | undefined> {
  const { paths, account, binaries } = ctx
  const server = await startServer({ paths, account, postgres: binaries.postgres })
  while (performance.now() <= deadline) {
    const reference = await joinServer(paths, ctx.password)
    if (reference !== undefined) {
      ctx.onEvent({ kind: 'started', message: `Started the embedded PostgreSQL (process ${reference.pid})` })
      return reference
    }
    const said = await server.ended()
    if (said !== undefined) {
      const failure = whyEnded(said, paths)
      if (failure === undefined) return undefined
      throw failure
    }
    await sleep(START_POLL_MS)
  }
  throw tooSlow(ctx, '')
}

const tooSlow = ({ startMs, paths }: RunningContext, source: string): DatabaseError =>
  new DatabaseError('server_failed', {
    detail: `no response${source} within ${startMs} ms; it may still be recovering, see its log ${paths.log}`,
  })

/** An event of the embedded server, for the log and the terminal. */
export interface EmbeddedEvent {
  readonly kind:
    | 'account_assumed'
    | 'files_elsewhere'
    | 'binaries_copied'
    | 'initialised'
    | 'started'
    | 'adopted'
    | 'stale_pid_file'
    | 'lost'
    | 'still_away'
    | 'returned'
  readonly message: string
}
