import type { SimulateAnswer } from '../../features/simulation/schema.ts'
import { oneLine } from '../output/text.ts'
import { lengthText } from '../output/times.ts'
import type { Screen } from '../remote/talk.ts'
import { clockOf } from './words.ts'

const MOST_NAMED = 5

/** What was simulated, over which window, and on what it is based. */
export function headText(answer: SimulateAnswer, { style }: Screen): string {
  const { schedules, from, to, outages, basis } = answer
  const clock = clockOf(answer)
  const named = schedules.slice(0, MOST_NAMED).map(({ name, sentence }) => `${style.bold(oneLine(name))}: ${sentence}`)
  const more = schedules.length > MOST_NAMED ? [`and ${schedules.length - MOST_NAMED} more schedules`] : []
  const length = lengthText(Date.parse(to) - Date.parse(from))
  const out = outages.map(
    (one) =>
      `${WORDS[one.kind]}${one.agent_id === undefined ? '' : ` ${one.agent_id}`} ${clock(one.from)} to ${clock(one.to)}`,
  )
  const observed = basis.filter(({ observed_runs: runs }) => runs > 0).length
  const recorded = basis.reduce((sum, one) => sum + one.recorded_attempts, 0)
  const notes = schedules.flatMap(({ dst_notes: all }) => all.filter(({ effect }) => effect !== 'none'))
  return [
    ...named,
    ...more,
    `${from.replace('T', ' ').replace(/(?:\.000)?Z$/, '')} UTC, for ${length}`,
    ...out,
    ...(observed === 0 ? [] : [`as the last runs on record went, of ${observed} of ${schedules.length} schedules`]),
    ...(recorded === 0 ? [] : [`with ${recorded} attempts as they are on record`]),
    ...[...new Set(notes.map(({ sentence }) => sentence))],
    '',
  ].join('\n')
}

const WORDS = {
  engine: 'no node works',
  stall: 'nothing fires',
  agent: 'agents are out',
} as const
