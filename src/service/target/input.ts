import { addAll } from '../../core/long-lists.ts'
import { parseQuietHours, storeQuietHours, type StoredQuietHours } from '../../core/delivery/quiet-hours.ts'
import { ruleOf, TARGET_KIND_WORDS, type TargetKind, type TargetSettings } from '../../core/delivery/target-kinds.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../core/input.ts'
import { nearestWord } from '../../core/nearest-word.ts'
import type { TargetRow } from '../../store/targets.ts'
import {
  collectFlaws,
  parseFlag,
  parseJson,
  parseObject,
  textField,
  unknownFields,
  type Given,
} from '../../core/input-fields.ts'

/** What a person decides about a target. */
export type ReadTarget = Pick<TargetRow, 'name' | 'kind' | 'url' | 'settings' | 'quietHours' | 'alerts'> & {
  readonly enabled: boolean
}

const CHANGEABLE = ['name', 'url', 'settings', 'quiet_hours', 'alerts', 'enabled'] as const

function parseKind(field: string, value: unknown): Parsed<TargetKind> {
  const kind = TARGET_KIND_WORDS.find((word) => word === value)
  if (kind !== undefined) return parsed(kind)
  const near = typeof value === 'string' ? nearestWord(value.toLowerCase(), TARGET_KIND_WORDS) : null
  const message = `is not a kind of target${near === null ? '' : `; did you mean ${near}?`}`
  return flawed({ field, value, message, allowed: TARGET_KIND_WORDS.join(', ') })
}

function parseQuiet(field: string, value: unknown): Parsed<StoredQuietHours | null> {
  if (value === null) return parsed(null)
  const hours = parseQuietHours(field, value)
  return hours.ok ? parsed(storeQuietHours(hours.value)) : hours
}

/** Reads a new target, or a change of one: what a change leaves out stays. Whether its address may be called is not asked. */
export function parseTarget(value: unknown, existing: ReadTarget | null): Parsed<ReadTarget> {
  const object = parseObject('target', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  if (existing !== null && given['kind'] !== undefined)
    flaws.push({ field: 'kind', value: given['kind'], message: 'never changes', allowed: 'a target of its own' })
  addAll(flaws, unknownFields('', given, existing === null ? ['kind', ...CHANGEABLE] : [...CHANGEABLE, 'kind']))
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  const kind = existing?.kind ?? field('kind', parseKind, 'webhook')
  if (existing === null && given['name'] === undefined)
    flaws.push({ field: 'name', value: undefined, message: 'is missing' })
  addAll(flaws, urlFlaws(kind, given, existing))
  const read: ReadTarget = {
    name: field('name', textField({ min: 1, max: 200 }), existing?.name ?? ''),
    kind,
    url: field('url', textField({ min: 1, max: 8_192 }), existing?.url ?? ''),
    settings: keep(readSettings(kind, given, existing)) ?? {},
    quietHours: given['quiet_hours'] === null ? null : field('quiet_hours', parseQuiet, existing?.quietHours ?? null),
    alerts: field('alerts', parseFlag, existing?.alerts ?? false),
    enabled: field('enabled', parseFlag, existing?.enabled ?? true),
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(read)
}

/** What a kind is set up with is read whole: a change replaces it. */
function readSettings(kind: TargetKind, given: Given, existing: ReadTarget | null): Parsed<TargetSettings> {
  if (given['settings'] === undefined && existing !== null) return parsed(existing.settings)
  const json = given['settings'] === undefined ? parsed(undefined) : parseJson('settings', given['settings'])
  return json.ok ? ruleOf(kind).settings('settings', json.value) : json
}

function urlFlaws(kind: TargetKind, given: Given, existing: ReadTarget | null): readonly Flaw[] {
  const { url } = ruleOf(kind)
  const value = given['url']
  if (url === 'none' && value !== undefined)
    return [{ field: 'url', value, message: `has no meaning for a target of kind ${kind}`, allowed: 'settings' }]
  return url === 'required' && value === undefined && existing === null
    ? [{ field: 'url', value, message: 'is missing' }]
    : []
}
