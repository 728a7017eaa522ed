import { type Metric, Registry } from 'prom-client'
import type { Meter } from '../../engine/meter.ts'
import { type MetricName, METRICS, type MetricSpec, UNPREFIXED } from '../../metrics/catalogue.ts'
import { collect, type Sample, type Samples, type Sources } from './samples.ts'
import { add, countTurn, createTally, type Histogram, observe, type Tally } from './tally.ts'

/** Counts what a node does. */
export interface Counting {
  readonly tally: Tally
  readonly meter: Meter
  /** Somebody was refused. */
  readonly refused: (code: string) => void
}

export function createCounting(counter: () => number): Counting {
  const tally = createTally()
  return {
    tally,
    meter: {
      turn: (kept) => {
        countTurn(tally, kept)
      },
      scanned: (ms) => {
        observe(tally.scans, ms)
        tally.scannedAt = counter()
      },
      delivered: (outcome) => {
        add(tally.deliveries, outcome)
      },
    },
    refused: (code) => {
      add(tally.refusals, code)
    },
  }
}

/** Everything there is to see, as text. */
export const showMetrics = async (sources: Sources): Promise<string> =>
  renderMetrics(await collect(sources), sources.showsUnprefixed())

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
function renderMetrics(samples: Samples, showsUnprefixed: boolean): Promise<string> {
  const registry = new Registry()
  const show = (name: string, of: MetricName): void => {
    // The registry only ever asks for `get`; its type lists the classes it comes with.
    registry.registerMetric(shown(name, METRICS[of], samples[of]) as unknown as Metric)
  }
  for (const name of Object.keys(METRICS) as MetricName[]) show(name, name)
  if (showsUnprefixed) for (const [name, of] of Object.entries(UNPREFIXED)) show(name, of)
  return registry.metrics()
}
