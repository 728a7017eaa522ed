import type { Say } from '../texts/fill.ts'
import { spanText } from '../time/span.ts'
import type { RibbonItem } from './items.ts'

/** An item as a sentence, for the tooltip, the table and screen readers. */
export function describeItem(item: RibbonItem, now: number, say: Say): string {
  if (item.kind === 'coming') return say('ribbon.coming')
  if (item.kind === 'skipped') return say('status.skipped')
  const status = say(`status.${item.status}`)
  return item.end === null
    ? say('ribbon.since', { status, span: spanText(Math.max(0, now - item.start), say) })
    : say('ribbon.ran', { status, span: spanText(item.end - item.start, say) })
}
