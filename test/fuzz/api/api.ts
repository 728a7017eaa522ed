import { createRandom } from '../../simulation/random.ts'
import type { Finding, KeptInput, Part, PartEnd, PartRun } from '../part.ts'
import type { Complaint } from './check.ts'
import { drawStep, kindOf } from './draw.ts'
import { CALLED, readStep, writeStep, type Step } from './step.ts'
import { createApiWorld, type ApiWorld } from './world.ts'

/** So many requests before one that showed something are kept with it: they may have been the reason. */
const REMEMBERED = 5

/** At most so many findings of one operation. */
const MOST_FINDINGS = 3

/** A database in which this much was made is slow to look through; another one is begun. */
const REQUESTS_OF_A_WORLD = 4_000

interface KeptSteps {
  readonly steps: readonly unknown[]
}

/** What a run of requests remembers. */
class Requests {
  readonly findings: Finding[] = []
  readonly fresh: KeptInput[] = []
  readonly kinds = new Set<string>()
  readonly classes = new Set<string>()
  readonly operations = new Set<string>()
  readonly statuses = new Map<number, number>()
  #before: unknown[] = []
  tried = 0

  async take(world: ApiWorld, step: Step): Promise<void> {
    this.tried += 1
    const { status, complaints } = await world.take(step)
    const written = writeStep(step)
    this.#count(step, status, written)
    for (const complaint of complaints) this.#find(step, complaint, [...this.#before, written])
    this.#before = [...this.#before.slice(1 - REMEMBERED), written]
  }

  #count(step: Step, status: number, written: unknown): void {
    const kind = kindOf(step)
    this.kinds.add(kind)
    this.operations.add(step.operation)
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const found = `${kind}, ${status}`
    if (this.classes.has(found)) return
    this.classes.add(found)
    if (JSON.stringify(written).length < 3_000) this.fresh.push({ why: found, input: { steps: [written] } })
  }

  #find({ operation }: Step, { kind, message }: Complaint, steps: readonly unknown[]): void {
    if (this.findings.filter(({ where }) => where === operation).length >= MOST_FINDINGS) return
    this.findings.push({ part: 'api', kind, where: operation, message, input: { steps } satisfies KeptSteps })
  }
}

async function run({ seconds, seed, note, corpus }: PartRun): Promise<PartEnd> {
  const random = createRandom(seed)
  const requests = new Requests()
  const kept = corpus.flatMap((input) => (input as KeptSteps).steps.map(readStep))
  const until = Date.now() + seconds * 1_000
  let next = 0
  while (Date.now() < until) {
    const world = await createApiWorld()
    try {
      for (let made = 0; made < REQUESTS_OF_A_WORLD && Date.now() < until; made += 1) {
        const step = kept[next] ?? drawStep(random)
        next += 1
        note(step.operation, { steps: [writeStep(step)] })
        await requests.take(world, step)
      }
    } finally {
      await world.close()
    }
  }
  const statuses = [...requests.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  return {
    ...{ tried: requests.tried, findings: requests.findings, fresh: requests.fresh },
    facts: {
      operations: `${requests.operations.size} of ${CALLED.length}`,
      kinds: requests.kinds.size,
      ...{ answers: statuses.join(' '), memory_mb: Math.round(process.memoryUsage().rss / 1_048_576) },
    },
  }
}

async function replay(inputs: readonly unknown[]): Promise<readonly Finding[]> {
  const requests = new Requests()
  const world = await createApiWorld()
  try {
    for (const input of inputs)
      for (const step of (input as KeptSteps).steps) await requests.take(world, readStep(step))
  } finally {
    await world.close()
  }
  return requests.findings
}

/** Every operation of the table, asked rightly, wrongly and oddly; what is refused changes nothing. */
export const api: Part = { name: 'api', title: 'every operation of the API', run, replay }
