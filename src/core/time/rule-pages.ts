import { later, type Instant } from '../instant.ts'
import type { RuleParts } from './rrule-text.ts'

/**
 * The occurrences of a rule by the page. Asked for one after the other, the library begins each time where the period
 * begins; asked for all of a short stretch, it makes them once. A page is short enough that making it is cheap.
 */
export interface Pages {
  /** The first occurrence after an instant; `ask` finds one that is on no page. */
  readonly next: (after: Instant, ask: () => Instant | null) => Instant | null
}

/** Everything between two instants, the first exclusive and the second inclusive; null: it cannot be told. */
export type Between = (after: Instant, upTo: Instant) => readonly Instant[] | null

/** So many occurrences are on a page at most, or as many as one minute holds. */
const MAX_ON_PAGE = 200
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

/** A page that would hold fewer than this is not worth making. */
const MIN_ON_PAGE = 4

interface Page {
  readonly from: Instant
  readonly to: Instant
  readonly found: readonly Instant[]
}

export function createPages(parts: RuleParts, between: Between): Pages {
  const span = pageSpan(parts)
  let page: Page | null = null
  /** The last two answers: who asks for what comes after an answer is going through them. */
  let before: Instant | null = null
  let last: Instant | null = null
  const answer = (found: Instant | null): Instant | null => {
    before = last
    last = found
    return found
  }
  return {
    next: (after, ask) => {
      const known = onPage(page, after)
      if (known !== null) return answer(known)
      const isWalking = after === last && before !== null && after - before <= span / MIN_ON_PAGE && after > before
      if (isWalking) {
        const to = later(after, span)
        const found = between(after, to)
        page = found === null ? null : { from: after, to, found }
      }
      return answer(onPage(page, after) ?? ask())
    },
  }
}

/** The first on the page that comes after an instant, or null if the page does not tell. */
function onPage(page: Page | null, after: Instant): Instant | null {
  if (page === null || after < page.from || after >= page.to) return null
  let [low, high] = [0, page.found.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((page.found[middle] ?? Infinity) > after) high = middle
    else low = middle + 1
  }
  return page.found[low] ?? null
}

/** How long a page is: no hour holds more than its minutes times their seconds. */
function pageSpan({ frequency, other }: RuleParts): number {
  const items = (name: string, all: number): number => other.get(name)?.split(',').length ?? all
  const isFine = frequency === 'MINUTELY' || frequency === 'SECONDLY'
  const minutes = items('BYMINUTE', isFine ? 60 : 1)
  const seconds = items('BYSECOND', frequency === 'SECONDLY' ? 60 : 1)
  return Math.round(Math.min(DAY, Math.max(MINUTE, (HOUR * MAX_ON_PAGE) / (minutes * seconds))))
}
