import type { OccurrenceExplanation, PreviewView } from '../../contract/schedule.ts'
import { explainWhy, REASONS, type Why } from '../../core/reasons.ts'
import { paintState } from '../output/style.ts'
import { oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import type { Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'

/** What a schedule would do, in words and dates. */
export async function showPreview({ terminal, style, print }: Talk, preview: PreviewView): Promise<void> {
  const now = terminal.now()
  const next = preview.next.map((at) => `  ${at}   ${style.dim(agoText(at, now))}`)
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

/** A reason with its sentence, its rule and what was looked at. */
export function whyFacts(why: Pick<OccurrenceExplanation, 'reason' | 'rule' | 'evidence'>): Facts {
  return [
    ['why', whySentence(why)],
    ['reason', why.reason],
    ['rule', why.rule],
    ...Object.entries(why.evidence).map(([name, value]) => [`  ${oneLine(name)}`, oneLine(valueText(value))] as const),
  ]
}

/** What is said of a moment about which nothing is on record. */
const UNRECORDED: Readonly<Record<string, string>> = {
  no_occurrence: 'The schedule has no such moment.',
  before_creation: 'The schedule was not there yet.',
  not_active: 'The schedule is off, and nothing is run while it is.',
  was_not_active: 'The schedule was off at that moment.',
  not_yet: 'Its moment is still to come.',
  being_decided: 'Its moment has come and is being decided.',
  pruned: 'Its run is so old that it was removed.',
}

/** The sentence of a reason; the reason itself where this version does not know it. */
export const whySentence = (why: Pick<OccurrenceExplanation, 'reason' | 'rule' | 'evidence'>): string =>
  why.reason in REASONS ? oneLine(explainWhy(why as Why)) : (UNRECORDED[why.reason] ?? why.reason)
