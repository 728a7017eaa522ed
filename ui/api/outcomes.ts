import type { ScheduleOutcome } from '../../src/features/schedules/views-schema.ts'
import { api } from './client.ts'

/** Rows appear one after another within a frame or two; requests of this span are combined into one. */
const GATHER_MS = 10
const MOST_AT_ONCE = 100

interface Waiting {
  readonly id: string
  readonly resolve: (runs: readonly ScheduleOutcome[]) => void
  readonly reject: (error: unknown) => void
}

let waiting: Waiting[] = []

/** How the last runs of a schedule went, newest first: one request for all schedules that are asked about together. */
export const readOutcomes = (id: string): Promise<readonly ScheduleOutcome[]> =>
  new Promise((resolve, reject) => {
    if (waiting.length === 0) setTimeout(askAll, GATHER_MS)
    waiting.push({ id, resolve, reject })
  })

function askAll(): void {
  const all = waiting
  waiting = []
  for (let from = 0; from < all.length; from += MOST_AT_ONCE) void ask(all.slice(from, from + MOST_AT_ONCE))
}

async function ask(asked: readonly Waiting[]): Promise<void> {
  try {
    const { items } = await api.schedules.outcomes({ ids: asked.map(({ id }) => id).join(',') })
    const found = new Map(items.map(({ schedule_id: id, runs }) => [id, runs]))
    for (const { id, resolve } of asked) resolve(found.get(id) ?? [])
  } catch (error) {
    for (const { reject } of asked) reject(error)
  }
}
