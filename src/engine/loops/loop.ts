/**
 * A loop has a pass and a period, and can be woken. Waking makes the next pass sooner; the period guarantees it. A pass
 * may ask for the next one sooner than a period.
 */
export interface Loop {
  readonly start: () => void
  /** Ends the loop and waits for the pass in progress. */
  readonly stop: () => Promise<void>
  readonly wake: () => void
}

export interface LoopOptions {
  readonly everyMs: number
  /** Resolves after the time, or as soon as the signal is aborted. Injected so that tests move time by hand. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** The same after a pass that failed. Left out: `sleep`. */
  readonly pause?: LoopOptions['sleep']
  /** A pass that fails does not end the loop. `failures` counts failures in a row; the result is the wait in ms. */
  readonly onError: (error: unknown, failures: number) => number
}

/** Returns the wait in ms until the next pass; undefined waits for the period, 0 continues at once. */
export type Pass = () => Promise<number | undefined>

export function createLoop(pass: Pass, options: LoopOptions): Loop {
  // One controller per sleep, aborted by both waking and stopping: a combined signal would stay registered in the
  // long-lived one, once per sleep.
  let sleeping = new AbortController()
  let stopping = false
  let done: Promise<void> = Promise.resolve()
  let started = false
  const isStopping = (): boolean => stopping

  const runPasses = async (): Promise<void> => {
    let failures = 0
    while (!isStopping()) {
      sleeping = new AbortController() // created before the pass, so a wake during it is not lost
      let waitMs: number
      let wait = options.sleep
      try {
        waitMs = Math.min((await pass()) ?? options.everyMs, options.everyMs)
        failures = 0
      } catch (error) {
        failures += 1
        waitMs = options.onError(error, failures)
        wait = options.pause ?? options.sleep
      }
      if (!isStopping()) await wait(waitMs, sleeping.signal)
    }
  }

  return {
    start: () => {
      if (started) throw new Error('the loop has already been started')
      started = true
      done = runPasses()
    },
    stop: () => {
      stopping = true
      sleeping.abort()
      return done
    },
    wake: () => {
      sleeping.abort()
    },
  }
}

/** Waits in real time. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || ms <= 0) {
      // Even a pass that continues at once lets the event loop run first.
      setImmediate(resolve)
      return
    }
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
