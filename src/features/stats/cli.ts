import type { Command } from 'commander'
import {
  statsFilter,
  timelineFilter,
  type ProviderWork,
  type SeriesFilter,
  type SeriesPoint,
  type SeriesStep,
  type Spread,
  type StatsView,
  type TimelineRow,
} from './schema.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { paintState } from '../../cli/output/style.ts'
import { durationText } from '../../cli/output/times.ts'
import { namesOf, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { filtersOf } from '../../cli/remote/schema-options.ts'
import { printJson, showList, showOne, type Facts } from '../../cli/remote/show.ts'
import { commandOf, remote, type CliContext, type CliCall } from '../../cli/remote/call.ts'
import { addList } from '../../cli/resource.ts'

const FILTER = filtersOf(statsFilter)
const TIMELINE_FILTER = filtersOf(timelineFilter)

/** `escapement stats`: run outcomes and queues. */
export function addStats(command: Command, cli: CliContext): void {
  withFields(command, FILTER).option('--series <step>', 'show a time series instead: hour or day')
  remote<{ readonly series?: SeriesStep }>(cli, command, {
    names: { ...namesOf(FILTER), step: '--series' },
    work: async (call, _, options) => {
      const filter = valuesOf(FILTER, options, call.now)
      if (options.series !== undefined) return showSeries(call, { ...filter, step: options.series })
      const stats = await call.client.stats.get(filter)
      await showOne(call, stats, () => statsFactsOf(call, stats))
    },
  })
  addList<TimelineRow>(cli, commandOf(command, 'timeline', 'show runs and planned occurrences over time'), {
    filter: TIMELINE_FILTER,
    read: (call, filter) => call.client.stats.timeline(filter),
    none: 'No runs and nothing planned in this range.',
    columns: () => [
      { title: 'NAME', value: ({ name, id, kind }) => name ?? id ?? kind, flexible: true },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'RUNS', value: ({ by_status: counts }) => String(sum(Object.values(counts))), right: true },
      { title: 'FAILED', value: ({ by_status: { failed = 0, timeout = 0 } }) => String(failed + timeout), right: true },
      { title: 'PLANNED', value: ({ buckets }) => String(sum(buckets.map(({ planned }) => planned))), right: true },
      { title: 'HELD UNTIL', value: ({ held }) => (held === null ? '-' : (held.until ?? 'resumed')) },
    ],
  })
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

async function showSeries(call: CliCall, filter: SeriesFilter): Promise<void> {
  const series = await call.client.stats.series(filter)
  if (call.json) return printJson(call, series)
  const lengthOf = (ms: number | null): string => (ms === null ? '-' : durationText(ms))
  const countTexts = ({ by_status: counts }: SeriesPoint, state: RunState): string => String(counts[state] ?? 0)
  const page = { items: series.points, next_cursor: null }
  await showList(call, page, {
    none: 'No data.',
    columns: [
      { title: 'FROM', value: ({ at }) => at },
      { title: 'SUCCESS', value: (point) => countTexts(point, 'success'), right: true },
      { title: 'FAILED', value: (point) => countTexts(point, 'failed'), right: true },
      { title: 'TIMEOUT', value: (point) => countTexts(point, 'timeout'), right: true },
      { title: 'CANCELLED', value: (point) => countTexts(point, 'cancelled'), right: true },
      { title: 'SKIPPED', value: (point) => countTexts(point, 'skipped'), right: true },
      { title: 'P95', value: (point) => lengthOf(point.duration_p95_ms), right: true },
      { title: 'LATE P99', value: (point) => lengthOf(point.lateness_p99_ms), right: true },
      { title: 'TOKENS', value: ({ tokens }) => String(tokens), right: true },
      { title: 'COST', value: ({ cost }) => String(cost), right: true },
    ],
  })
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

const spreadText = (spread: Spread | null): string | null =>
  spread === null
    ? null
    : `p50 ${durationText(spread.p50)}, p95 ${durationText(spread.p95)}, max ${durationText(spread.max)}`

const remainingText = (count: number | null, unit: string): string => (count === null ? '' : `, ${count} ${unit} left`)

const providerText = (one: ProviderWork): string =>
  `${one.provider}: ${one.in_flight} in flight, ${one.waiting} waiting${remainingText(one.requests_left, 'requests')}` +
  `${remainingText(one.tokens_left, 'tokens')}${one.closed_until === null ? '' : `, closed until ${one.closed_until}`}`

function statsFactsOf({ style }: CliCall, stats: StatsView): Facts {
  const { from, to, runs, pending, schedules, agents, providers, lanes } = stats
  const countTexts = Object.entries(runs.by_status).map(([state, count]) => `${count} ${paintState(style, state)}`)
  const { share } = runs
  const shares =
    share === null
      ? null
      : `${percent(share.success)} success, ${percent(share.failed)} failed, ${percent(share.timeout)} timeout`
  return [
    ['window', `${from} to ${to}`],
    ['ended', `${runs.ended} runs${countTexts.length === 0 ? '' : `: ${countTexts.join(', ')}`}`],
    ['rates', shares],
    ['duration', spreadText(runs.duration_ms)],
    ['lateness', spreadText(runs.lateness_ms)],
    ['pending', `${pending.active} active, ${pending.queued} queued, ${pending.waiting} waiting`],
    [
      'schedules',
      Object.entries(schedules)
        .map(([state, count]) => `${count} ${state}`)
        .join(', ') || 'none',
    ],
    [
      'agents',
      agents.length === 0
        ? null
        : agents.map((one) => `${one.agent_id}: ${one.active} active, ${one.queued} queued`).join('\n'),
    ],
    ['providers', providers.length === 0 ? null : providers.map(providerText).join('\n')],
    ['lanes', lanes.map(({ name, active, concurrency }) => `${name} ${active}/${concurrency}`).join('  ')],
  ]
}
