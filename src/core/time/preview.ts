import { instant, type Instant } from '../../domain/instant.ts'
import { dstNotes, type DstNote } from '../../domain/time/preview.ts'
import { sentenceFor } from './sentence.ts'
import { occurrencesBetween, type Timing } from '../../domain/time/timing.ts'

export interface TimingPreview {
  readonly sentence: string
  readonly next: readonly Instant[]
  readonly dstNotes: readonly DstNote[]
}

const END_OF_TIME = instant(8.64e15)

/** Clock changes further away are not worth a note, and each year ahead costs a look at the zone. */
const NOTES_AHEAD_MS = 5 * 366 * 86_400_000

/** What a schedule would do: in words, its next occurrences, and the clock changes up to the last of them. */
export function previewTiming(timing: Timing, view: { readonly now: Instant; readonly count: number }): TimingPreview {
  const next = occurrencesBetween(timing, { after: view.now, upTo: END_OF_TIME, limit: view.count })
  const last = Math.min(next.at(-1) ?? view.now, view.now + NOTES_AHEAD_MS)
  return {
    sentence: sentenceFor(timing),
    next,
    dstNotes: dstNotes(timing, { after: view.now, upTo: instant(last) }),
  }
}
