import { createRandom, type Random } from '../../simulation/random.ts'
import { mutate } from '../mutate.ts'
import { longText, oddValue } from '../odd-values.ts'
import type { Finding, KeptInput, Part, PartEnd, PartRun } from '../part.ts'
import { abbreviate, expand } from './shorthand.ts'
import { shrink } from './shrink.ts'
import { Broken, type Target } from './target.ts'
import { TARGETS } from './targets.ts'

const USUAL_MOST_MS = 200

/** How often something slow is tried again before it is called slow: a busy machine takes its time once, not always. */
const PATIENCE = 3

/** More classes than these are counted no further: their names come from the inputs. */
const MOST_CLASSES = 60

/** Larger inputs are not kept for their class alone. */
const MOST_KEPT = 2_000

/** At most so many findings of one target: the rest is mostly the same again. */
const MOST_FINDINGS = 5

interface TargetInput {
  readonly target: string
  readonly input: unknown
}

/** What one attempt came to. */
export type Tried =
  | { readonly ok: true; readonly class: string; readonly ms: number }
  | { readonly ok: false; readonly kind: Finding['kind']; readonly message: string }

/** Tries one input, and again when it was slow. */
export function tryOne(target: Target, input: unknown): Tried {
  const most = target.mostMs ?? USUAL_MOST_MS
  let tried = tryOnce(target, input)
  for (let left = PATIENCE - 1; left > 0 && tried.ok && tried.ms > most; left -= 1) tried = tryOnce(target, input)
  if (!tried.ok || tried.ms <= most) return tried
  return { ok: false, kind: 'hang', message: `took ${Math.round(tried.ms)} ms of the processor, more than ${most} ms` }
}

function tryOnce({ attempt }: Target, input: unknown): Tried {
  // Others use the machine, and other threads the processor: this thread took no longer than either shows.
  const begin = process.cpuUsage()
  const beganAt = performance.now()
  try {
    const found = attempt(input)
    const { user, system } = process.cpuUsage(begin)
    return { ok: true, class: found, ms: Math.min((user + system) / 1_000, performance.now() - beganAt) }
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    const where = error instanceof Error && !(error instanceof Broken) ? firstOwnFrame(error) : ''
    return { ok: false, kind: error instanceof Broken ? 'wrong' : 'crash', message: `${message.slice(0, 600)}${where}` }
  }
}

/** The first place in our own sources that an error came through. */
function firstOwnFrame({ stack = '' }: Error): string {
  const frame = /\/(src\/[^\s)]+)/.exec(stack)?.[1]
  return frame === undefined ? '' : ` (${frame})`
}

/** What a round of attempts remembers. */
class Trials {
  readonly classes = new Map<string, Set<string>>()
  readonly findings: Finding[] = []
  readonly fresh: KeptInput[] = []
  /** Inputs that were of a class of their own, by target. */
  readonly pool = new Map<string, unknown[]>()
  tried = 0
  slowestMs = 0

  take(target: Target, input: unknown): void {
    this.tried += 1
    const tried = tryOne(target, input)
    if (!tried.ok) {
      this.#find(target, input, tried)
      return
    }
    this.slowestMs = Math.max(this.slowestMs, tried.ms)
    const known = this.classes.get(target.name) ?? new Set()
    this.classes.set(target.name, known)
    if (known.has(tried.class) || known.size >= MOST_CLASSES) return
    known.add(tried.class)
    this.pool.get(target.name)?.push(input)
    if (JSON.stringify(abbreviate(input)).length > MOST_KEPT) return
    this.fresh.push({ why: `${target.name}: ${tried.class}`, input: { target: target.name, input: abbreviate(input) } })
  }

  #find(target: Target, input: unknown, { kind, message }: Extract<Tried, { readonly ok: false }>): void {
    const [same] = [this.findings.filter((one) => one.where === target.name && one.kind === kind)]
    if (same.length >= MOST_FINDINGS) return
    const isSame = (smaller: unknown): boolean => {
      const again = tryOne(target, smaller)
      return !again.ok && again.kind === kind
    }
    const small = kind === 'hang' ? input : shrink(input, isSame)
    const found = { target: target.name, input: abbreviate(small) } satisfies TargetInput
    this.findings.push({ part: 'parsers', kind, where: target.name, message, input: found })
  }
}

function nextInput(target: Target, random: Random, pool: readonly unknown[]): unknown {
  const kind = random.int(0, 9)
  if (kind <= 3) return target.draw(random)
  if (kind <= 6) return mutate(target.draw(random), random, target.words)
  if (kind <= 8 && pool.length > 0) return mutate(random.one(pool), random, target.words)
  return random.chance(0.5) ? oddValue(random) : longText(random)
}

const readKept = (kept: unknown): TargetInput => expand(kept) as TargetInput

async function run({ seconds, seed, say, corpus, note }: PartRun): Promise<PartEnd> {
  const random = createRandom(seed)
  const trials = new Trials()
  for (const target of TARGETS) trials.pool.set(target.name, [])
  for (const kept of corpus.map(readKept)) {
    const target = TARGETS.find(({ name }) => name === kept.target)
    note(kept.target, kept)
    if (target !== undefined) trials.take(target, kept.input)
  }
  trials.fresh.length = 0
  const until = Date.now() + seconds * 1_000
  for (let round = 0; Date.now() < until; round += 1) {
    const target = TARGETS[round % TARGETS.length]
    if (target === undefined) break
    const input = nextInput(target, random, trials.pool.get(target.name) ?? [])
    note(target.name, { target: target.name, input: abbreviate(input) })
    trials.take(target, input)
    // Others want a turn now and then: whoever watches from this very thread, for one.
    if (round % 500 === 0) await new Promise(setImmediate)
  }
  const classes = [...trials.classes.values()].reduce((sum, { size }) => sum + size, 0)
  for (const { name } of TARGETS) say(`  ${name}: ${trials.classes.get(name)?.size ?? 0} kinds of answers`)
  const megabytes = Math.round(process.memoryUsage().rss / 1_048_576)
  return {
    ...{ tried: trials.tried, findings: trials.findings, fresh: trials.fresh },
    facts: {
      ...{ parsers: TARGETS.length, classes, slowest_ms: Math.round(trials.slowestMs), memory_mb: megabytes },
    },
  }
}

function replay(inputs: readonly unknown[]): Promise<readonly Finding[]> {
  const found = inputs.map(readKept).flatMap((kept): readonly Finding[] => {
    const target = TARGETS.find(({ name }) => name === kept.target)
    if (target === undefined) return [{ ...about(kept), kind: 'wrong', message: 'nobody reads this any more' }]
    const tried = tryOne(target, kept.input)
    return tried.ok ? [] : [{ ...about(kept), kind: tried.kind, message: tried.message }]
  })
  return Promise.resolve(found)
}

const about = (kept: TargetInput): Pick<Finding, 'part' | 'where' | 'input'> => ({
  ...{ part: 'parsers', where: kept.target, input: kept },
})

/** Everything that reads what others write, without a server around it. */
export const parsers: Part = { name: 'parsers', title: 'everything that reads what others write', run, replay }
