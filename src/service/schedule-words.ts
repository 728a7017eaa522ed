import { invalid, Refusal } from '../api/refusals.ts'
import type { ScheduleInput } from '../contract/schedule.ts'
import type { WordsInput, WordsView } from '../contract/words.ts'
import type { OrgId } from '../domain/ids.ts'
import { parseZone, UTC, type Zone } from '../core/time/zone.ts'
import { understandWords } from '../core/words/understand.ts'
import { loadOrg } from '../features/access/orgs-store.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'
import { previewSchedule } from './schedule-preview.ts'

/** The zone that is meant where none is named. */
export async function zoneFor(
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
 * What a sentence about time means. The zone is among the fields even where the sentence names none: what is made of
 * them later must mean what was shown.
 */
export async function parseWords(
  ports: Pick<Ports, 'database' | 'clock'>,
  caller: Caller,
  { text, timezone }: WordsInput,
): Promise<WordsView> {
  const zone = await zoneFor(ports, caller.orgId, timezone)
  const understood = understandWords('text', text, { now: ports.clock.now(), zone })
  if (!understood.ok) throw invalid(understood.flaws)
  const { notes, rest } = understood.value
  const fields: ScheduleInput = { timezone: zone.name, ...understood.value.fields }
  const preview = await previewSchedule(ports, caller, fields)
  return { fields, ...preview, notes: [...notes, ...(preview.notes ?? [])], rest }
}
