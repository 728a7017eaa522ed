import { createStopRequests } from '../core/stop-requests.ts'
import type { Escapement } from './escapement.ts'

/** What is left of the process's own work after the last turn has this long to end by itself. */
const LAST_WORDS_MS = 1_000

/**
 * Lets the signals of the operating system through to the engine: SIGTERM and SIGINT drain, a second one stops at once
 * (the same one again within a second is the first), SIGUSR1 resets the sessions that are at work here. Call it first of
 * all, also before `start`: until SIGUSR1 has a handler Node opens its debugger on it. Answers with how to take the
 * handlers away.
 */
export function drainOnSignals(escapement: Pick<Escapement, 'stop' | 'reset'>): () => void {
  const requested = createStopRequests()
  let isAsked = false
  const end = (signal: NodeJS.Signals): void => {
    isAsked = true
    const how = requested(signal, performance.now())
    if (how !== null) stopFor(signal, how)
  }
  const stopFor = (signal: NodeJS.Signals, how: 'drain' | 'now'): void => {
    const stopped = escapement.stop(how).catch((error: unknown) => {
      process.exitCode = 1
      complain('It could not be stopped in order', error)
    })
    void stopped.then(() => {
      remove()
      // Others who listen to the signal have an end of their own in mind.
      if (process.listenerCount(signal) === 0) endBy(escapement, signal)
    })
  }
  const reset = (): void => {
    escapement.reset().catch((error: unknown) => {
      complain('The sessions could not be reset', error)
    })
  }
  const remove = (): void => {
    process.off('SIGTERM', end).off('SIGINT', end).off('SIGUSR1', reset)
    // Without any handler the signal would open the debugger of a process that is about to end.
    if (isAsked) process.off('SIGUSR1', ignore).on('SIGUSR1', ignore)
  }
  process.on('SIGUSR1', reset).on('SIGTERM', end).on('SIGINT', end)
  return remove
}

const ignore = (): void => undefined

/**
 * A program with nothing left to do ends by itself, and well. One that is kept alive by something else is ended by the
 * signal, as it would have been without us.
 */
function endBy(escapement: Pick<Escapement, 'stop'>, signal: NodeJS.Signals): void {
  const timer = setTimeout(() => {
    // The signal may have come before `start`, and the start after it.
    void escapement
      .stop('now')
      .catch(ignore)
      .then(() => process.kill(process.pid, signal))
  }, LAST_WORDS_MS)
  timer.unref()
}

function complain(what: string, error: unknown): void {
  process.stderr.write(`escapement error: ${what}: ${error instanceof Error ? error.message : String(error)}\n`)
}
