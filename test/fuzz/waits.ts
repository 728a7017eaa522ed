import { readdirSync, readFileSync } from 'node:fs'

const TASKS = '/proc/self/task'

/** How long a thread has had a processor, and how long it has wanted one without getting it, in ms. */
interface Turns {
  readonly ran: number
  readonly waited: number
}

type ReadTurns = () => ReadonlyMap<string, Turns>

/** Of every thread of this process. Only Linux tells. */
const readTurns: ReadTurns = () => new Map(threads().map((id) => [id, turnsOf(id)]))

function threads(): readonly string[] {
  try {
    return readdirSync(TASKS)
  } catch {
    return []
  }
}

function turnsOf(id: string): Turns {
  try {
    const [ran, waited] = readFileSync(`${TASKS}/${id}/schedstat`, 'utf8').split(' ')
    return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 }
  } catch {
    // It has ended meanwhile.
    return { ran: 0, waited: 0 }
  }
}

const NOTHING: Turns = { ran: 0, waited: 0 }

/**
 * Begins to measure time. On a machine that others use, an answer is not slow because of them: the time for which a thread
 * wanted a processor and got none is taken away. What one thread has computed is left in any case, and so are sleeping and
 * waiting for other processes.
 */
export function stopwatch(read: ReadTurns = readTurns, clock = (): number => performance.now()): () => number {
  const before = read()
  const begin = clock()
  return () => {
    const ms = clock() - begin
    let [ran, waited] = [0, 0]
    for (const [id, now] of read()) {
      const then = before.get(id) ?? NOTHING
      ran = Math.max(ran, now.ran - then.ran)
      waited = Math.max(waited, now.waited - then.waited)
    }
    return Math.max(ran, ms - waited)
  }
}
