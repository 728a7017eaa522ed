import { DURATION_WORDS, parseDuration, type DurationUnit } from '../../domain/duration.ts'
import { Option, type Command } from 'commander'
import { withoutComments } from '../../domain/json.ts'
import { formatInstant, later, type Instant } from '../../domain/instant.ts'
import type { Terminal } from '../terminal.ts'
import { readText } from './files.ts'
import type { FieldNames } from './refused.ts'
import { UsageError } from './call.ts'

/** Converts the text of an option to its API value. */
export type OptionReader = (text: string, about: { readonly option: string; readonly now: Instant }) => unknown

/** An option that sets a field of the request body. */
export interface FieldOption {
  /** As commander writes it: `--every <duration>`. */
  readonly flags: string
  readonly field: string
  readonly about: string
  /** A hidden alias, known from other tools. */
  readonly alias?: string
  /** Left out: the text is the value. */
  readonly read?: OptionReader
  /** The value of an option given without one. */
  readonly stands?: unknown
}

export type FieldValues = Readonly<Record<string, unknown>>

const invalidOption = (option: string, text: string, allowed: string): never => {
  throw new UsageError(`Invalid ${option} "${text}". Allowed: ${allowed}`)
}

/** A number; the server checks its bounds. */
export const number: OptionReader = (text, { option }) =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : invalidOption(option, text, 'a number')

/** A duration such as `30m` or `1h30m`, or a number in the given unit. */
const duration =
  (unit: DurationUnit): OptionReader =>
  (text, { option }) =>
    /^-?\d+$/.test(text)
      ? Number(text)
      : (parseDuration(text, unit) ?? invalidOption(option, text, `${DURATION_WORDS}, or ${unit}`))

export const seconds = duration('seconds')
export const milliseconds = duration('ms')

/** A time, or a duration from now: `2026-11-15T09:00:00Z`, `30m`. */
export const timeOrDuration: OptionReader = (text, { now }) => {
  const ms = parseDuration(text, 'ms')
  return ms === null ? text : formatInstant(later(now, ms))
}

/** A time, or a duration before now: `24h` is a day ago. */
export const pastTime: OptionReader = (text, { now }) => {
  const ms = parseDuration(text, 'ms')
  return ms === null ? text : formatInstant(later(now, -ms))
}

/** JSON if it looks like JSON, otherwise a string. */
export const textOrJson: OptionReader = (text, about) => (/^\s*[[{"]/.test(text) ? json(text, about) : text)

export const json: OptionReader = (text, { option }) => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    return invalidOption(option, text, `JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

/** A comma-separated list. */
export const list: OptionReader = (text) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

const optionNameOf = (flags: string): string => /--([\w-]+)/.exec(flags)?.[1] ?? flags

/** The property name that commander gives an option. */
const optionPropertyOf = (flags: string): string =>
  optionNameOf(flags).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Adds an option per field. */
export function withFields(command: Command, fields: readonly FieldOption[]): Command {
  for (const { flags, about, alias: also } of fields) {
    command.option(flags, about)
    if (also !== undefined) command.addOption(new Option(also).hideHelp())
  }
  return command
}

/** Adds an option per field, `--file` and, for updates, `--unset`. */
export function withBody(command: Command, fields: readonly FieldOption[], kind: 'new' | 'change'): Command {
  withFields(command, fields).option(
    '-f, --file <file>',
    'read fields as JSON from a file, or - for stdin; options override them',
  )
  if (kind === 'change') command.option('--unset <field...>', 'reset fields to their defaults')
  return command
}

/** Maps JSON pointers of the API to option names. */
export const namesOf = (fields: readonly FieldOption[]): FieldNames =>
  Object.fromEntries(fields.map(({ field, flags }) => [`/${field}`, `--${optionNameOf(flags)}`]))

/** The fields given by options. */
export function valuesOf(fields: readonly FieldOption[], options: object, now: Instant): FieldValues {
  const given = options as Readonly<Record<string, unknown>>
  const values: Record<string, unknown> = {}
  for (const { flags, alias: also, field, read, stands } of fields) {
    const value = given[optionPropertyOf(flags)] ?? (also === undefined ? undefined : given[optionPropertyOf(also)])
    if (value === undefined) continue
    if (typeof value !== 'string') values[field] = stands ?? value
    else values[field] = read === undefined ? value : read(value, { option: `--${optionNameOf(flags)}`, now })
  }
  return values
}

interface BodyOptions {
  readonly file?: string
  readonly unset?: readonly string[]
}

/** The request body: fields of the file, overridden by `--unset`, overridden by options. */
export async function bodyOf(
  terminal: Terminal,
  fields: readonly FieldOption[],
  options: object & BodyOptions,
): Promise<FieldValues> {
  const fromFile = options.file === undefined ? {} : await readObject(terminal, options.file)
  const unset = Object.fromEntries((options.unset ?? []).map((field) => [field.replaceAll('-', '_'), null]))
  return { ...fromFile, ...unset, ...valuesOf(fields, options, terminal.now()) }
}

async function readObject(terminal: Terminal, file: string): Promise<FieldValues> {
  const content = await readText(terminal, file, `--file ${file}`)
  const value = json(withoutComments(content), { option: `--file ${file}:`, now: terminal.now() })
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`--file ${file} must contain one JSON object`)
  return value as FieldValues
}
