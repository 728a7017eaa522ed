/**
 * A loop has a pass, a period and a way to be woken. Being woken only makes the next pass sooner; the period makes it
 * certain. A pass may say when it wants to be called next, if that is sooner than a period.
 */
export interface Loop {
  readonly start: () => void
  /** Ends the loop and waits for the pass that is under way. */
  readonly stop: () => Promise<void>
  readonly wake: () => void
}

export interface LoopOptions {
  readonly everyMs: number
  /** Resolves after the time, or as soon as the signal is aborted. Handed in so that tests move time by hand. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** The same after a pass that failed. Left out: `sleep`. */
  readonly pause?: LoopOptions['sleep']
  /** A pass that fails does not end the loop. `failures` counts those in a row; the answer is how long to wait. */
  readonly onError: (error: unknown, failures: number) => number
}

/** How long until the pass wants to be called again; undefined leaves it to the period, 0 asks to go on at once. */
export type Pass = () => Promise<number | undefined>

export function createLoop(pass: Pass, options: LoopOptions): Loop {
  // One controller per nap, ended by waking and by stopping alike: a signal made of two would stay on record in the one
  // that lasts, once per nap.
  let nap = new AbortController()
  let stopping = false
  let done: Promise<void> = Promise.resolve()
  let started = false
  const isStopping = (): boolean => stopping

  const turn = async (): Promise<void> => {
    let failures = 0
    while (!isStopping()) {
      nap = new AbortController() // made before the pass, so a wake during it is not lost
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
      if (!isStopping()) await wait(waitMs, nap.signal)
    }
  }

  return {
    start: () => {
      if (started) throw new Error('a loop is started once')
      started = true
      done = turn()
    },
    stop: () => {
      stopping = true
      nap.abort()
      return done
    },
    wake: () => {
      nap.abort()
    },
  }
}

/** Waits in real time. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || ms <= 0) {
      // Even a pass that wants to go on at once lets everything else have its turn first.
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
