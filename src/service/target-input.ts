import { flawed, parsed, type Flaw, type Parsed } from '../core/input.ts'
import type { TargetRow } from '../store/targets.ts'
import { collectFlaws, parseFlag, parseObject, textField, unknownFields, type Given } from './input-fields.ts'

/** What a person decides about a target. */
export type ReadTarget = Pick<TargetRow, 'name' | 'kind' | 'url'> & { readonly enabled: boolean }

const LATER_KINDS = ['slack', 'email', 'telegram', 'chat']
const KIND_ALLOWED = 'webhook'

function parseKind(field: string, value: unknown): Parsed<'webhook'> {
  if (value === 'webhook') return parsed(value)
  const message =
    typeof value === 'string' && LATER_KINDS.includes(value.toLowerCase())
      ? 'is not built yet; it comes with the channels of a later release'
      : 'is not a kind of target'
  return flawed({ field, value, message, allowed: KIND_ALLOWED })
}

/** Reads a new target, or a change of one: what a change leaves out stays. Whether its address may be called is not asked. */
export function parseTarget(value: unknown, existing: ReadTarget | null): Parsed<ReadTarget> {
  const object = parseObject('target', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  const known = existing === null ? ['name', 'kind', 'url', 'enabled'] : ['name', 'url', 'enabled']
  if (existing !== null && given['kind'] !== undefined)
    flaws.push({ field: 'kind', value: given['kind'], message: 'never changes', allowed: 'a target of its own' })
  flaws.push(...unknownFields('', given, [...known, 'kind']), ...missing(given, existing))
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  const read: ReadTarget = {
    name: field('name', textField({ min: 1, max: 200 }), existing?.name ?? ''),
    kind: existing?.kind ?? field('kind', parseKind, 'webhook'),
    url: field('url', textField({ min: 1, max: 8_192 }), existing?.url ?? ''),
    enabled: field('enabled', parseFlag, existing?.enabled ?? true),
  }
  return flaws.length > 0 ? flawed(...flaws) : parsed(read)
}

const missing = (given: Given, existing: ReadTarget | null): readonly Flaw[] =>
  existing !== null
    ? []
    : ['name', 'url']
        .filter((name) => given[name] === undefined)
        .map((name) => ({ field: name, value: undefined, message: 'is missing' }))
