import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ROOT } from './root.ts'

// What the benchmark computes without measuring anything: what was asked for, the few numbers out of many, the goals.

const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(path.join(ROOT, 'bench/engine', file)).href)) as T

interface Wanted {
  readonly kind: string
  readonly name?: string
  readonly args?: readonly string[]
  readonly parts?: readonly string[]
  readonly contestants?: readonly string[]
  readonly quick?: boolean
  readonly rounds?: number
  readonly whole?: boolean
}

interface Names {
  readonly parts: readonly string[]
  readonly contestants: readonly string[]
  readonly others: readonly string[]
}

interface Goal {
  readonly goal: string
  readonly wanted: string
  readonly measured: string
  readonly reached: string
}

interface Job {
  readonly n: number
  readonly role: string
  readonly agent: string
  readonly session: string
  readonly place: number
  readonly fails: boolean
}

interface Contestant {
  readonly name: string
  readonly durable: boolean
}

const { readArguments, usage } = await load<{
  readonly readArguments: (args: readonly string[], names: Names) => Wanted
  readonly usage: (names: Names) => string
}>('arguments.mjs')
const { quantile, median, summary, withRange, ratioTo } = await load<{
  readonly quantile: (values: readonly number[], share: number) => number
  readonly median: (values: readonly number[]) => number
  readonly summary: (values: readonly (number | null)[], digits?: number) => unknown
  readonly withRange: (summary: unknown) => string
  readonly ratioTo: (one: number | undefined, other: number | undefined) => string
}>('statistics.mjs')
const { goalsOf } = await load<{ readonly goalsOf: (parts: unknown) => readonly Goal[] }>('goals.mjs')
const { CONTESTANTS, DURABLE_PEERS } = await load<{
  readonly CONTESTANTS: readonly Contestant[]
  readonly DURABLE_PEERS: readonly string[]
}>('contestants.mjs')
interface Attempted {
  readonly name: string
  readonly rival: boolean
}

const { resultOf } = await load<{
  readonly resultOf: (contestant: Attempted, call: () => Promise<unknown>) => Promise<unknown>
}>('parts/mixed.mjs')
const { mixedLoad, layersOf } = await load<{
  readonly mixedLoad: (size: { readonly flood: number; readonly seconds: number }) => readonly Job[]
  readonly layersOf: (jobs: readonly Job[]) => readonly (readonly Job[])[]
}>('mixed-load.mjs')
const { demand } = await load<{
  readonly demand: (who: string, what: string, counts: { readonly is: number; readonly expected: number }) => void
}>('rounds.mjs')
const { fileNameOf } = await load<{ readonly fileNameOf: (wanted: Wanted) => string }>('results.mjs')
const { PART_FILES } = await load<{ readonly PART_FILES: Readonly<Record<string, string>> }>('parts.mjs')

describe('arguments of the benchmark', () => {
  const names = { parts: ['drain', 'latency', 'in-process'], contestants: ['raw-sql', 'escapement'], others: ['http'] }
  const read = (...args: readonly string[]): Wanted => readArguments(args, names)

  it('mean everything when there are none', () => {
    expect(read()).toMatchObject({ kind: 'comparison', whole: true, quick: false, rounds: 3, ...namesOfAll() })
    expect(read('--quick')).toMatchObject({ whole: true, quick: true, rounds: 1 })
  })

  it('name parts in front or with --only, and contestants', () => {
    expect(read('latency', 'drain').parts).toEqual(['drain', 'latency'])
    expect(read('drain', '--only', 'latency, drain')).toMatchObject({ whole: false, parts: ['drain', 'latency'] })
    expect(read('engine', '--only', 'drain').parts).toEqual(['drain'])
    expect(read('picking').parts).toEqual(['in-process'])
    expect(read('--contestants', 'escapement')).toMatchObject({ whole: false, contestants: ['escapement'] })
    expect(read('drain', '--quick', '--rounds', '5')).toMatchObject({ rounds: 5, quick: true })
  })

  it('hand everything on to a benchmark of Escapement alone', () => {
    expect(read('http', '--only', 'sse')).toEqual({ kind: 'other', name: 'http', args: ['--only', 'sse'] })
    expect(() => read('drain', 'http')).toThrow('"http" is no part of the comparison: run it alone, as npm run bench')
  })

  it.each([
    [['drian'], 'There is no part "drian" (allowed: drain, latency, in-process; alone: http)'],
    [['--only', 'drain,'], 'There is no part "" (allowed'],
    [['--contestants', 'sidekiq'], 'There is no contestant "sidekiq" (allowed: raw-sql, escapement)'],
    [['--rounds', '0'], '--rounds is a whole number from 1 to 99, not "0"'],
    [['--rounds', '1.5'], '--rounds is a whole number from 1 to 99, not "1.5"'],
    [['--fast'], "Unknown option '--fast'"],
    [['--report', '--quick'], '--report takes nothing else'],
  ])('%j are refused precisely', (args, message) => {
    expect(() => read(...args)).toThrow(message)
  })

  it('have a usage that names everything', () => {
    for (const name of Object.values(names).flat()) expect(usage(names)).toContain(name)
    expect(read('--help')).toEqual({ kind: 'help' })
  })

  const namesOfAll = (): Pick<Wanted, 'parts' | 'contestants'> => ({
    parts: names.parts,
    contestants: names.contestants,
  })
})

