/** Something that is costly to find out, asked for often and found out seldom. */
export interface Seldom<T> {
  /** What was last found out, and how long ago. Null: nothing yet, and it could not be found out in time. */
  readonly read: () => Promise<{ readonly value: T; readonly ageMs: number } | null>
}

export interface SeldomOptions {
  /** By a clock that never goes back. */
  readonly counter: () => number
  /** It is not found out more often than this. */
  readonly leastMs: number
  /** It takes at most this share of the time, however long it takes. */
  readonly share: number
  /** How long whoever is first waits for it. */
  readonly patienceMs: number
}

/**
 * Answers with what is known and finds it out again behind the back of whoever asked, so nobody but the first ever waits.
 * What takes long is found out less often. What fails leaves what was known, and is not tried again at once.
 */
export function createSeldom<T>(find: () => Promise<T>, options: SeldomOptions): Seldom<T> {
  const { counter, leastMs, share, patienceMs } = options
  let known: { readonly value: T; readonly at: number } | null = null
  let nextAt = -Infinity
  let finding: Promise<void> | null = null
  const look = async (): Promise<void> => {
    const began = counter()
    try {
      known = { value: await find(), at: counter() }
    } catch {
      // Whoever asks is shown how old it is.
    } finally {
      const took = counter() - began
      nextAt = counter() + Math.max(leastMs, took / share)
      finding = null
    }
  }
  return {
    read: async () => {
      if (counter() >= nextAt) finding ??= look()
      if (known === null && finding !== null) await atMost(patienceMs, finding)
      return known === null ? null : { value: known.value, ageMs: counter() - known.at }
    },
  }
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, over])
  clearTimeout(timer)
}
