import { describe, expect, it } from 'vitest'
import { METRICS, UNPREFIXED } from '../../../src/server/metrics/catalogue.ts'
import { createNodeMetrics, showMetrics } from '../../../src/server/metrics/metrics.ts'
import type { AgentLoad, Sources } from '../../../src/server/metrics/samples.ts'
import { parsePrometheusText } from '../../support/prometheus-text.ts'

const agent = (agentId: string, queued: number): AgentLoad => ({ orgId: 'acme', agentId, queued, inFlight: 1 })

function sourcesWith(change: Partial<Sources> = {}): Sources {
  return {
    tally: createNodeMetrics(() => 0).tally,
    version: '1.2.3',
    nodeId: () => 'nod_1',
    lanes: () => [],
    held: () => 0,
    largestOrg: () => 0,
    agents: () => [],
    providers: () => [],
    pools: () => [],
    showsUnprefixed: () => false,
    isDraining: () => false,
    isDatabaseUp: () => true,
    process: () => ({
      ...{ cpuSeconds: 1.5, residentBytes: 1, startedAtSeconds: 1, heapBytes: 1, eventLoopUtilization: 0.5 },
    }),
    counts: () => Promise.resolve(null),
    counter: () => 0,
    ...change,
  }
}

const shown = async (change?: Partial<Sources>): Promise<ReturnType<typeof parsePrometheusText>> =>
  parsePrometheusText(await showMetrics(sourcesWith(change)))

describe('the text', () => {
  it('has every metric of the catalogue with its HELP and TYPE, and no other', async () => {
    const seen = await shown()
    expect([...seen.types]).toEqual(Object.entries(METRICS).map(([name, { type }]) => [name, type]))
    expect([...seen.help]).toEqual(Object.entries(METRICS).map(([name, { help }]) => [name, help]))
  })

  it('has the names without prefix too, with the same numbers, where they are asked for', async () => {
    const { tally } = createNodeMetrics(() => 0)
    tally.timeouts = 3
    tally.failureRetries = 2
    Object.assign(tally.ended, { schedule: { failed: 4 } })
    const { series, types, value } = await shown({ tally, showsUnprefixed: () => true })
    expect([value('task_timeout_total'), value('runs_total', { status: 'failed' })]).toEqual([3, 4])
    const names = ['runs_total', 'task_overlap_skipped_total', 'task_failure_retry_total', 'task_timeout_total']
    for (const name of [...names, 'concurrency_skipped_total']) {
      expect(types.get(name)).toBe('counter')
      const of = (wanted: string) =>
        series.filter((one) => one.name === wanted).map(({ labels, value }) => [labels, value])
      expect(of(name)).toEqual(of(`escapement_${name}`))
    }
    expect(Object.keys(UNPREFIXED)).toHaveLength(5)
  })

  it('has only the labels that the catalogue names', async () => {
    const lanes = [{ name: 'main', concurrency: 3, active: 1, pending: 2, max_per_org: null, largest_org: null }]
    const pools = [{ pool: 'engine', open: 4, idle: 3, waiting: 0 }]
    const providers = [{ orgId: 'o', provider: 'p', waiting: 3, inFlight: 1, closedSeconds: 0.5 }]
    const { series } = await shown({
      ...{ lanes: () => lanes, agents: () => [agent('a', 1)], pools: () => pools, providers: () => providers },
    })
    expect(series).toContainEqual({
      ...{ name: 'escapement_provider_closed_seconds', labels: { org: 'o', provider: 'p' }, value: 0.5 },
    })
    for (const { name, labels } of series) {
      const family = name.replace(/_(bucket|sum|count)$/, '')
      const spec = (METRICS as Readonly<Record<string, { readonly labels: readonly string[] }>>)[
        name in METRICS ? name : family
      ]
      const own = Object.keys(labels).filter((label) => label !== 'le')
      expect(own, name).toEqual(spec?.labels.length === 0 ? [] : spec?.labels)
    }
  })

  it.each(['with "quotes"', 'back\\slash', 'two\nlines', '}', 'ünïcode 🎉', '', 'a,b="c"'])(
    'keeps the name %j of an agent as it is',
    async (name) => {
      const seen = await shown({ agents: () => [agent(name, 3), agent('zzz', 1)] })
      const found = seen.series.filter((one) => one.name === 'escapement_agent_queued' && one.labels['agent'] === name)
      expect(found.map(({ value }) => value)).toContain(3)
    },
  )

  it('tells the fifty busiest agents by name, all others together, and loses none', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => agent(`agent-${index}`, index))
    const seen = await shown({ agents: () => many })
    const queued = seen.series.filter(({ name }) => name === 'escapement_agent_queued')
    expect(queued).toHaveLength(51)
    expect(queued[0]).toMatchObject({ labels: { agent: 'agent-9999' }, value: 9_999 })
    expect(queued.reduce((sum, { value }) => sum + value, 0)).toBe((9_999 * 10_000) / 2)
  })

  it('leaves out what could not be counted: a gap is true and a 0 would not be', async () => {
    const seen = await shown()
    for (const name of ['escapement_schedules', 'escapement_pending_runs', 'escapement_nodes'])
      expect(seen.series.filter((one) => one.name === name)).toEqual([])
  })
})

describe('a histogram', () => {
  it('counts what is exactly at a bound below it, what is beyond all of them, and nothing below 0', async () => {
    const { tally, meter } = createNodeMetrics(() => 0)
    for (const ms of [1, 1.01, 999_999, -5]) meter.scanned(ms)
    const seen = await shown({ tally })
    const upTo = (le: string): number => seen.value('escapement_scan_duration_seconds_bucket', { le })
    expect([upTo('0.0005'), upTo('0.001'), upTo('0.0025'), upTo('10'), upTo('+Inf')]).toEqual([1, 2, 3, 3, 4])
    expect(seen.value('escapement_scan_duration_seconds_count')).toBe(4)
    expect(seen.value('escapement_scan_duration_seconds_sum')).toBeCloseTo(1_000.00101, 5)
  })
})

describe('the parser of these tests refuses', () => {
  const head = '# HELP a_total A\n# TYPE a_total counter\n'
  it.each([
    ['a line without an end', `${head}a_total 1`],
    ['a series that comes twice', `${head}a_total{x="1",y="2"} 1\na_total{y="2",x="1"} 1\n`],
    ['a label with a bare quote', `${head}a_total{x="a"b"} 1\n`],
    ['a label with an unknown escape', `${head}a_total{x="\\t"} 1\n`],
    ['no number', `${head}a_total one\n`],
    ['a metric without TYPE', '# HELP b B\nb 1\n'],
    ['a counter without _total', '# HELP b B\n# TYPE b counter\nb 1\n'],
    ['a metric in two places', `${head}# HELP b B\n# TYPE b gauge\na_total 1\n`],
    ['buckets that do not add up', '# HELP h H\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n'],
  ])('%s', (_, text) => {
    expect(() => parsePrometheusText(text)).toThrow()
  })
})
