import { addAll } from '../../core/long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../core/input.ts'
import { SHORTEST_SECRET } from '../../core/secret/mask.ts'
import { parseSecretHosts } from '../../core/secret/secret-hosts.ts'
import { parseSecretName } from '../../core/secret/secret-names.ts'
import { collectFlaws, parseObject, textField, unknownFields, type Given } from '../../core/input-fields.ts'

const LONGEST = 65_536
const parseText = textField({ min: SHORTEST_SECRET, max: LONGEST })

/** A new secret, read. */
export interface ReadSecret {
  readonly name: string
  readonly value: string
  readonly hosts: readonly string[]
}

/** Reads a new secret. No complaint repeats what was sent: the value may stand in the wrong field. */
export function parseSecretInput(value: unknown): Parsed<ReadSecret> {
  const object = parseObject('secret', value)
  if (!object.ok) return unsaid(object.flaws)
  const { flaws, keep } = collectFlaws()
  const given = object.value
  addAll(flaws, [...unknownFields('', given, ['name', 'value', 'hosts']), ...missing(given)])
  const said = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    given[name] === undefined ? null : keep(parse(name, given[name]))
  const [name, text, hosts] = [said('name', parseSecretName), said('value', parseText), said('hosts', parseSecretHosts)]
  if (name === null || text === null || hosts === null || flaws.length > 0) return unsaid(flaws)
  return parsed({ name, value: text, hosts })
}

const missing = (given: Given): readonly Flaw[] =>
  ['name', 'value', 'hosts']
    .filter((name) => given[name] === undefined)
    .map((field) => ({ field, value: undefined, message: 'is missing' }))

/** A change of one; null: that stays. */
export function parseSecretPatch(
  value: unknown,
): Parsed<{ readonly [Name in 'value' | 'hosts']: ReadSecret[Name] | null }> {
  const object = parseObject('secret', value)
  if (!object.ok) return unsaid(object.flaws)
  const { flaws, keep } = collectFlaws()
  const given = object.value
  addAll(flaws, unknownFields('', given, ['value', 'hosts']))
  const text = given['value'] === undefined ? null : keep(parseText('value', given['value']))
  const hosts = given['hosts'] === undefined ? null : keep(parseSecretHosts('hosts', given['hosts']))
  return flaws.length > 0 ? unsaid(flaws) : parsed({ value: text, hosts })
}

const unsaid = (flaws: readonly Flaw[]): Parsed<never> => flawed(flaws.map((flaw) => ({ ...flaw, value: undefined })))
