/**
 * Knows when nothing more happens by itself. Everything that touches the database goes through `run`, one at a time and
 * in the order of asking: with that, and a clock that moves by hand, nothing in a world is left to chance but its seed.
 */
export interface Quiet {
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
  /** Resolves when no statement is under way and none follows. */
  readonly settled: () => Promise<void>
}

export function createQuiet(): Quiet {
  let underWay = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    run: (work) => {
      underWay += 1
      const done = last.then(work).finally(() => {
        underWay -= 1
      })
      last = done.catch(() => undefined)
      return done
    },
    settled: async () => {
      do {
        await last
        // Whatever follows from the last answer has asked for its statements before this comes back: some of it waits a
        // turn of the event loop itself, and what follows from that may do so again.
        for (let turns = 0; turns < 20 && underWay === 0; turns += 1) await breathe()
      } while (underWay > 0)
    },
  }
}

const breathe = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })
