import type { Command } from 'commander'
import type { Spread, StatsView } from '../../contract/stats.ts'
import { paintState } from '../output/style.ts'
import { lengthText } from '../output/times.ts'
import { namesOf, pastMoment, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { showOne, type Facts } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { commandOf } from './group.ts'

const FILTER: readonly FieldOption[] = [
  { flags: '--from <time>', field: 'from', read: pastMoment, about: 'since a time, or so long ago (default 24h)' },
  { flags: '--to <time>', field: 'to', read: pastMoment, about: 'before a time, or so long ago (default now)' },
]

/** `escapement stats`: how work went, and what waits. */
export function addStats(program: Command, desk: Desk): void {
  remote(desk, withFields(commandOf(program, 'stats', 'show how work went, and what waits'), FILTER), {
    names: namesOf(FILTER),
    work: async (talk, _, options) => {
      const stats = await talk.client.stats.get(valuesOf(FILTER, options, talk.terminal.now()))
      await showOne(talk, stats, () => factsOf(talk, stats))
    },
  })
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

const spreadText = (spread: Spread | null): string | null =>
  spread === null
    ? null
    : `half within ${lengthText(spread.p50)}, 95 % within ${lengthText(spread.p95)}, longest ${lengthText(spread.max)}`

function factsOf({ style }: Talk, { from, to, runs, pending, schedules, agents, lanes }: StatsView): Facts {
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
    ['lanes', lanes.map(({ name, active, concurrency }) => `${name} ${active}/${concurrency}`).join('  ')],
  ]
}