describe('few numbers out of many', () => {
  it('are median, quantile and range, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5)
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
    expect([quantile(hundred, 0.5), quantile(hundred, 0.99), quantile(hundred, 1)]).toEqual([51, 100, 100])
    expect(summary([30.26, 10, 20], 1)).toEqual({ median: 20, min: 10, max: 30.3 })
    expect(withRange(summary([30_000, 10_000, 20_000]))).toBe('20,000 (10,000 – 30,000)')
    expect(withRange(summary([7]))).toBe('7')
  })

  it('are dashes where something was not measured', () => {
    expect(summary([1, null])).toEqual({ median: null, min: null, max: null })
    expect([ratioTo(3, 2), ratioTo(undefined, 2), ratioTo(1, 0)]).toEqual(['1.50', '–', '–'])
  })
})

describe('goals', () => {
  const rate = (median: number): unknown => ({ perSecond: { median } })
  const reached = (parts: unknown): readonly string[] => goalsOf(parts).map((goal) => goal.reached)
  const of = (parts: unknown): Goal => {
    const [goal, ...more] = goalsOf(parts)
    expect(more).toEqual([])
    if (goal === undefined) throw new Error('there is no goal')
    return goal
  }

  it('ask for 1.3 times the best peer in the drain, the bare table not counted, and say who that is', () => {
    const facts = {
      escapement: rate(26_000),
      'pg-boss': rate(20_000),
      'bullmq-redis': rate(15_000),
      'raw-sql': rate(9e4),
    }
    expect(of({ drain: { facts } })).toMatchObject({ wanted: '≥ 1.3', measured: '1.3', reached: 'yes' })
    expect(of({ drain: { facts } }).goal).toMatch(/\(pg-boss; without graphile-plain, .*bullmq-redis-always\)$/)
    const better = { ...facts, 'bullmq-redis': rate(20_100) }
    expect(of({ drain: { facts: better } })).toMatchObject({ measured: '1.29', reached: 'no' })
  })

  it('ask for five times the best PostgreSQL peer in submission, Redis not counted', () => {
    const facts = (own: number): unknown => ({
      escapement: { inFlight: { median: own } },
      'bullmq-postgres': { inFlight: { median: 3_000 } },
      'bullmq-redis-always': { inFlight: { median: 90_000 } },
    })
    expect(reached({ submission: { facts: facts(15_000) } })).toEqual(['yes'])
    expect(reached({ submission: { facts: facts(14_990) } })).toEqual(['no'])
  })

  it('ask for less than the quickest durable peer: who answers before the disk has it is none', () => {
    const at = (p50: number): unknown => ({ idle: { p50: { median: p50 } }, hot: { p50: { median: 10 * p50 } } })
    const facts = {
      escapement: at(1),
      'graphile-worker': at(2),
      'bullmq-redis-always': at(1.5),
      'bullmq-redis': at(0.5),
    }
    expect(reached({ latency: { facts } })).toEqual(['yes', 'yes'])
    expect(reached({ latency: { facts: { ...facts, 'bullmq-redis-always': at(1) } } })).toEqual(['no', 'no'])
    expect(DURABLE_PEERS).not.toContain('bullmq-redis')
  })

  it('ask for milliseconds of schedules, and count one that never started as late', () => {
    const fact = (last: number, complete = true): unknown => ({ last: { median: last }, complete })
    const facts = { 'escapement, lane of 500': fact(249), 'escapement, lane of 30': fact(250), 'pg-boss': fact(2e4) }
    expect(reached({ schedules: { facts } })).toEqual(['yes', 'no'])
    const lost = { 'escapement, lane of 500': fact(100, false) }
    expect(of({ schedules: { facts: lost } })).toMatchObject({ measured: 'not all of them', reached: 'no' })
    const lateness = (p99: number): unknown => ({ facts: { p99, schedules: 100_000, perSecond: 1_000 } })
    expect(of({ lateness: lateness(99.9) })).toMatchObject({ measured: '99.9', reached: 'yes' })
    expect(of({ lateness: lateness(100) }).reached).toBe('no')
    expect(of({ lateness: lateness(1) }).goal).toContain('100,000 schedules, 1,000 fires/s')
  })

  it('ask for the worst point of every curve, wherever it lies', () => {
    const curve = (...values: readonly number[]): unknown =>
      Object.fromEntries(values.map((buffersPerRun, i) => [10 ** (3 + i), { buffersPerRun }]))
    const curves = { queued: curve(20, 31, 22), ended: curve(20, 25, 30), nodes: { 1: { perSecond: 5 } } }
    expect(reached({ growth: { facts: { curves } } })).toEqual(['no', 'yes'])
  })

  it('ask for four fifths of the throughput with a pinned horizon', () => {
    const facts = (pinned: number): unknown => ({ pinned: { mean: pinned }, free: { mean: 10_000 } })
    expect(reached({ pinned: { facts: facts(8_000) } })).toEqual(['yes'])
    expect(reached({ pinned: { facts: facts(7_999) } })).toEqual(['no'])
  })

  it('are left open, not reached, when nobody was there to compare with', () => {
    expect(of({ drain: { facts: { escapement: rate(1) } } })).toMatchObject({ measured: '–', reached: '–' })
    expect(goalsOf({})).toEqual([])
  })
})

