import type { SimulateAnswer } from '../../features/simulation/schema.ts'
import type { SimulatedRunView, SimulationTotals } from '../../features/simulation/result-schema.ts'
import { lengthText } from '../output/times.ts'

const DAY_MS = 86_400_000

/** How moments of a window are written: with the day only where there is more than one. */
export function clockOf({ from, to }: Pick<SimulateAnswer, 'from' | 'to'>): (at: string | null) => string {
  const isLong = Date.parse(to) - Date.parse(from) > DAY_MS
  const isFine = !/:00\.000Z$/.test(from) || Date.parse(to) - Date.parse(from) < DAY_MS
  return (at) => {
    if (at === null) return '-'
    const millis = at.slice(19, 23) === '.000' ? '' : at.slice(19, 23)
    const time = isFine || millis !== '' ? `${at.slice(11, 19)}${millis}` : at.slice(11, 19)
    return isLong ? `${at.slice(0, 10)} ${time}` : time
  }
}

/** When a run first began, and when it ended; its attempts in between are those of its retries. */
export const beganAt = ({ attempts, started_at: started }: SimulatedRunView): string | null =>
  attempts[0]?.started_at ?? started

/** `1`, or `1-4` of a run that was repeated. */
export const attemptText = ({ first_attempt: first, attempt, attempts }: SimulatedRunView): string =>
  attempts.length === 0 ? '-' : first === attempt ? String(attempt) : `${first}-${attempt}`

/** How late, where that says something. */
export const latenessText = (ms: number | null): string => (ms === null ? '-' : ms === 0 ? '0' : lengthText(ms))

/** `11 cancelled, 1 running`, most of them first. */
export function countsText(counts: Readonly<Partial<Record<string, number>>>, without: readonly string[] = []): string {
  return Object.entries(counts)
    .filter(([word, count]) => !without.includes(word) && (count ?? 0) > 0)
    .sort(([, a], [, b]) => (b ?? 0) - (a ?? 0))
    .map(([word, count]) => `${count ?? 0} ${word}`)
    .join(', ')
}

/** Money to four places at most, without zeros that say nothing. */
export const moneyText = (cost: number): string => String(Math.round(cost * 10_000) / 10_000)

/** What a window came to, as names with values. */
export function totalFacts(totals: SimulationTotals): readonly (readonly [name: string, value: string | null])[] {
  const skips = countsText(totals.skipped_by_reason)
  const skipped = totals.by_status.skipped ?? 0
  const { lateness_p50_ms: p50, lateness_p99_ms: p99, lateness_max_ms: most } = totals
  return [
    ['occurrences', String(totals.occurrences)],
    ['runs', `${totals.runs}${ending(countsText(totals.by_status, ['skipped']))}`],
    ['skipped', skipped === 0 ? '0' : `${skipped}${ending(skips)}`],
    ['superseded', totals.superseded === 0 ? null : String(totals.superseded)],
    [
      'attempts',
      `${totals.attempts}, at work for ${lengthText(totals.busy_ms)}, at most ${totals.max_running} at a time`,
    ],
    ['waiting', `at most ${totals.max_waiting} at a time`],
    [
      'lateness',
      p50 === null ? null : `p50 ${latenessText(p50)}, p99 ${latenessText(p99)}, at most ${latenessText(most)}`,
    ],
    ['tokens', totals.tokens === 0 ? null : String(totals.tokens)],
    ['cost', totals.cost === 0 ? null : moneyText(totals.cost)],
  ]
}

const ending = (text: string): string => (text === '' ? '' : `: ${text}`)
