import type { Command } from 'commander'
import {
  statsFilter,
  type ProviderWork,
  type SeriesFilter,
  type SeriesPoint,
  type SeriesStep,
  type Spread,
  type StatsView,
} from '../../features/stats/schema.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { paintState } from '../output/style.ts'
import { lengthText } from '../output/times.ts'
import { namesOf, valuesOf, withFields } from '../remote/fields.ts'
import { filtersOf } from '../remote/schema-options.ts'
import { printJson, showList, showOne, type Facts } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'

const FILTER = filtersOf(statsFilter)

/** `escapement stats`: how work went, and what waits. */
export function addStats(command: Command, desk: Desk): void {
  withFields(command, FILTER).option('--series <step>', 'show a series instead, by hour or day')
  remote<{ readonly series?: SeriesStep }>(desk, command, {
    names: { ...namesOf(FILTER), step: '--series' },
    work: async (talk, _, options) => {
      const filter = valuesOf(FILTER, options, talk.now)
      if (options.series !== undefined) return showSeries(talk, { ...filter, step: options.series })
      const stats = await talk.client.stats.get(filter)
      await showOne(talk, stats, () => factsOf(talk, stats))
    },
  })
}

async function showSeries(talk: Talk, filter: SeriesFilter): Promise<void> {
  const series = await talk.client.stats.series(filter)
  if (talk.json) return printJson(talk, series)
  const lengthOf = (ms: number | null): string => (ms === null ? '-' : lengthText(ms))
  const counted = ({ by_status: counts }: SeriesPoint, state: RunState): string => String(counts[state] ?? 0)
  const page = { items: series.points, next_cursor: null }
  await showList(talk, page, {
    none: 'Nothing.',
    columns: [
      { title: 'FROM', of: ({ at }) => at },
      { title: 'SUCCESS', of: (point) => counted(point, 'success'), right: true },
      { title: 'FAILED', of: (point) => counted(point, 'failed'), right: true },
      { title: 'TIMEOUT', of: (point) => counted(point, 'timeout'), right: true },
      { title: 'CANCELLED', of: (point) => counted(point, 'cancelled'), right: true },
      { title: 'SKIPPED', of: (point) => counted(point, 'skipped'), right: true },
      { title: 'P95', of: (point) => lengthOf(point.duration_p95_ms), right: true },
      { title: 'LATE P99', of: (point) => lengthOf(point.lateness_p99_ms), right: true },
      { title: 'TOKENS', of: ({ tokens }) => String(tokens), right: true },
      { title: 'COST', of: ({ cost }) => String(cost), right: true },
    ],
  })
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

const spreadText = (spread: Spread | null): string | null =>
  spread === null
    ? null
    : `half within ${lengthText(spread.p50)}, 95 % within ${lengthText(spread.p95)}, longest ${lengthText(spread.max)}`

const left = (count: number | null, unit: string): string => (count === null ? '' : `, ${count} ${unit} left`)

const providerText = (one: ProviderWork): string =>
  `${one.provider}: ${one.in_flight} in flight, ${one.waiting} waiting${left(one.requests_left, 'requests')}` +
  `${left(one.tokens_left, 'tokens')}${one.closed_until === null ? '' : `, closed until ${one.closed_until}`}`

function factsOf({ style }: Talk, stats: StatsView): Facts {
  const { from, to, runs, pending, schedules, agents, providers, lanes } = stats
  const counted = Object.entries(runs.by_status).map(([state, count]) => `${count} ${paintState(style, state)}`)
  const { share } = runs
  const shares =
    share === null
      ? null
      : `${percent(share.success)} success, ${percent(share.failed)} failed, ${percent(share.timeout)} timeout`
  return [
    ['time', `${from} to ${to}`],
    ['ended', `${runs.ended} runs${counted.length === 0 ? '' : `: ${counted.join(', ')}`}`],
    ['shares', shares],
    ['took', spreadText(runs.duration_ms)],
    ['late', spreadText(runs.lateness_ms)],
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
