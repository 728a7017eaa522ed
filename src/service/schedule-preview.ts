import { invalid, Refusal } from '../contract/refusals.ts'
import type { DstNoteView, PreviewInput, SchedulePreview } from '../contract/schedule-preview.ts'
import { addAll } from '../core/long-lists.ts'
import { pacedOf } from '../core/cadence/pace.ts'
import { parseInteger, type Parsed } from '../core/input.ts'
import { formatInstant, parseMoment } from '../core/instant.ts'
import type { DstNote } from '../core/time/dst-notes.ts'
import { parseZone, UTC } from '../core/time/zone.ts'
import { loadOrg } from '../store/orgs.ts'
import type { Caller } from './caller.ts'
import { computePreview } from './compute/compute.ts'
import { collectFlaws, parseObject, unknownFields } from '../core/input-fields.ts'
import type { Ports } from './ports.ts'
import { SCHEDULE_FIELDS } from './schedule-input.ts'
import { asComing } from './schedule-pace.ts'
import { noted, notesOnTiming } from './schedule-notes.ts'
import { parseNewTiming } from './schedule-timing.ts'

const MOST_SHOWN = 1_000
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
  const { flaws, keep } = collectFlaws()
  const given = keep(parseObject('schedule', input))
  if (given === null) throw invalid(flaws)
  addAll(flaws, unknownFields('', given, [...SCHEDULE_FIELDS, 'count', 'from']))
  const optional = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    given[name] === undefined || given[name] === null ? null : keep(parse(name, given[name]))
  const count = optional('count', (field, value) => parseInteger(field, value, { min: 1, max: MOST_SHOWN }))
  const from = optional('from', parseMoment)
  const org = await loadOrg(database, orgId)
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${orgId}`)
  const zone = parseZone('default_timezone', org.defaultTimezone)
  const now = from ?? clock.now()
  const timing = keep(parseNewTiming(given, { now, defaultZone: zone.ok ? zone.value : UTC }))
  if (timing === null || flaws.length > 0) throw invalid(flaws)
  const wanted = { now, count: count ?? USUALLY_SHOWN }
  const { sentence, next, dstNotes } = await computePreview({ orgId, computations }, timing.timing, wanted)
  const view = { sentence, next: next.map(formatInstant), dst_notes: dstNotes.map(viewNote) }
  // Nothing to come is only said where all of it was looked for: what is left out is not never.
  const told = noted(view, next.length === 0 ? notesOnTiming(timing.timing, now) : [])
  return pacedOf(timing.timing) === null ? told : { ...told, coming: asComing(next) }
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
