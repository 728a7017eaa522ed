import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../instant.ts'
import { everyUnit } from '../../time/words.ts'
import type { Cadence } from './settings.ts'
import { paceInterval, type Pace, type PacedTiming } from './pace.ts'

/** A duration in its largest whole unit. Days are not used, because a day can have 23 or 25 hours. */
function lengthText(ms: number): string {
  const [size, unit] = unitOf(ms)
  return `${size} ${unit}${size === 1 ? '' : 's'}`
}

/** "every 40 minutes" */
export function everyText(ms: number): string {
  const [size, unit] = unitOf(ms)
  return everyUnit(size, unit)
}

function unitOf(ms: number): readonly [number, string] {
  if (ms % HOUR_MS === 0) return [ms / HOUR_MS, 'hour']
  if (ms % MINUTE_MS === 0) return [ms / MINUTE_MS, 'minute']
  return ms % SECOND_MS === 0 ? [ms / SECOND_MS, 'second'] : [ms, 'millisecond']
}

/** "between 5 minutes and 6 hours" */
export const boundsText = ({ minSeconds, maxSeconds }: Cadence): string =>
  `between ${lengthText(minSeconds * SECOND_MS)} and ${lengthText(maxSeconds * SECOND_MS)}`

/** "Between 5 minutes and 6 hours, now every 40 minutes after 3 quiet runs" */
export function paceSentence(timing: PacedTiming, pace: Pace): string {
  const bounds = boundsText(timing.cadence)
  const every = everyText(paceInterval(timing, pace.level))
  const text = `${bounds}, now ${every}${afterText(pace)}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function afterText({ quiet, changed, why }: Pace): string {
  const streak = quiet > 0 ? runs(quiet, 'quiet run') : changed > 0 ? runs(changed, 'run that found something') : ''
  if (why.reason !== 'pace_proposed') return streak === '' ? '' : ` after ${streak}`
  return `; the agent chose the next time`
}

const runs = (count: number, words: string): string => {
  if (count === 1) return `1 ${words}`
  return words === 'quiet run' ? `${count} quiet runs` : `${count} runs in a row that found something`
}
