import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ROOT } from './root.ts'

// What the benchmark computes of Escapement alone, and of two checkouts, without measuring anything.

const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(path.join(ROOT, 'bench/engine', file)).href)) as T

interface Interval {
  readonly middle: number
  readonly low: number
  readonly high: number
  readonly confidence: number
}

interface NodeRecord {
  readonly began: number
  readonly first: number | null
  readonly last: number | null
  readonly buckets: Readonly<Record<number, number>>
  readonly pauses: readonly { readonly from: number; readonly to: number }[]
}

type Figures = Readonly<Record<string, number>>

const { rowsOf: pairRows } = await load<{
  readonly rowsOf: (pairs: readonly { readonly before: Figures; readonly after: Figures }[]) => readonly unknown[]
}>('pairs.mjs')
const { factsOf: joiningFacts } = await load<{
  readonly factsOf: (first: NodeRecord, second: NodeRecord) => unknown
}>('parts/joining/throughput.mjs')
const { factsOf: retentionFacts } = await load<{ readonly factsOf: (phases: unknown) => unknown }>(
  'parts/retention.mjs',
)
interface Goal {
  readonly measured: string
  readonly reached: string
}

const { medianInterval } = await load<{ readonly medianInterval: (values: readonly number[]) => Interval }>(
  'statistics.mjs',
)
const { goalsOf } = await load<{ readonly goalsOf: (parts: unknown) => readonly Goal[] }>('goals.mjs')

describe('the interval of a median', () => {
  it('leaves out as many values at both ends as 95 % confidence allows', () => {
    const nine = [9, 1, 8, 2, 7, 3, 6, 4, 5]
    expect(medianInterval(nine)).toMatchObject({ middle: 5, low: 2, high: 8 })
    expect(medianInterval(nine).confidence).toBeCloseTo(0.961, 3)
    // Tables of the sign test: ranks 1 and 6 of six, 6 and 15 of twenty.
    expect(medianInterval(nine.slice(0, 6))).toMatchObject({ low: 1, high: 9 })
    const twenty = Array.from({ length: 20 }, (_, i) => i + 1)
    expect(medianInterval(twenty)).toMatchObject({ middle: 10.5, low: 6, high: 15 })
  })

  it('says that few values cannot reach it', () => {
    expect(medianInterval([2, 1])).toEqual({ middle: 1.5, low: 1, high: 2, confidence: 0.5 })
    expect(medianInterval([3])).toEqual({ middle: 3, low: 3, high: 3, confidence: 0 })
  })
})

describe('pairs of two checkouts', () => {
  const pairsOf = (name: string, before: number, after: readonly number[]): readonly unknown[] =>
    pairRows(after.map((value) => ({ before: { [name]: before }, after: { [name]: value } })))

  it('pass when the interval of the ratio includes or exceeds 0.95', () => {
    const slower = [70, 80, 80, 80, 80, 80, 80]
    expect(pairsOf('drain', 100, [...slower, 96, 97])).toMatchObject([{ ratio: 0.8, verdict: 'PASS', ok: true }])
    expect(pairsOf('drain', 100, [...slower, 94, 97])).toMatchObject([{ ratio: 0.8, verdict: 'FAIL', ok: false }])
  })

  it('are turned so that more than 1 is better', () => {
    expect(pairsOf('latency p50, idle', 2, [1, 1, 1, 1, 1, 1])).toMatchObject([{ ratio: 2, verdict: 'PASS' }])
    expect(pairsOf('latency p50, idle', 1, [2, 2, 2, 2, 2, 2])).toMatchObject([{ ratio: 0.5, verdict: 'FAIL' }])
  })

  it('show the processor time of a drain without a verdict', () => {
    const [row] = pairsOf('drain, processor µs', 10, [20])
    expect(row).toMatchObject({ ratio: 0.5, verdict: '–' })
    expect(row).not.toHaveProperty('ok')
  })
})

describe('a node that joined a drain', () => {
  const first = {
    ...{ began: 0, first: 0, last: 4_000 },
    buckets: { 0: 100, 1: 100, 2: 100, 3: 100, 6: 50, 7: 50, 8: 50, 9: 50, 10: 50, 11: 50, 12: 50 },
    pauses: [
      { from: 100, to: 900 },
      { from: 1_000, to: 1_500 },
    ],
  }

  it('is seen in the throughput of the first, before, while and after it came', () => {
    const second = { began: 1_000, first: 1_500, last: 4_000, buckets: {}, pauses: [] }
    expect(joiningFacts(first, second)).toMatchObject({
      ...{ joinMs: 500, before: 400, during: 200, lowest: 0, after: 200 },
      // Two steps while it came, and the three at the end in which nothing was left.
      ...{ dipMs: 1_250, longestPauseMs: 500 },
    })
  })

  it('was joining until the end when it came too late', () => {
    const second = { began: 1_000, first: null, last: null, buckets: {}, pauses: [] }
    expect(joiningFacts(first, second)).toMatchObject({ joinMs: null, before: 400, after: null, longestPauseMs: 500 })
  })
})

