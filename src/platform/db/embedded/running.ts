import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError } from '../database-error.ts'
import type { Account } from '../../../store/embedded/account.ts'
import type { Binaries } from './binaries.ts'
import { refuseOtherMajor } from './init.ts'
import { findHolder, moveStaleAside } from './pid-file.ts'
import type { Place } from './place.ts'
import { join, type Reference } from './reference.ts'
import { startServer, whyEnded } from './server-process.ts'

export interface RunningContext {
  readonly place: Place
  readonly account: Account | undefined
  readonly binaries: Binaries
  readonly password: string
  readonly startMs: number
  readonly tell: (news: EmbeddedNews) => void
  /** Aborted when this process does not want the server any more. */
  readonly signal: AbortSignal
}

/** A server comes up in about 40 ms; asking costs one failed connection. */
const LOOK_AGAIN_MS = 10

/** After a lost race the winner needs a moment, and every further try is another process. */
const TRY_AGAIN_MS = 50

/**
 * Joins the server at this place: the one that runs, else one it starts. There is no lock around it: PostgreSQL itself
 * lets one server per directory live, and who loses a race looks again.
 */
export async function joinOrStart(ctx: RunningContext): Promise<Reference> {
  const { place, tell } = ctx
  const deadline = performance.now() + ctx.startMs
  await refuseOtherMajor(place.cluster, ctx.binaries.major)
  for (;;) {
    const running = await join(place, ctx.password)
    if (running !== undefined) {
      tell({ kind: 'adopted', message: `Joined the embedded PostgreSQL that is running (process ${running.pid})` })
      return running
    }
    const holder = await findHolder(place.cluster)
    if (holder.kind === 'stale') {
      await moveStaleAside(place.cluster, holder.text)
      tell({ kind: 'stale_pid_file', message: 'Removed a postmaster.pid that belongs to no running server' })
    }
    if (holder.kind === 'nobody' || holder.kind === 'stale') {
      const started = await start(ctx, deadline)
      if (started !== undefined) return started
      await sleep(TRY_AGAIN_MS)
    }
    ctx.signal.throwIfAborted()
    if (performance.now() > deadline) throw tooSlow(ctx, 'pid' in holder ? ` from process ${holder.pid}` : '')
    await sleep(LOOK_AGAIN_MS)
  }
}

/** Starts the server and joins it; `undefined` when another one was faster. */
async function start(ctx: RunningContext, deadline: number): Promise<Reference | undefined> {
  const { place, account, binaries } = ctx
  const server = await startServer({ place, account, postgres: binaries.postgres })
  while (performance.now() <= deadline) {
    const reference = await join(place, ctx.password)
    if (reference !== undefined) {
      ctx.tell({ kind: 'started', message: `Started the embedded PostgreSQL (process ${reference.pid})` })
      return reference
    }
    const said = await server.ended()
    if (said !== undefined) {
      const failure = whyEnded(said, place)
      if (failure === undefined) return undefined
      throw failure
    }
    await sleep(LOOK_AGAIN_MS)
  }
  throw tooSlow(ctx, '')
}

const tooSlow = ({ startMs, place }: RunningContext, whom: string): DatabaseError =>
  new DatabaseError('server_failed', {
    detail: `no answer${whom} within ${startMs} ms; it may still be recovering, its log is ${place.log}`,
  })

/** What the embedded server has to tell, for the log and for the person at the terminal. */
export interface EmbeddedNews {
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
