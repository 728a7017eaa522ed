import type { OccurrenceExplanation } from '../../features/explain/schema.ts'
import type { SchedulePreview } from '../../contract/schedule-preview.ts'
import { paintState } from '../output/style.ts'
import { agoText, momentText } from '../output/times.ts'
import type { Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'
import { whyFacts } from './explain-look.ts'

/** What a schedule would do, in words and dates. */
export async function showPreview({ terminal, style, print }: Talk, preview: SchedulePreview): Promise<void> {
  const now = terminal.now()
  // Without a cadence every moment is as sure as the others, and nothing is said about it.
  const sure = new Map(preview.coming?.map(({ at, certainty }) => [at, `   ${certainty}`]))
  const next = preview.next.map((at) => `  ${at}   ${style.dim(agoText(at, now))}${sure.get(at) ?? ''}`)
  const notes = preview.dst_notes.filter(({ effect }) => effect !== 'none').map(({ sentence }) => `  ${sentence}`)
  const never = ['  never']
  const changes = notes.length === 0 ? [] : ['', 'Clock changes:', ...notes]
  await print([preview.sentence, '', ...(next.length === 0 ? never : next), ...changes, ''].join('\n'))
}

/** What became of a moment of a schedule. */
export function explainOccurrence({ terminal, style }: Talk, explanation: OccurrenceExplanation): Facts {
  return [
    ['moment', momentText(explanation.at, terminal.now())],
    ['run', explanation.run_id ?? 'none'],
    ['status', explanation.status === null ? null : paintState(style, explanation.status)],
    ...whyFacts(explanation),
  ]
}
