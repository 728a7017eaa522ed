/** Lets so many through at a time; the others wait for their turn. */
export interface Gate {
  readonly pass: <T>(work: () => Promise<T>) => Promise<T>
}

export function createGate(size: number): Gate {
  let inside = 0
  const waiting: (() => void)[] = []
  return {
    pass: async (work) => {
      if (inside >= size) await new Promise<void>((resolve) => waiting.push(resolve))
      else inside += 1
      try {
        return await work()
      } finally {
        // Whoever is next takes the place over.
        const next = waiting.shift()
        if (next === undefined) inside -= 1
        else next()
      }
    },
  }
}
