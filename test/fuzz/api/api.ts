import { createRandom, type Random } from '../../simulation/random.ts'
import type { Finding, KeptInput, Part, PartEnd, PartRun } from '../part.ts'
import type { Complaint } from './check.ts'
import { drawMeant, drawStep, kindOf } from './draw.ts'
import { drawRpc, RPC_COUNT } from './rpc.ts'
import { drawSequence } from './sequence.ts'
import { CALLED, readStep, writeStep, type Step } from './step.ts'
import { Worlds } from './worlds.ts'

/** So many requests before one that showed something are kept with it: they may have been the reason. */
const REMEMBERED = 20

/** At most so many findings of one operation. */
const MOST_FINDINGS = 3

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
  readonly #worlds = new Worlds((complaint) => {
    this.#find('the end', complaint, this.#before)
  })
  tried = 0

  get worlds(): number {
    return this.#worlds.opened
  }

  async close(): Promise<void> {
    await this.#worlds.close()
  }

  async take(step: Step): Promise<void> {
    this.tried += 1
    const { status, complaints } = await this.#worlds.take(step)
    const written = writeStep(step)
    this.#count(step, status, written)
    for (const complaint of complaints) this.#find(step.operation, complaint, [...this.#before, written])
    this.#before = [...this.#before.slice(1 - REMEMBERED), written]
  }

  #count(step: Step, status: number, written: unknown): void {
    const kind = kindOf(step)
    this.kinds.add(kind)
    if (step.operation !== 'rpc other') this.operations.add(step.operation)
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const found = `${kind}, ${status}`
    if (this.classes.has(found)) return
    this.classes.add(found)
    // What it has borrowed is not there when it is tried alone.
    if (step.borrow === undefined && JSON.stringify(written).length < 3_000)
      this.fresh.push({ why: found, input: { steps: [written] } })
  }

  #find(operation: string, { kind, message }: Complaint, steps: readonly unknown[]): void {
    if (this.findings.filter(({ where }) => where === operation).length >= MOST_FINDINGS) return
    this.findings.push({ part: 'api', kind, where: operation, message, input: { steps } satisfies KeptSteps })
  }
}

function drawSteps(random: Random): readonly Step[] {
  if (random.chance(0.03)) return drawSequence(random, drawMeant)
  return [random.chance(0.15) ? drawRpc(random) : drawStep(random)]
}

async function run({ seconds, seed, note, corpus }: PartRun): Promise<PartEnd> {
  const random = createRandom(seed)
  const requests = new Requests()
  const kept = corpus.flatMap((input) => (input as KeptSteps).steps.map(readStep))
  const until = Date.now() + seconds * 1_000
  const left = kept.values()
  try {
    while (Date.now() < until) {
      const step = left.next().value
      for (const one of step === undefined ? drawSteps(random) : [step]) {
        note(one.operation, { steps: [writeStep(one)] })
        await requests.take(one)
      }
    }
  } finally {
    await requests.close()
  }
  const statuses = [...requests.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  return {
    ...{ tried: requests.tried, findings: requests.findings, fresh: requests.fresh },
    facts: {
      operations: `${requests.operations.size} of ${CALLED.length + RPC_COUNT}`,
      kinds: requests.kinds.size,
      databases: requests.worlds,
      ...{ answers: statuses.join(' '), memory_mb: Math.round(process.memoryUsage().rss / 1_048_576) },
    },
  }
}

async function replay(inputs: readonly unknown[]): Promise<readonly Finding[]> {
  const requests = new Requests()
  try {
    for (const input of inputs) for (const step of (input as KeptSteps).steps) await requests.take(readStep(step))
  } finally {
    await requests.close()
  }
  return requests.findings
}

/** Every operation of the table, asked rightly, wrongly and oddly; what is refused changes nothing. */
export const api: Part = { name: 'api', title: 'every operation of the API', run, replay }