describe('the mixed load', () => {
  const jobs = mixedLoad({ flood: 1_000, seconds: 1 })

  it('numbers its jobs, places them in their sessions without gaps, and lets some fail', () => {
    expect(jobs.map(({ n }) => n)).toEqual(jobs.map((_, i) => i))
    const places = new Map<string, number>()
    for (const { session, place } of jobs) {
      expect(place).toBe(places.get(session) ?? 0)
      places.set(session, place + 1)
    }
    const count = (role: string): number => jobs.filter((job) => job.role === role).length
    expect([count('flood'), count('steady'), count('small')]).toEqual([1_000, 300, 50])
    expect(jobs.filter(({ fails }) => fails).length).toBe(27)
  })

  it('floods in layers in which no session occurs twice', () => {
    const flood = jobs.filter(({ role }) => role === 'flood')
    const layers = layersOf(flood)
    for (const layer of layers) expect(new Set(layer.map(({ session }) => session)).size).toBe(layer.length)
    expect(layers.flat().length).toBe(flood.length)
  })
})

describe('the part mixed', () => {
  const fake = (behavior: string): string => `
    export const prepare = async () => undefined
    export const observe = async () => ({
      left: async () => globalThis.left ?? 1, counts: async () => ({ completed: globalThis.done ?? 0 }), close: async () => undefined,
    })
    export const open = async (_url, { handle }) => {
      const run = (job) => handle(job.n).then(() => { globalThis.done = (globalThis.done ?? 0) + 1 }, () => run(job))
      const submit = async (job) => { ${behavior} }
      return {
        submit, submitMany: (jobs) => Promise.all(jobs.map(submit)),
        start: async () => undefined, close: () => new Promise(() => undefined),
      }
    }`

  /** In a process of its own, as in the benchmark: a peer may leave anything behind. */
  const measured = async (behavior: string): Promise<Record<string, unknown>> => {
    const folder = mkdtempSync(path.join(tmpdir(), 'escapement-mixed-'))
    try {
      const file = path.join(folder, 'fake.mjs')
      writeFileSync(file, fake(behavior))
      const measurement = pathToFileURL(path.join(ROOT, 'bench/engine/measurements/mixed.mjs')).href
      const options = { contestant: { file }, url: '', flood: 20, seconds: 0.1, longestMs: 1_500, closingMs: 10 }
      const program = `const { mixed } = await import(${JSON.stringify(measurement)})
        const { waits, ...result } = await mixed(${JSON.stringify(options)})
        console.log(JSON.stringify({ ...result, waits: Object.values(waits).map(({ length }) => length) }))
        process.exit(0)`
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
      return JSON.parse(stdout) as Record<string, unknown>
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it.each([
    ['never ends a job', 'if (job.n !== 3) void run(job)', 54],
    ['never accepts a job', 'if (job.n === 3) return new Promise(() => undefined); void run(job)', 54],
    ['refuses a job', `if (job.n === 3) throw new Error('full'); void run(job)`, 54],
  ])('counts a peer that %s as what it finished', async (_, behavior, finished) => {
    const result = await measured(behavior)
    expect(result).toMatchObject({ submitted: 55, finished, allSeconds: null })
    expect(result['perSecond']).toBeGreaterThan(0)
    expect((result['waits'] as readonly number[]).reduce((sum, count) => sum + count)).toBe(55)
  })

  it('holds Escapement to everything, and a peer to what it finished or to nothing if it failed', async () => {
    const result = { submitted: 5, finished: 4, counts: { completed: 3 } }
    const peer = { name: 'pg-boss', rival: true }
    expect(await resultOf(peer, () => Promise.resolve(result))).toMatchObject({ finished: 3 })
    const failed = () => Promise.reject(new Error('ended with SIGSEGV'))
    expect(await resultOf(peer, failed)).toMatchObject({ finished: 0, perSecond: 0, failure: 'ended with SIGSEGV' })
    const own = { name: 'escapement', rival: false }
    await expect(resultOf(own, () => Promise.resolve(result))).rejects.toThrow('5 were submitted')
    await expect(resultOf(own, failed)).rejects.toThrow('SIGSEGV')
  })
})

describe('a run of the benchmark', () => {
  it('fails when a store does not hold what was submitted', () => {
    expect(() => demand('pg-boss', 'completed', { is: 49_999, expected: 50_000 })).toThrow(
      'pg-boss: completed: 49999 in its store, and 50000 were submitted',
    )
    expect(() => demand('pg-boss', 'completed', { is: 5, expected: 5 })).not.toThrow()
  })

  it('is kept under its own name unless it is whole', () => {
    const run = { kind: 'comparison', parts: ['drain', 'idle'] }
    expect(fileNameOf({ ...run, whole: true, quick: false })).toBe('comparison.json')
    expect(fileNameOf({ ...run, whole: true, quick: true })).toBe('comparison-quick.json')
    expect(fileNameOf({ ...run, whole: false, quick: false })).toBe('drain+idle.json')
  })

  it('has parts that say how long they take, together not more than promised', () => {
    const together = { full: 0, quick: 0 }
    for (const [name, file] of Object.entries(PART_FILES)) {
      // Read, not loaded: some of them load half of the program.
      const text = readFileSync(path.join(ROOT, 'bench/engine', file), 'utf8')
      const [, full, quick] = /^export const minutes = \{ full: ([\d.]+), quick: ([\d.]+) \}$/m.exec(text) ?? []
      const exported = ['title', 'measure'].filter((word) => new RegExp(`^export .*\\b${word}\\b`, 'm').test(text))
      expect([name, exported, Number(full) > 0, Number(quick) > 0]).toEqual([name, ['title', 'measure'], true, true])
      together.full += Number(full)
      together.quick += Number(quick)
    }
    expect(together.full).toBeLessThanOrEqual(60)
    expect(together.quick).toBeLessThanOrEqual(10)
  })

  it('knows every contestant once', () => {
    const all = CONTESTANTS.map(({ name }) => name)
    expect(new Set(all).size).toBe(all.length)
    expect(DURABLE_PEERS.every((name) => all.includes(name))).toBe(true)
  })
})
