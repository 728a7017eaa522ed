import { setTimeout as sleep } from 'node:timers/promises'
import { createStopRequests } from '../domain/session/stop.ts'
import { nodeRecordOf } from '../engine/node.ts'
import { renewLease } from '../features/nodes/membership.ts'
import type { Escapement } from './escapement.ts'
import type { Running } from './running.ts'

/** How long the process may take to exit by itself after the engine has stopped. */
const EXIT_GRACE_MS = 1_000

/**
 * Handles process signals: SIGTERM and SIGINT drain, a second one stops at once (the same signal again within a second
 * counts as the first), SIGUSR1 resets the active sessions of this node. Call it before `start`, because Node opens its
 * debugger on SIGUSR1 while there is no handler. Returns a function that removes the handlers.
 */
export function drainOnSignals(escapement: Pick<Escapement, 'stop' | 'reset'>): () => void {
  const requested = createStopRequests()
  let isEnding = false
  const end = (signal: NodeJS.Signals): void => {
    isEnding = true
    const how = requested(signal, performance.now())
    if (how !== null) stopFor(signal, how)
  }
  const stopFor = (signal: NodeJS.Signals, how: 'drain' | 'now'): void => {
    const stopped = escapement.stop(how).catch((error: unknown) => {
      process.exitCode = 1
      printError('Shutdown failed', error)
    })
    void stopped.then(() => {
      remove()
      // Other listeners of the signal decide themselves when the process ends.
      if (process.listenerCount(signal) === 0) endWithSignal(escapement, signal)
    })
  }
  const reset = (): void => {
    escapement.reset().catch((error: unknown) => {
      printError('Resetting the sessions failed', error)
    })
  }
  const remove = (): void => {
    process.off('SIGTERM', end).off('SIGINT', end).off('SIGUSR1', reset)
    // Without a handler the signal would open the debugger of an ending process.
    if (isEnding) process.off('SIGUSR1', ignore).on('SIGUSR1', ignore)
  }
  process.on('SIGUSR1', reset).on('SIGTERM', end).on('SIGINT', end)
  return remove
}

const ignore = (): void => undefined

/**
 * A program with nothing left to do exits by itself with code 0. One that is kept alive by something else is ended by
 * the signal, as it would be without these handlers.
 */
function endWithSignal(escapement: Pick<Escapement, 'stop'>, signal: NodeJS.Signals): void {
  const timer = setTimeout(() => {
    // The signal may have arrived before `start`, which then ran after it.
    void escapement
      .stop('now')
      .catch(ignore)
      .then(() => process.kill(process.pid, signal))
  }, EXIT_GRACE_MS)
  timer.unref()
}

function printError(what: string, error: unknown): void {
  process.stderr.write(`escapement error: ${what}: ${error instanceof Error ? error.message : String(error)}\n`)
}

/** A node that is shutting down. */
export interface Stopping {
  readonly done: Promise<void>
  /** Ends the grace period of active runs. */
  readonly hurry: () => void
}

/** What is shut down. */
interface ShutdownInput extends Pick<Running, 'app' | 'waiters'> {
  /** Called when nothing runs any more and the database is still open; closes the HTTP server. */
  readonly beforeClose?: () => Promise<void>
}

/**
 * Shuts down in order: no new work, no new starts; active runs get the grace period, then are aborted and given back;
 * then the loops stop and the database is closed. Waiting runs stay queued. Call it once.
 */
export function stopApp(running: ShutdownInput): Stopping {
  const hurry = new AbortController()
  return {
    done: shutDown(running, hurry.signal),
    hurry: () => {
      hurry.abort()
    },
  }
}

async function shutDown({ app, waiters, beforeClose }: ShutdownInput, hurry: AbortSignal): Promise<void> {
  const { parts, loops } = app
  parts.state.draining = true
  parts.workers.answerAll()
  const { settings } = parts.ctx
  // Tells the other nodes at once that this one is draining.
  await renewLease(parts.control, nodeRecordOf(parts), settings().node.leaseMs).catch(() => false)
  await waitForIdle(parts.executions.idle(), settings().drainGraceSeconds * 1_000, hurry)
  for (const execution of parts.executions.all()) execution.abort('shutdown')
  await waitForIdle(parts.executions.idle(), settings().node.stopGraceMs)
  parts.state.stopped = true
  for (const actor of parts.actors.values()) await waitForIdle(actor.idle(), settings().node.stopGraceMs)
  // Waiting callers are rejected while their connections are still open.
  waiters.rejectAll()
  await beforeClose?.()
  parts.stopping.abort()
  await loops.stop()
  await Promise.all([...parts.actors.values()].map((actor) => actor.close()))
  await app.close()
}

async function waitForIdle(done: Promise<void>, ms: number, hurry?: AbortSignal): Promise<void> {
  const over = new AbortController()
  const signal = hurry === undefined ? over.signal : AbortSignal.any([over.signal, hurry])
  await Promise.race([done, sleep(ms, undefined, { signal }).catch(() => undefined)])
  over.abort()
}
