import type { Complaint } from './check.ts'
import type { Step } from './step.ts'
import { createApiWorld, Spent, type ApiWorld, type Taken } from './world.ts'

/** A database in which this much was made is slow to look through; another one is begun. */
const REQUESTS_OF_A_WORLD = 4_000

const first = (operation: string, body: unknown): Step => ({
  ...{ operation, drawn: { kind: 'first use', refused: false, pick: 0, query: [], body } },
  twist: { kind: 'at once', times: 20 },
})

/** What an installation creates when it is first needed, asked for by twenty callers at once. */
const FIRST_USES: readonly Step[] = [
  first('secrets.create', { name: 'FIRST', value: 'first' }),
  first('keys.create', { name: 'first', role: 'viewer' }),
  first('agents.create', { id: 'first', name: 'First', executor: { kind: 'echo' } }),
  first('schedules.create', { name: 'first', every_seconds: 3_600 }),
]

/** One world after the other: what was asked of one may leave it without anything that could still be made in it. */
export class Worlds {
  readonly #tell: (complaint: Complaint) => void
  #world: ApiWorld | null = null
  #taken = 0
  opened = 0

  /** Told is what does not hold of a world at its end. */
  constructor(tell: (complaint: Complaint) => void) {
    this.#tell = tell
  }

  async take(step: Step): Promise<Taken> {
    if (this.#taken >= REQUESTS_OF_A_WORLD) await this.close()
    const isNew = this.#world === null
    const world = (this.#world ??= await this.#open())
    this.#taken += 1
    try {
      return await world.take(step)
    } catch (error) {
      if (!(error instanceof Spent) || isNew) throw error
      await this.close()
      return await this.take(step)
    }
  }

  async #open(): Promise<ApiWorld> {
    this.opened += 1
    this.#taken = 0
    const world = await createApiWorld()
    for (const step of FIRST_USES) for (const complaint of (await world.take(step)).complaints) this.#tell(complaint)
    return world
  }

  async close(): Promise<void> {
    const world = this.#world
    this.#world = null
    this.#taken = 0
    if (world === null) return
    try {
      for (const complaint of await world.rest()) this.#tell(complaint)
    } finally {
      await world.close()
    }
  }
}
