import { addAll } from '../../domain/long-lists.ts'
import { flawed, parsed, parseInteger, type Flaw, type Parsed } from '../../domain/input.ts'
import { unknownOptions } from '../kind.ts'
import { MASK } from '../../core/executor/masked.ts'
import { asText, fillJson, templateFlaws, type TemplateValues } from '../template.ts'

/** What the operator lets agents start. Nothing, unless the file of the server says otherwise. */
export interface CommandRules {
  readonly enabled: boolean
  readonly programs: readonly string[]
  readonly directories: readonly string[]
}

/** No program may be started. */
export const NO_COMMANDS: CommandRules = { enabled: false, programs: [], directories: [] }

/** How a program is started, as it is kept. */
export interface CommandOptions {
  readonly kind: 'command'
  readonly program: string
  /** Handed over as they are, one by one: there is no shell that could read them otherwise. */
  readonly args: readonly string[]
  /** Null: the first of the operator's directories. */
  readonly cwd: string | null
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Null: the dispatch, as an agent over HTTP gets it. */
  readonly stdin: unknown
  /** More output than this is a failure. */
  readonly output_bytes: number
}

const FIELDS = ['kind', 'program', 'args', 'cwd', 'env', 'stdin', 'output_bytes'] as const
export const MOST_ARGS = 200
const LONGEST_TEXT = 65_536
export const LONGEST_PATH = 4_096
export const LARGEST_OUTPUT = 1_048_576
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/
const MOST_VARIABLES = 100

type Given = Readonly<Record<string, unknown>>

/** Reads how a program is started. Says everything that is wrong with it. */
export function parseCommandOptions(field: string, given: Given): Parsed<CommandOptions> {
  const flaws: Flaw[] = [...unknownOptions(field, given, { known: FIELDS, of: ' of a command' })]
  const keep = <T>(name: string, read: (field: string, value: unknown) => Parsed<T>, otherwise: T): T => {
    const value = given[name] ?? undefined
    if (value === undefined) return otherwise
    const answer = read(`${field}.${name}`, value)
    if (answer.ok) return answer.value
    addAll(flaws, answer.flaws)
    return otherwise
  }
  if ((given['program'] ?? undefined) === undefined)
    flaws.push({ field: `${field}.program`, value: undefined, message: 'is missing', allowed: PATH_ALLOWED })
  const options: CommandOptions = {
    kind: 'command',
    program: keep('program', parsePath, ''),
    args: keep('args', parseArgs, []),
    cwd: keep<string | null>('cwd', parsePath, null),
    env: keep('env', parseEnvironment, {}),
    stdin: keep('stdin', parseStdin, null),
    output_bytes: keep(
      'output_bytes',
      (name, value) => parseInteger(name, value, { min: 1, max: LARGEST_OUTPUT }),
      LARGEST_OUTPUT,
    ),
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(options)
}

const PATH_ALLOWED = 'an absolute path without ..'

function parsePath(field: string, value: unknown): Parsed<string> {
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed: PATH_ALLOWED })
  const isPlain = value.startsWith('/') && !value.split('/').includes('..') && !value.includes('\u0000')
  if (!isPlain || value.length > LONGEST_PATH)
    return flawed({ field, value, message: 'is not an absolute path', allowed: PATH_ALLOWED })
  return value.includes('{{') ? flawed({ field, value, message: 'must not have a template in it' }) : parsed(value)
}

/** A template in a piece of an element would let a payload say more than the value it stands for. */
function wordFlaws(field: string, value: unknown): readonly Flaw[] {
  const allowed = 'a text, or one template and nothing else, such as {{payload.x}}'
  if (typeof value !== 'string') return [{ field, value, message: 'must be a text', allowed }]
  if (value.includes('\u0000') || value.length > LONGEST_TEXT)
    return [{ field, value: undefined, message: 'is too long or contains NUL', allowed }]
  if (!value.includes('{{')) return []
  if (!/^\{\{[^{}]*\}\}$/.test(value))
    return [{ field, value, message: 'has a template among other text; it must stand alone', allowed }]
  return templateFlaws(field, value)
}

function parseArgs(field: string, value: unknown): Parsed<readonly string[]> {
  const allowed = `up to ${MOST_ARGS} texts, one for each argument`
  if (!Array.isArray(value) || value.length > MOST_ARGS)
    return flawed({ field, value, message: 'must be a list of arguments', allowed })
  const flaws = value.flatMap((arg: unknown, index) => wordFlaws(`${field}.${index}`, arg))
  return flaws.length > 0 ? flawed(flaws) : parsed(value as readonly string[])
}

function parseEnvironment(field: string, value: unknown): Parsed<Readonly<Record<string, string>>> {
  const allowed = 'texts by name of the variable'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const entries = Object.entries(value as Given)
  if (entries.length > MOST_VARIABLES)
    return flawed({ field, value: undefined, message: `has more than ${MOST_VARIABLES} variables`, allowed })
  const flaws = entries.flatMap(([name, text]) => {
    const of = `${field}.${name}`
    if (!VARIABLE.test(name)) return [{ field: of, value: undefined, message: 'is not the name of a variable' }]
    if (text === MASK) return [{ field: of, value: undefined, message: 'is hidden here; send the value itself' }]
    // What stands in it may be somebody's key.
    return wordFlaws(of, text).map((flaw) => ({ ...flaw, value: undefined }))
  })
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, string>>)
}

function parseStdin(field: string, value: unknown): Parsed<unknown> {
  if (JSON.stringify(value).length > LONGEST_TEXT)
    return flawed({ field, value: undefined, message: 'is too long', allowed: `up to ${LONGEST_TEXT} characters` })
  const flaws = textsIn(value).flatMap((text) => templateFlaws(field, text))
  return flaws.length > 0 ? flawed(flaws) : parsed(value)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** What the operator does not let this agent do; null: nothing. Asked when it is made and again with every start. */
export function commandRefusal(
  { program, cwd }: Pick<CommandOptions, 'program' | 'cwd'>,
  { enabled, programs, directories }: CommandRules,
): { readonly field: 'kind' | 'program' | 'cwd'; readonly message: string; readonly allowed?: string } | null {
  if (!enabled)
    return {
      field: 'kind',
      message: 'is switched off on this server; the operator lists programs in executors.command of its file',
    }
  if (!programs.includes(program))
    return {
      ...{ field: 'program', message: 'is not one of the programs that the operator lets agents start' },
      allowed: programs.length === 0 ? 'none: executors.command.programs is empty' : programs.join(', '),
    }
  if (cwd !== null && !directories.some((directory) => isInside(cwd, directory)))
    return {
      ...{ field: 'cwd', message: 'is not in one of the directories that the operator lets programs start in' },
      allowed: directories.length === 0 ? 'none: executors.command.directories is empty' : directories.join(', '),
    }
  return null
}

/** Whether a path is the directory or below it. Both are absolute and without `..`. */
export function isInside(path: string, directory: string): boolean {
  const [inner, outer] = [path, directory].map((one) => `${one.replace(/\/+$/, '')}/`)
  return inner !== undefined && outer !== undefined && inner.startsWith(outer)
}

/** A text that is a template and nothing else becomes its value; every other text is what it is. */
const fillWord = (text: string, values: TemplateValues): string =>
  text.includes('{{') ? asText(fillJson(text, values)) : text

/** The arguments with their values. */
export const fillArgs = ({ args }: CommandOptions, values: TemplateValues): readonly string[] =>
  args.map((arg) => fillWord(arg, values))

/** The environment with its values. */
export const fillEnvironment = ({ env }: CommandOptions, values: TemplateValues): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fillWord(text, values)]))
