import { boundsText, everyText } from '../cadence/sentence.ts'
import { cronSentence } from './cron-sentence.ts'
import { ruleSentence } from './rule-sentence.ts'
import type { Exclusion } from './exclusion.ts'
import type { Timing } from './timing.ts'
import { formatInZone } from './wall-clock.ts'

/** A timing in one English sentence without a full stop: "At 09:00, Monday through Friday (Europe/Berlin)". */
export function sentenceFor(timing: Timing): string {
  const limits = limitClauses(timing)
  const zone = timing.kind === 'every' && limits.length === 0 ? '' : ` (${timing.zone.name})`
  const text = [planText(timing), ...limits].join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1) + zone
}

function planText(timing: Timing): string {
  switch (timing.kind) {
    case 'at':
      return `once, on ${formatInZone(timing.zone, timing.at).replace(' ', ' at ')}`
    case 'every':
      return timing.cadence === undefined
        ? everyText(timing.intervalMs)
        : `${everyText(timing.intervalMs)}, ${boundsText(timing.cadence)} by what it finds`
    case 'cron':
      return cronSentence(timing.expression, timing.dayMatch === 'and')
    case 'rrule':
      return ruleSentence(timing.rule)
  }
}

function limitClauses(timing: Timing): readonly string[] {
  return [
    ...(timing.startsAt === null ? [] : [`starting ${formatInZone(timing.zone, timing.startsAt)}`]),
    ...(timing.endsAt === null ? [] : [`ending ${formatInZone(timing.zone, timing.endsAt)}`]),
    ...(timing.exclude === null ? [] : exclusionClause(timing.exclude)),
  ]
}

function exclusionClause({ dates, windows }: Exclusion): readonly string[] {
  const count = (size: number, word: string): readonly string[] =>
    size === 0 ? [] : [`${size} ${word}${size === 1 ? '' : 's'}`]
  const left = [...count(dates.length, 'date'), ...count(windows.length, 'window')]
  return left.length === 0 ? [] : [`except ${left.join(' and ')}`]
}
