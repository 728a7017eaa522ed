import { Registry, type Metric } from 'prom-client'
import { METRICS, UNPREFIXED, type MetricName, type MetricSpec } from './catalogue.ts'
import type { Histogram } from './histogram.ts'
import type { Sample, Samples } from './samples.ts'

/** A line as the registry writes it. */
interface Value extends Sample {
  readonly metricName?: string
}

/** What the registry asks of a metric. Its own ones count for themselves; ours are counted where things happen. */
interface Shown {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly get: () => Promise<{
    readonly name: string
    readonly help: string
    readonly type: string
    readonly values: readonly Value[]
  }>
}

const isHistogram = (samples: readonly Sample[] | Histogram): samples is Histogram => 'bounds' in samples

/** Buckets count everything up to their bound, those below them too. */
function linesOf(name: string, { bounds, counts, count, sum }: Histogram): readonly Value[] {
  let upTo = 0
  const buckets = bounds.map((bound, index): Value => {
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

function shown(name: string, spec: MetricSpec, samples: readonly Sample[] | Histogram): Shown {
  const { help, type } = spec
  const values = isHistogram(samples) ? linesOf(name, samples) : samples
  return { name, help, type, get: () => Promise.resolve({ name, help, type, values }) }
}

/** The numbers in the text format of Prometheus; those that have a name without prefix under that name too, if asked. */
export function renderMetrics(samples: Samples, showsUnprefixed: boolean): Promise<string> {
  const registry = new Registry()
  const show = (name: string, of: MetricName): void => {
    // The registry only ever asks for `get`; its type lists the classes it comes with.
    registry.registerMetric(shown(name, METRICS[of], samples[of]) as unknown as Metric)
  }
  for (const name of Object.keys(METRICS) as MetricName[]) show(name, name)
  if (showsUnprefixed) for (const [name, of] of Object.entries(UNPREFIXED)) show(name, of)
  return registry.metrics()
}
