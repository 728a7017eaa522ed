import { invalid, Refusal } from '../../api/refusals.ts'
import type { OrgId } from '../../domain/ids.ts'
import { formatInstant, validatedInstant } from '../../domain/instant.ts'
import { pacedOf } from '../../domain/schedule/pace/pace.ts'
import type { DstNote } from '../../domain/time/preview.ts'
import { parseZone, UTC, type Zone } from '../../domain/time/zone.ts'
import { understandWords } from '../../domain/words/understand.ts'
import { computePreview } from '../../engine/compute.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { parseNewTiming } from './input.ts'
import type { ScheduleInput } from './schema.ts'
import { viewUpcoming, addNotes, notesOnTiming } from './view.ts'
import type { DstNoteView, PreviewInput, SchedulePreview, WordsInput, WordsView } from './views-schema.ts'

const DEFAULT_PREVIEW_COUNT = 5

/**
 * Previews a schedule as a sentence and dates. It accepts all fields of a schedule, so that an editor can send its
 * whole form, and reads only the timing.
 */
export async function previewSchedule(
  { database, clock, computations }: Pick<Ports, 'database' | 'clock' | 'computations'>,
  { orgId }: Caller,
  input: PreviewInput,
): Promise<SchedulePreview> {
  const org = await loadOrg(database, orgId)
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${orgId}`)
  const zone = parseZone('default_timezone', org.defaultTimezone)
  const now = input.from === undefined || input.from === null ? clock.now() : validatedInstant(input.from)
  const timing = parseNewTiming(input, { now, defaultZone: zone.ok ? zone.value : UTC })
  if (!timing.ok) throw invalid(timing.flaws)
  const wanted = { now, count: input.count ?? DEFAULT_PREVIEW_COUNT }
  const { sentence, next, dstNotes } = await computePreview({ orgId, computations }, timing.value.timing, wanted)
  const view = { sentence, next: next.map(formatInstant), dst_notes: dstNotes.map(viewDstNote) }
  // Only an empty list can mean that the schedule never fires.
  const viewWithNotes = addNotes(view, next.length === 0 ? notesOnTiming(timing.value.timing, now) : [])
  return pacedOf(timing.value.timing) === null ? viewWithNotes : { ...viewWithNotes, coming: viewUpcoming(next) }
}

/** Converts a clock change to its API form. */
export const viewDstNote = ({ offsetBefore, offsetAfter, at, ...note }: DstNote): DstNoteView => ({
  at: formatInstant(at),
  zone: note.zone,
  kind: note.kind,
  offset_before: offsetBefore,
  offset_after: offsetAfter,
  effect: note.effect,
  sentence: note.sentence,
})

/** The given zone, or the org's default zone. */
export async function zoneOrOrgDefault(
  { database }: Pick<Ports, 'database'>,
  orgId: OrgId,
  given: string | null | undefined,
): Promise<Zone> {
  if (given !== null && given !== undefined) {
    const zone = parseZone('timezone', given)
    if (!zone.ok) throw invalid(zone.flaws)
    return zone.value
  }
  const org = await loadOrg(database, orgId)
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${orgId}`)
  const zone = parseZone('default_timezone', org.defaultTimezone)
  return zone.ok ? zone.value : UTC
}

/**
 * Parses a time in natural language. The fields always contain the zone, so that a schedule created from them has the
 * occurrences that were shown.
 */
export async function parseTimeWords(
  ports: Pick<Ports, 'database' | 'clock'>,
  caller: Caller,
  { text, timezone }: WordsInput,
): Promise<WordsView> {
  const zone = await zoneOrOrgDefault(ports, caller.orgId, timezone)
  const understood = understandWords('text', text, { now: ports.clock.now(), zone })
  if (!understood.ok) throw invalid(understood.flaws)
  const { notes, rest } = understood.value
  const fields: ScheduleInput = { timezone: zone.name, ...understood.value.fields }
  const preview = await previewSchedule(ports, caller, fields)
  return { fields, ...preview, notes: [...notes, ...(preview.notes ?? [])], rest }
}
