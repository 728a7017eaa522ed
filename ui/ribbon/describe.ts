import type { Say } from '../texts/fill.ts'
import { spanText } from '../time/span.ts'
import type { Outcome } from '../parts/outcome/outcome.ts'
import type { OutcomeCounts, RibbonItem } from './items.ts'

/** An item as a sentence, for the tooltip, the table and screen readers. */
export function describeItem(item: RibbonItem, now: number, say: Say): string {
  if (item.kind === 'coming') return say('ribbon.coming')
  if (item.kind === 'skipped') return say('status.skipped')
  if (item.kind === 'hold') return say('ribbon.held')
  if (item.kind === 'bucket') return describeBucket(item, say)
  const status = say(`status.${item.status}`)
  return item.end === null
    ? say('ribbon.since', { status, span: spanText(Math.max(0, now - item.start), say) })
    : say('ribbon.ran', { status, span: spanText(item.end - item.start, say) })
}

/** The outcomes in the order in which they are drawn and named. */
export const OUTCOME_ORDER = [
  'failure',
  'late',
  'quiet',
  'active',
  'waiting',
  'success',
] as const satisfies readonly Outcome[]

/** "3 failed · 40 succeeded · 2 planned". */
function describeBucket(
  { outcomes, planned }: { readonly outcomes: OutcomeCounts; readonly planned: number },
  say: Say,
): string {
  return [
    ...OUTCOME_ORDER.flatMap((outcome) => {
      const count = outcomes[outcome] ?? 0
      return count === 0 ? [] : [say(`ribbon.count.${outcome}`, { count })]
    }),
    ...(planned === 0 ? [] : [say('ribbon.count.planned', { count: planned })]),
  ].join(' · ')
}