describe('retention beside submission', () => {
  const sample = (at: number, submitted: number, removed: number): unknown => ({ at, submitted, removed, mib: 1 })
  const kept = { rows: 100, mibBefore: 1, samples: [sample(1, 10, 0), sample(2, 110, 0)] }

  it('is measured from the first removal until the backlog is gone', () => {
    const samples = [sample(1, 100, 400), sample(2, 190, 1_000), sample(3, 290, 1_100)]
    const late = [sample(29, 2_900, -3), sample(30, 3_000, 0), sample(32, 3_200, 1_000), sample(33, 3_300, 1_100)]
    expect(retentionFacts({ kept, removed: { rows: 90, mibBefore: 1, samples: late }, backlog: 1_000 })).toMatchObject({
      ...{ begunSeconds: 30, caughtUpSeconds: 32, removedPerSecond: 500, submittedPerSecond: 100 },
    })
    expect(retentionFacts({ kept, removed: { rows: 90, mibBefore: 1, samples }, backlog: 1_000 })).toMatchObject({
      ...{ caughtUpSeconds: 2, removedPerSecond: 500, submittedPerSecond: 95 },
      ...{ keptPerSecond: 100, besidePerSecond: 95, rowsBefore: 1_000, rowsAfter: 90 },
    })
  })

  it('is measured until the end when it never is', () => {
    const removed = { rows: 1_100, mibBefore: 1, samples: [sample(1, 100, 50), sample(2, 200, 100)] }
    expect(retentionFacts({ kept, removed, backlog: 1_000 })).toMatchObject({
      ...{ caughtUpSeconds: null, removedPerSecond: 50, submittedPerSecond: 100 },
    })
  })
})

describe('goals of Escapement alone', () => {
  const reached = (parts: unknown): readonly string[] => goalsOf(parts).map((goal) => goal.reached)

  it('ask that simultaneous orgs do not wait for each other', () => {
    const facts = { 2: { late: 0 }, 10: { late: 1 } }
    expect(reached({ 'orgs-at-once': { facts } })).toEqual(['yes', 'no'])
  })

  it('ask for a first start among idle orgs, and say how long was waited for it', () => {
    const facts = { 5_000: { claimMs: 2_000, nodeCpuPercent: 2 }, 20_000: { claimMs: null, nodeCpuPercent: 40 } }
    expect(reached({ 'idle-orgs': { facts } })).toEqual(['yes', 'yes', 'no', 'no'])
    expect(goalsOf({ 'idle-orgs': { facts } })[2]).toMatchObject({ measured: 'not within 60 s' })
  })

  it('ask of a backlog that has expired for time, a free event loop, other orgs on time, and no start', () => {
    const facts = {
      ...{ count: 300_000, timeoutMs: 180_000, allMs: 60_000, loopMaxMs: 50, othersP99: 249, started: 0, otherwise: 0 },
    }
    expect(reached({ expiry: { facts } })).toEqual(['yes', 'yes', 'yes', 'yes'])
    const bad = { ...facts, allMs: null, loopMaxMs: 51, othersP99: 250, otherwise: 1 }
    expect(reached({ expiry: { facts: bad } })).toEqual(['no', 'no', 'no', 'no'])
  })

  it('ask of payloads, joining nodes, nodes after a kill and retention for what each has to hold', () => {
    const size = (median: number): unknown => ({ perSecond: { median } })
    const sizes = { '60 bytes': size(100), '2 KB': size(70), '20 KB': size(19) }
    expect(reached({ payloads: { facts: sizes } })).toEqual(['yes', 'no'])
    expect(reached({ joining: { facts: { longestPauseMs: 501 } } })).toEqual(['no'])
    const killed = { count: 1e6, timeoutMs: 120_000, firstMs: 500, peakRssMiB: 301 }
    expect(reached({ 'after-kill': { facts: killed } })).toEqual(['yes', 'no'])
    const rates = { removedPerSecond: 200, submittedPerSecond: 100, keptPerSecond: 100, besidePerSecond: 89 }
    expect(reached({ retention: { facts: { ...rates, rowsBefore: 100, rowsAfter: 100 } } })).toEqual([
      ...['yes', 'yes', 'no'],
    ])
  })
})
