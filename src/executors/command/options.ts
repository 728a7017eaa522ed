import { addAll } from '../../domain/long-lists.ts'
import { flawed, parsed, parseInteger, parseWord, type Flaw, type Parsed } from '../../domain/input.ts'
import { unknownOptions } from '../kind.ts'
import { MASK } from '../../domain/secret/mask.ts'
import { asText, fillJson, templateFlaws, type TemplateValues } from '../template.ts'

/** The programs and directories that the operator allows; none by default. */
export interface CommandRules {
  readonly enabled: boolean
  readonly programs: readonly string[]
  readonly directories: readonly string[]
}

/** No program is allowed. */
export const NO_COMMANDS: CommandRules = { enabled: false, programs: [], directories: [] }

/** The stored options of a command agent. */
export interface CommandOptions {
  readonly kind: 'command'
  readonly program: string
  /** Passed to the program one by one, without a shell. */
  readonly args: readonly string[]
  /** Null: the first of the allowed directories. */
  readonly cwd: string | null
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>
  /** Null: the dispatch that HTTP agents get. */
  readonly stdin: unknown
  /** Larger output is a failure. */
  readonly output_bytes: number
  /** How its arguments, input and output are those of a known agent; null: it reads a dispatch and prints a result. */
  readonly preset: CommandPreset | null
  /** Whether the next run of a session resumes the session that the program reported. */
  readonly resume: boolean
  /** The service that the secrets in `env` belong to; null: that of the preset. */
  readonly service: string | null
}

/** Agents for the command line whose output is understood. */
export const COMMAND_PRESETS = ['codex', 'claude', 'gemini', 'json-lines'] as const
export type CommandPreset = (typeof COMMAND_PRESETS)[number]

/** The service that a preset sends its key to. */
const PRESET_SERVICES: Readonly<Record<CommandPreset, string | null>> = {
  codex: 'https://api.openai.com',
  claude: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com',
  'json-lines': null,
}

/** The URL that the secrets of a program must be allowed for; null: it may have none. */
export const serviceOf = ({ preset, service }: Pick<CommandOptions, 'preset' | 'service'>): string | null =>
  service ?? (preset === null ? null : PRESET_SERVICES[preset])

const FIELDS = [
  ...(['kind', 'preset', 'program', 'args', 'cwd', 'env', 'stdin', 'output_bytes', 'resume', 'service'] as const),
] as const
export const MAX_COMMAND_ARGS = 200
const MAX_TEXT_LENGTH = 65_536
export const MAX_PATH_LENGTH = 4_096
export const MAX_PROGRAM_OUTPUT_BYTES = 1_048_576
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/
const MAX_VARIABLES = 100

type Given = Readonly<Record<string, unknown>>

/** Reads the options of a command agent and reports all flaws. */
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
  const preset = keep<CommandPreset | null>('preset', (name, value) => parseWord(name, value, COMMAND_PRESETS), null)
  const options: CommandOptions = {
    kind: 'command',
    preset,
    resume: keep('resume', parseResume(preset), false),
    service: keep<string | null>('service', parseService(preset), null),
    program: keep('program', parsePath, ''),
    args: keep('args', parseArgs, []),
    cwd: keep<string | null>('cwd', parsePath, null),
    env: keep('env', preset === null ? parseEnvironment : parseSecretEnvironment, {}),
    stdin: keep('stdin', preset === null ? parseStdin : refuseStdin, null),
    output_bytes: keep(
      'output_bytes',
      (name, value) => parseInteger(name, value, { min: 1, max: MAX_PROGRAM_OUTPUT_BYTES }),
      MAX_PROGRAM_OUTPUT_BYTES,
    ),
  }
  if (preset !== null && Object.keys(options.env).length > 0 && serviceOf(options) === null)
    flaws.push({
      ...{ field: `${field}.service`, value: undefined, message: 'is required for secrets in env' },
      allowed: SERVICE_ALLOWED,
    })
  return flaws.length > 0 ? flawed(flaws) : parsed(options)
}

const parseResume =
  (preset: CommandPreset | null) =>
  (field: string, value: unknown): Parsed<boolean> => {
    if (typeof value !== 'boolean')
      return flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })
    return value && preset === null
      ? flawed({ field, value, message: 'requires a preset', allowed: `preset: ${COMMAND_PRESETS.join(', ')}` })
      : parsed(value)
  }

const SERVICE_ALLOWED = 'the URL of the service that the secrets belong to, such as https://api.example.com'

const parseService =
  (preset: CommandPreset | null) =>
  (field: string, value: unknown): Parsed<string> => {
    if (preset === null)
      return flawed({ field, value, message: 'requires a preset', allowed: `preset: ${COMMAND_PRESETS.join(', ')}` })
    const isUrl = typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)
    return isUrl && value.length <= MAX_PATH_LENGTH
      ? parsed(value)
      : flawed({ field, value, message: 'is not a URL', allowed: SERVICE_ALLOWED })
  }

const refuseStdin = (field: string, value: unknown): Parsed<null> =>
  flawed({ field, value, message: 'cannot be set with a preset: the program reads the prompt' })

