import { invalid, Refusal } from '../api/refusals.ts'
import type { DstNoteView, PreviewInput, SchedulePreview } from '../contract/schedule-preview.ts'
import { pacedOf } from '../domain/schedule/pace/pace.ts'
import { formatInstant, momentIn } from '../domain/instant.ts'
import type { DstNote } from '../domain/time/preview.ts'
import { parseZone, UTC } from '../core/time/zone.ts'
import { loadOrg } from '../features/access/orgs-store.ts'
import type { Caller } from './caller.ts'
import { computePreview } from '../engine/compute.ts'
import type { Ports } from './ports.ts'
import { asComing } from './schedule-pace.ts'
import { noted, notesOnTiming } from './schedule-notes.ts'
import { parseNewTiming } from './schedule-timing.ts'

const USUALLY_SHOWN = 5

/**
 * What a schedule would do, in words and dates. Takes everything a schedule is made from, so that an editor can send what
 * it has; only what says when is looked at.
 */
export async function previewSchedule(
  { database, clock, computations }: Pick<Ports, 'database' | 'clock' | 'computations'>,
  { orgId }: Caller,
  input: PreviewInput,
): Promise<SchedulePreview> {
  const org = await loadOrg(database, orgId)
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${orgId}`)
  const zone = parseZone('default_timezone', org.defaultTimezone)
  const now = input.from === undefined || input.from === null ? clock.now() : momentIn(input.from)
  const timing = parseNewTiming(input, { now, defaultZone: zone.ok ? zone.value : UTC })
  if (!timing.ok) throw invalid(timing.flaws)
  const wanted = { now, count: input.count ?? USUALLY_SHOWN }
  const { sentence, next, dstNotes } = await computePreview({ orgId, computations }, timing.value.timing, wanted)
  const view = { sentence, next: next.map(formatInstant), dst_notes: dstNotes.map(viewNote) }
  // Nothing to come is only said where all of it was looked for: what is left out is not never.
  const told = noted(view, next.length === 0 ? notesOnTiming(timing.value.timing, now) : [])
  return pacedOf(timing.value.timing) === null ? told : { ...told, coming: asComing(next) }
}

/** A change of the clock as it is told. */
export const viewNote = ({ offsetBefore, offsetAfter, at, ...note }: DstNote): DstNoteView => ({
  at: formatInstant(at),
  zone: note.zone,
  kind: note.kind,
  offset_before: offsetBefore,
  offset_after: offsetAfter,
  effect: note.effect,
  sentence: note.sentence,
})
