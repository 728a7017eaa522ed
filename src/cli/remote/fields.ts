import { Option, type Command } from 'commander'
import { DURATION_WORDS, parseDuration, type DurationUnit } from '../../domain/duration.ts'
import { withoutComments } from '../../core/json-comments.ts'
import { formatInstant, later, type Instant } from '../../domain/instant.ts'
import type { Terminal } from '../terminal.ts'
import { readText } from './files.ts'
import type { FieldNames } from './refused.ts'
import { UsageError } from './usage.ts'

/** Makes of the text behind an option what the API takes. */
export type ReadText = (text: string, about: { readonly option: string; readonly now: Instant }) => unknown

/** An option that becomes a field of what is sent. */
export interface FieldOption {
  /** As commander writes it: `--every <duration>`. */
  readonly flags: string
  readonly field: string
  readonly about: string
  /** What people type who know the field from elsewhere: taken, and not listed. */
  readonly also?: string
  /** Left out: the text as it is. */
  readonly read?: ReadText
  /** What an option without a value stands for. */
  readonly stands?: unknown
}

export type FieldValues = Readonly<Record<string, unknown>>

const refuse = (option: string, text: string, allowed: string): never => {
  throw new UsageError(`${option} "${text}" is not understood. Allowed: ${allowed}`)
}

/** A number, whole or not; the server knows its bounds. */
export const number: ReadText = (text, { option }) =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : refuse(option, text, 'a number')

/** `30m`, `1h30m`, or a number of units. */
const duration =
  (unit: DurationUnit): ReadText =>
  (text, { option }) =>
    /^-?\d+$/.test(text)
      ? Number(text)
      : (parseDuration(text, unit) ?? refuse(option, text, `${DURATION_WORDS}, or ${unit}`))

export const seconds = duration('seconds')
export const milliseconds = duration('ms')

/** A moment, or how long from now: `2026-11-15T09:00:00Z`, `30m`. */
export const moment: ReadText = (text, { now }) => {
  const ms = parseDuration(text, 'ms')
  return ms === null ? text : formatInstant(later(now, ms))
}

/** The same of the past: `24h` is a day ago. */
export const pastMoment: ReadText = (text, { now }) => {
  const ms = parseDuration(text, 'ms')
  return ms === null ? text : formatInstant(later(now, -ms))
}

/** JSON, where it looks like JSON; else a text. */
export const textOrJson: ReadText = (text, about) => (/^\s*[[{"]/.test(text) ? json(text, about) : text)

export const json: ReadText = (text, { option }) => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    return refuse(option, text, `JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

/** Words with commas between them. */
export const list: ReadText = (text) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

const nameOf = (flags: string): string => /--([\w-]+)/.exec(flags)?.[1] ?? flags

/** The property under which commander keeps an option. */
const keyOf = (flags: string): string => nameOf(flags).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Adds an option for each field. */
export function withFields(command: Command, fields: readonly FieldOption[]): Command {
  for (const { flags, about, also } of fields) {
    command.option(flags, about)
    if (also !== undefined) command.addOption(new Option(also).hideHelp())
  }
  return command
}

/** Adds, to the fields, a file with all of them and, for changes, a way back to the default. */
export function withBody(command: Command, fields: readonly FieldOption[], kind: 'new' | 'change'): Command {
  withFields(command, fields).option('-f, --file <file>', 'fields as JSON from a file, or - for stdin; options win')
  if (kind === 'change') command.option('--unset <field...>', 'fields that go back to their default')
  return command
}

/** What the server calls a field, under what it is called here. */
export const namesOf = (fields: readonly FieldOption[]): FieldNames =>
  Object.fromEntries(fields.map(({ field, flags }) => [`/${field}`, `--${nameOf(flags)}`]))

/** The fields that were given. */
export function valuesOf(fields: readonly FieldOption[], options: object, now: Instant): FieldValues {
  const given = options as Readonly<Record<string, unknown>>
  const values: Record<string, unknown> = {}
  for (const { flags, also, field, read, stands } of fields) {
    const value = given[keyOf(flags)] ?? (also === undefined ? undefined : given[keyOf(also)])
    if (value === undefined) continue
    if (typeof value !== 'string') values[field] = stands ?? value
    else values[field] = read === undefined ? value : read(value, { option: `--${nameOf(flags)}`, now })
  }
  return values
}

interface BodyOptions {
  readonly file?: string
  readonly unset?: readonly string[]
}

/** What is sent: the file, then what goes back to its default, then the options. */
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
    throw new UsageError(`--file ${file} must hold one JSON object`)
  return value as FieldValues
}
