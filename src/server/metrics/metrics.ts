import { type Metric, Registry } from 'prom-client'
import type { Meter } from '../../engine/tracing-port.ts'
import { type MetricName, METRICS, type MetricSpec, UNPREFIXED } from './catalogue.ts'
import { collect, type Sample, type Samples, type Sources } from './samples.ts'
import { increment, countTransaction, createTally, type Histogram, observe, type Tally } from './tally.ts'

/** The counters of a node. */
export interface NodeMetrics {
  readonly tally: Tally
  readonly meter: Meter
  /** Counts a rejected request. */
  readonly countRefusal: (code: string) => void
}

export function createNodeMetrics(counter: () => number): NodeMetrics {
  const tally = createTally()
  return {
    tally,
    meter: {
      transaction: (transaction) => {
        countTransaction(tally, transaction)
      },
      scanned: (ms) => {
        observe(tally.scans, ms)
        tally.scannedAt = counter()
      },
      delivered: (outcome) => {
        increment(tally.deliveries, outcome)
      },
    },
    countRefusal: (code) => {
      increment(tally.refusals, code)
    },
  }
}

/** All metrics as text. */
export const showMetrics = async (sources: Sources): Promise<string> =>
  renderMetrics(await collect(sources), sources.showsUnprefixed())

/** A sample line of the registry. */
interface RegistrySample extends Sample {
  readonly metricName?: string
}

/**
 * The interface that the registry needs of a metric. The metrics are counted elsewhere, not by the classes of
 * prom-client.
 */
interface RegistryMetric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly get: () => Promise<{
    readonly name: string
    readonly help: string
    readonly type: string
    readonly values: readonly RegistrySample[]
  }>
}

const isHistogram = (samples: readonly Sample[] | Histogram): samples is Histogram => 'bounds' in samples

/** Buckets are cumulative. */
function linesOf(name: string, { bounds, counts, count, sum }: Histogram): readonly RegistrySample[] {
  let upTo = 0
  const buckets = bounds.map((bound, index): RegistrySample => {
    upTo += counts[index] ?? 0
    return { metricName: `${name}_bucket`, labels: { le: String(bound) }, value: upTo }
  })
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ]
}

function registryMetric(name: string, spec: MetricSpec, samples: readonly Sample[] | Histogram): RegistryMetric {
  const { help, type } = spec
  const values = isHistogram(samples) ? linesOf(name, samples) : samples
  return { name, help, type, get: () => Promise.resolve({ name, help, type, values }) }
}

/** Renders the metrics in the Prometheus text format, optionally with the unprefixed names. */
function renderMetrics(samples: Samples, showsUnprefixed: boolean): Promise<string> {
  const registry = new Registry()
  const show = (name: string, of: MetricName): void => {
    // The registry only calls `get`; its type expects its own classes.
    registry.registerMetric(registryMetric(name, METRICS[of], samples[of]) as unknown as Metric)
  }
  for (const name of Object.keys(METRICS) as MetricName[]) show(name, name)
  if (showsUnprefixed) for (const [name, of] of Object.entries(UNPREFIXED)) show(name, of)
  return registry.metrics()
}
