import type { RunView } from '../../../src/features/runs/schema.ts'
import type { SeriesPoint } from '../../../src/features/stats/schema.ts'
import { outcomeColor, outcomeOf, type Outcome } from '../../parts/outcome/outcome.ts'
import type { useTexts } from '../../texts/TextProvider.tsx'
import { clockTime } from '../../time/zone.ts'
import { spanText } from '../../time/span.ts'
import type { Bar } from '../../parts/figures/Bars.tsx'

/** The texts and the locale of the user. */
export type Words = Pick<ReturnType<typeof useTexts>, 'say' | 'locale'>

/** How runs end that did not end well. */
export const ILL = ['failed', 'timeout', 'expired', 'rejected'] as const satisfies readonly RunView['status'][]

const HOUR_MS = 3_600_000
const ORDER = ['success', 'quiet', 'late', 'failure'] as const satisfies readonly Outcome[]

/** What all steps have together. */
export const sumOf = (points: readonly SeriesPoint[], of: (point: SeriesPoint) => number): number =>
  points.reduce((sum, point) => sum + of(point), 0)

/** How many runs ended in each step, by outcome. */
export const outcomeBars = (points: readonly SeriesPoint[], words: Words): readonly Bar[] =>
  points.map((point) => {
    const counts = { success: 0, quiet: 0, late: 0, failure: 0 }
    for (const [status, count] of Object.entries(point.by_status)) {
      const outcome = outcomeOf(status as RunView['status'])
      if (outcome !== 'active' && outcome !== 'waiting') counts[outcome] += count
    }
    const parts = ORDER.map((outcome) => ({ value: counts[outcome], color: outcomeColor(outcome) }))
    const isIdle = parts.every(({ value }) => value === 0)
    return barOf(point, { parts, words, what: isIdle ? null : words.say('overview.counts', counts) })
  })

/** A length of time in each step. */
export const lengthBars = (
  points: readonly SeriesPoint[],
  words: Words,
  { of, color }: { readonly of: (point: SeriesPoint) => number | null; readonly color: string },
): readonly Bar[] =>
  points.map((point) => {
    const ms = of(point)
    return barOf(point, {
      words,
      parts: [{ value: ms ?? 0, color }],
      what: ms === null ? null : spanText(ms, words.say),
    })
  })

/** Tokens that were used in each step. */
export const tokenBars = (points: readonly SeriesPoint[], words: Words): readonly Bar[] =>
  points.map((point) => {
    const { tokens } = point
    const what = tokens === 0 ? null : words.say('overview.tokens', { count: tokens.toLocaleString(words.locale) })
    return barOf(point, { words, parts: [{ value: tokens, color: 'var(--ink-3)' }], what })
  })

interface Drawn {
  readonly parts: Bar['parts']
  readonly words: Words
  /** Null when nothing happened. */
  readonly what: string | null
}

function barOf({ at }: SeriesPoint, { parts, words: { say, locale }, what }: Drawn): Bar {
  const begin = Date.parse(at)
  const [from, to] = [begin, begin + HOUR_MS].map((moment) => clockTime(moment, { locale }))
  return {
    id: at,
    parts,
    title: say('overview.hour', { from: from ?? '', to: to ?? '', what: what ?? say('overview.nothing') }),
  }
}
