import { fieldsOf, type ObjectSchema, type SchemaField } from '../../api/schema-fields.ts'
import { json, list, milliseconds, timeOrDuration, number, pastTime, seconds, type FieldOption } from './fields.ts'

/** How an option differs from the default for its field: its flags, or any property. `hint` extends the description. */
export type Override = string | (Partial<Omit<FieldOption, 'field'>> & { readonly hint?: string })

/** Overrides by field. Null: no option; a list: several options for one field. */
export type Overrides = Readonly<Record<string, Override | readonly Override[] | null>>

/** Overrides that apply to every schema. */
const DEFAULT_OVERRIDES: Overrides = {
  timezone: { flags: '--tz <zone>', alias: '--timezone <zone>' },
  default_timezone: '--tz <zone>',
  enabled: { flags: '--disabled', stands: false, about: 'disable it' },
}

/** Marks a field that is an alias known from another scheduler. */
const ALIAS_DESCRIPTION = /^Same as /

/** The options of a request body: flags, help and reader come from the schema. */
export const optionsOf = (schema: ObjectSchema, overrides: Overrides = {}): readonly FieldOption[] =>
  fieldsOf(schema).flatMap((field) => {
    if (ALIAS_DESCRIPTION.test(field.description)) return []
    const override = overrides[field.name] ?? (field.name in overrides ? null : (DEFAULT_OVERRIDES[field.name] ?? ''))
    if (override === null) return []
    return (isOverrideList(override) ? override : [override]).map((one) => optionOf(field, one))
  })

/** The options of a query: durations count back from now, and paging has its own options. */
export const filtersOf = (schema: ObjectSchema, overrides: Overrides = {}): readonly FieldOption[] =>
  optionsOf(schema, { limit: null, cursor: null, ...overrides }).map((option) =>
    option.read === timeOrDuration ? { ...option, read: pastTime } : option,
  )

/** Selects options by field, in the given order. */
export const only = (options: readonly FieldOption[], ...fields: readonly string[]): readonly FieldOption[] =>
  fields.flatMap((field) => options.filter((option) => option.field === field))

const isOverrideList = (override: Override | readonly Override[]): override is readonly Override[] =>
  Array.isArray(override)

function optionOf(field: SchemaField, override: Override): FieldOption {
  const { hint, ...own } = typeof override === 'string' ? (override === '' ? {} : { flags: override }) : override
  const { flags, read, stands } = defaultOptionOf(field)
  return {
    field: field.name,
    flags,
    about: helpTextOf(field, hint),
    ...(read === undefined || 'stands' in own ? {} : { read }),
    ...(stands === undefined ? {} : { stands }),
    ...own,
  }
}

/** Suffixes of field names that the flags leave out, because the placeholder shows them. */
const FIELD_SUFFIX = /(?:_(seconds|ms|at|id|policy|action)|(Id|Url))$/

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

const READERS = { whole: number, number, time: timeOrDuration, list, json } as const

function defaultOptionOf({ name, kind }: SchemaField): Pick<FieldOption, 'flags' | 'read' | 'stands'> {
  const [, ending = ''] = FIELD_SUFFIX.exec(name) ?? []
  const flag = `--${name.replace(FIELD_SUFFIX, '').replaceAll('_', '-')}`
  if (kind === 'whole' && ending === 'seconds') return { flags: `${flag} <duration>`, read: seconds }
  if (kind === 'whole' && ending === 'ms') return { flags: `${flag} <duration>`, read: milliseconds }
  if (kind === 'boolean') return { flags: flag, stands: true }
  const value = kind !== 'text' ? VALUES[kind] : name === 'name' ? ' <name>' : /id$/i.test(name) ? ' <id>' : VALUES.text
  const read = kind in READERS ? READERS[kind as keyof typeof READERS] : undefined
  return { flags: `${flag}${value}`, ...(read === undefined ? {} : { read }) }
}

/** The first sentence of a description, with the allowed values and the default. */
function helpTextOf({ description, kind, words, min, max, name }: SchemaField, hint = ''): string {
  const sentences = description.replaceAll('`', '').split(/(?<=\.)\s+/)
  const [first = ''] = sentences.filter((one) => !/^(?:Default:|Null)/.test(one))
  const defaultText = /\bDefault: (.+?)(?:\. |\.$|$)/.exec(description.replaceAll('`', ''))?.[1]
  const what = lowerFirst(first.replace(/\.$/, '').replace(kind === 'boolean' ? /^Whether / : '', ''))
  const isListed = words.length > 0 && !words.every((word) => what.includes(word))
  const isBounded = (kind === 'whole' || kind === 'number') && !/_(?:seconds|ms)$/.test(name)
  const notes = [
    isBounded && min !== null && max !== null && max <= MAX_BOUND ? `${min} to ${max}` : '',
    defaultText === undefined || kind === 'boolean' ? '' : `default: ${defaultText}`,
  ]
  const said = joined([joined([what, isListed ? words.join(', ') : ''], ': '), hint], ', ')
  return joined([said, joined(notes, '; ').replace(/^.+$/, '($&)')], ' ')
}

/** Larger bounds are left out of help. */
const MAX_BOUND = 1_000_000

const joined = (parts: readonly string[], between: string): string => parts.filter((part) => part !== '').join(between)

/** Lowercases the first letter, unless the first word is an abbreviation. */
const lowerFirst = (text: string): string =>
  /^[A-Z][^A-Z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text
