import { fieldsOf, type ObjectSchema, type SchemaField } from '../../api/schema-fields.ts'
import { json, list, milliseconds, moment, number, pastMoment, seconds, type FieldOption } from './fields.ts'

/** Where an option differs from what its field says: its flags, or all of it. `hint` is added to the description. */
export type Override = string | (Partial<Omit<FieldOption, 'field'>> & { readonly hint?: string })

/** By field. Null: there is no option for it; several: each is a way to give it. */
export type Overrides = Readonly<Record<string, Override | readonly Override[] | null>>

/** Fields that read the same everywhere. */
const USUAL: Overrides = {
  timezone: { flags: '--tz <zone>', also: '--timezone <zone>' },
  default_timezone: '--tz <zone>',
  enabled: { flags: '--disabled', stands: false, about: 'disable it' },
}

/** A field that is another one under the name that a different scheduler has for it. */
const SYNONYM = /^Same as /

/** An option for each field of a body: flag, help and reader come from the schema. */
export const optionsOf = (schema: ObjectSchema, overrides: Overrides = {}): readonly FieldOption[] =>
  fieldsOf(schema).flatMap((field) => {
    if (SYNONYM.test(field.description)) return []
    const given = overrides[field.name] ?? (field.name in overrides ? null : (USUAL[field.name] ?? ''))
    if (given === null) return []
    return (isSeveral(given) ? given : [given]).map((one) => optionOf(field, one))
  })

/** The same of a query: times lie in the past, and pages have their own options. */
export const filtersOf = (schema: ObjectSchema, overrides: Overrides = {}): readonly FieldOption[] =>
  optionsOf(schema, { limit: null, cursor: null, ...overrides }).map((option) =>
    option.read === moment ? { ...option, read: pastMoment } : option,
  )

/** Some of the options, in this order. */
export const only = (options: readonly FieldOption[], ...fields: readonly string[]): readonly FieldOption[] =>
  fields.flatMap((field) => options.filter((option) => option.field === field))

const isSeveral = (given: Override | readonly Override[]): given is readonly Override[] => Array.isArray(given)

function optionOf(field: SchemaField, given: Override): FieldOption {
  const { hint, ...own } = typeof given === 'string' ? (given === '' ? {} : { flags: given }) : given
  const { flags, read, stands } = usualOf(field)
  return {
    field: field.name,
    flags,
    about: aboutOf(field, hint),
    ...(read === undefined || 'stands' in own ? {} : { read }),
    ...(stands === undefined ? {} : { stands }),
    ...own,
  }
}

/** Endings that say what a value is; on the command line the text behind the option does. */
const ENDING = /(?:_(seconds|ms|at|id|policy|action)|(Id|Url))$/

const VALUES: Readonly<Record<SchemaField['kind'], string>> = {
  text: ' <text>',
  words: ' <word>',
  whole: ' <n>',
  number: ' <n>',
  boolean: '',
  time: ' <time>',
  list: ' <a,b>',
  json: ' <json>',
}

const READERS = { whole: number, number, time: moment, list, json } as const

function usualOf({ name, kind }: SchemaField): Pick<FieldOption, 'flags' | 'read' | 'stands'> {
  const [, ending = ''] = ENDING.exec(name) ?? []
  const flag = `--${name.replace(ENDING, '').replaceAll('_', '-')}`
  if (kind === 'whole' && ending === 'seconds') return { flags: `${flag} <duration>`, read: seconds }
  if (kind === 'whole' && ending === 'ms') return { flags: `${flag} <duration>`, read: milliseconds }
  if (kind === 'boolean') return { flags: flag, stands: true }
  const value = kind !== 'text' ? VALUES[kind] : name === 'name' ? ' <name>' : /id$/i.test(name) ? ' <id>' : VALUES.text
  const read = kind in READERS ? READERS[kind as keyof typeof READERS] : undefined
  return { flags: `${flag}${value}`, ...(read === undefined ? {} : { read }) }
}

/** The first sentence of a description, with what is allowed and the default. */
function aboutOf({ description, kind, words, min, max, name }: SchemaField, hint = ''): string {
  const sentences = description.replaceAll('`', '').split(/(?<=\.)\s+/)
  const [first = ''] = sentences.filter((one) => !/^(?:Default:|Null)/.test(one))
  const usual = /\bDefault: (.+?)(?:\. |\.$|$)/.exec(description.replaceAll('`', ''))?.[1]
  const what = lowered(first.replace(/\.$/, '').replace(kind === 'boolean' ? /^Whether / : '', ''))
  const isListed = words.length > 0 && !words.every((word) => what.includes(word))
  const isBounded = (kind === 'whole' || kind === 'number') && !/_(?:seconds|ms)$/.test(name)
  const notes = [
    isBounded && min !== null && max !== null && max <= LARGEST_BOUND ? `${min} to ${max}` : '',
    usual === undefined || kind === 'boolean' ? '' : `default: ${usual}`,
  ]
  const said = joined([joined([what, isListed ? words.join(', ') : ''], ': '), hint], ', ')
  return joined([said, joined(notes, '; ').replace(/^.+$/, '($&)')], ' ')
}

/** Beyond it, a bound only keeps nonsense out. */
const LARGEST_BOUND = 1_000_000

const joined = (parts: readonly string[], between: string): string => parts.filter((part) => part !== '').join(between)

/** Help begins with a small letter, unless the first word is an abbreviation. */
const lowered = (text: string): string =>
  /^[A-Z][^A-Z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text