/** With a preset, every variable is a secret: its value is opened for the service just before the start. */
function parseSecretEnvironment(field: string, value: unknown): Parsed<Readonly<Record<string, string>>> {
  const allowed = 'an object of variable names and {{secret:NAME}}'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value: undefined, message: 'must be an object', allowed })
  const entries = Object.entries(value as Given)
  if (entries.length > MAX_VARIABLES)
    return flawed({ field, value: undefined, message: `has more than ${MAX_VARIABLES} variables`, allowed })
  const flaws = entries.flatMap(([name, text]): readonly Flaw[] => {
    const of = `${field}.${name}`
    if (!VARIABLE.test(name) || RESERVED_VARIABLES.includes(name))
      return [{ field: of, value: undefined, message: 'is not a variable that can be set' }]
    // The value is not shown, because it may be a credential.
    if (typeof text !== 'string' || !/^\{\{\s*secret:[^{}]*\}\}$/.test(text))
      return [{ field: of, value: undefined, message: 'must be a single secret: {{secret:NAME}}', allowed }]
    return templateFlaws(of, text, { secrets: true }).map((flaw) => ({ ...flaw, value: undefined }))
  })
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, string>>)
}

/** Escapement sets these itself. */
const RESERVED_VARIABLES: readonly string[] = ['HOME', 'PATH', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'NODE_OPTIONS']

const PATH_ALLOWED = 'an absolute path without ..'

function parsePath(field: string, value: unknown): Parsed<string> {
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed: PATH_ALLOWED })
  const isPlain = value.startsWith('/') && !value.split('/').includes('..') && !value.includes('\u0000')
  if (!isPlain || value.length > MAX_PATH_LENGTH)
    return flawed({ field, value, message: 'is not an absolute path', allowed: PATH_ALLOWED })
  return value.includes('{{') ? flawed({ field, value, message: 'must not contain a template' }) : parsed(value)
}

/** A template must be the whole argument, so that a payload cannot add anything to the surrounding text. */
function templateTextFlaws(field: string, value: unknown): readonly Flaw[] {
  const allowed = 'a text, or a single template such as {{payload.x}}'
  if (typeof value !== 'string') return [{ field, value, message: 'must be a text', allowed }]
  if (value.includes('\u0000') || value.length > MAX_TEXT_LENGTH)
    return [{ field, value: undefined, message: 'is too long or contains NUL', allowed }]
  if (!value.includes('{{')) return []
  if (!/^\{\{[^{}]*\}\}$/.test(value))
    return [{ field, value, message: 'mixes a template with other text; use the template alone', allowed }]
  return templateFlaws(field, value)
}

function parseArgs(field: string, value: unknown): Parsed<readonly string[]> {
  const allowed = `up to ${MAX_COMMAND_ARGS} texts, one per argument`
  if (!Array.isArray(value) || value.length > MAX_COMMAND_ARGS)
    return flawed({ field, value, message: 'must be a list of arguments', allowed })
  const flaws = value.flatMap((arg: unknown, index) => templateTextFlaws(`${field}.${index}`, arg))
  return flaws.length > 0 ? flawed(flaws) : parsed(value as readonly string[])
}

function parseEnvironment(field: string, value: unknown): Parsed<Readonly<Record<string, string>>> {
  const allowed = 'an object of variable names and values'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const entries = Object.entries(value as Given)
  if (entries.length > MAX_VARIABLES)
    return flawed({ field, value: undefined, message: `has more than ${MAX_VARIABLES} variables`, allowed })
  const flaws = entries.flatMap(([name, text]) => {
    const of = `${field}.${name}`
    if (!VARIABLE.test(name)) return [{ field: of, value: undefined, message: 'is not a valid variable name' }]
    if (text === MASK) return [{ field: of, value: undefined, message: 'is masked; send the actual value' }]
    // The value is not shown, because it may be a credential.
    return templateTextFlaws(of, text).map((flaw) => ({ ...flaw, value: undefined }))
  })
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, string>>)
}

function parseStdin(field: string, value: unknown): Parsed<unknown> {
  if (JSON.stringify(value).length > MAX_TEXT_LENGTH)
    return flawed({ field, value: undefined, message: 'is too long', allowed: `up to ${MAX_TEXT_LENGTH} characters` })
  const flaws = textsIn(value).flatMap((text) => templateFlaws(field, text))
  return flaws.length > 0 ? flawed(flaws) : parsed(value)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/**
 * Why the operator's rules refuse this agent; null when they do not. Checked when the agent is saved and again with
 * every start.
 */
export function commandRefusal(
  { program, cwd }: Pick<CommandOptions, 'program' | 'cwd'>,
  { enabled, programs, directories }: CommandRules,
): { readonly field: 'kind' | 'program' | 'cwd'; readonly message: string; readonly allowed?: string } | null {
  if (!enabled)
    return {
      field: 'kind',
      message: 'is disabled on this server; the operator can enable it in executors.command of the configuration file',
    }
  if (!programs.includes(program))
    return {
      ...{ field: 'program', message: 'is not one of the allowed programs' },
      allowed: programs.length === 0 ? 'none: executors.command.programs is empty' : programs.join(', '),
    }
  if (cwd !== null && !directories.some((directory) => isInside(cwd, directory)))
    return {
      ...{ field: 'cwd', message: 'is not in one of the allowed directories' },
      allowed: directories.length === 0 ? 'none: executors.command.directories is empty' : directories.join(', '),
    }
  return null
}

/** Whether a path is the directory or below it; both must be absolute and without `..`. */
export function isInside(path: string, directory: string): boolean {
  const [inner, outer] = [path, directory].map((one) => `${one.replace(/\/+$/, '')}/`)
  return inner !== undefined && outer !== undefined && inner.startsWith(outer)
}

/** Fills a text that is a single template with its value; other texts stay as they are. */
const fillTemplateText = (text: string, values: TemplateValues): string =>
  text.includes('{{') ? asText(fillJson(text, values)) : text

export const fillArgs = ({ args }: CommandOptions, values: TemplateValues): readonly string[] =>
  args.map((arg) => fillTemplateText(arg, values))

export const fillEnvironment = ({ env }: CommandOptions, values: TemplateValues): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fillTemplateText(text, values)]))
