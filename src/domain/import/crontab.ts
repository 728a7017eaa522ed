/** A command that needs no shell. */
interface PlainCommand {
  readonly program: string
  readonly args: readonly string[]
}

/** Characters without a special meaning in shells. */
const PLAIN_CHARACTERS = String.raw`[A-Za-z0-9_./+@:,=%^-]+`
const PLAIN_WORD = new RegExp(String.raw`(?:${PLAIN_CHARACTERS}|'[^']*'|"[^"$\x60\\!]*")+`, 'uy')

/**
 * The program and arguments of a command line that needs no shell: an absolute path and words without shell syntax.
 * Null if the command needs a shell.
 */
export function plainCommand(command: string): PlainCommand | null {
  const words: string[] = []
  let at = 0
  while (at < command.length) {
    PLAIN_WORD.lastIndex = at
    const word = PLAIN_WORD.exec(command)?.[0]
    if (word === undefined) return null
    words.push(
      word.replaceAll(
        /'([^']*)'|"([^"]*)"/gu,
        (_, single: string | undefined, double: string | undefined) => single ?? double ?? '',
      ),
    )
    at += word.length
    const blank = /^[ \t]+/u.exec(command.slice(at))?.[0].length ?? 0
    if (blank === 0 && at < command.length) return null
    at += blank
  }
  const [program = '', ...args] = words
  return program.startsWith('/') && !program.split('/').includes('..') ? { program, args } : null
}

/** A parsed line of a crontab. Columns count from 1. */
export type CrontabLine = { readonly line: number; readonly text: string } & (
  | { readonly kind: 'blank' }
  | { readonly kind: 'comment'; readonly says: string }
  | { readonly kind: 'variable'; readonly name: string; readonly value: string }
  | CrontabJob
  | { readonly kind: 'bad'; readonly column: number; readonly message: string }
)

/** A line with a job. */
interface CrontabJob {
  readonly kind: 'job'
  /** The time fields or nickname, unchanged. */
  readonly cron: string
  /** The column at which they start. */
  readonly column: number
  /** The user field; null if the format has none. */
  readonly user: string | null
  readonly command: string
  /** The standard input: the text after an unescaped %; null if there is none. */
  readonly stdin: string | null
  /** Whether the line starts with a minus, which tells cron not to log it. */
  readonly isQuiet: boolean
}

interface CrontabOptions {
  /** Whether lines have a user field, as in /etc/crontab. */
  readonly system: boolean
}

const VARIABLE_PATTERN = /^\s*(?:(["'])(?<quoted>[^"'=]+)\1|(?<name>[A-Za-z_][A-Za-z0-9_]*))\s*=\s*(?<value>.*?)\s*$/u
const JOB_PATTERN = /^(?<lead>\s*)(?<quiet>-?)(?<cron>@\S+|\S+(?:[ \t]+\S+){4})(?<rest>(?:[ \t].*)?)$/u

/** Parses a crontab line by line. An invalid line becomes a line of kind `bad` and does not stop the others. */
export const parseCrontab = (text: string, options: CrontabOptions): readonly CrontabLine[] =>
  text
    .replace(/^\uFEFF/u, '')
    .split(/\r?\n/u)
    .map((line, index) => ({ ...parseCrontabLine(line, options), line: index + 1, text: line }))

type Unnumbered<Line> = Line extends unknown ? Omit<Line, 'line' | 'text'> : never

function parseCrontabLine(line: string, options: CrontabOptions): Unnumbered<CrontabLine> {
  const trimmed = line.trim()
  if (trimmed === '') return { kind: 'blank' }
  if (trimmed.startsWith('#')) return { kind: 'comment', says: trimmed.replace(/^#+\s?/u, '') }
  if (/^\s*["'A-Za-z_]/u.test(line)) return parseVariable(line)
  return parseCrontabJob(line, options)
}

function parseVariable(line: string): Unnumbered<CrontabLine> {
  const found = VARIABLE_PATTERN.exec(line)?.groups
  const column = line.length - line.trimStart().length + 1
  if (found === undefined)
    return badLine(
      column,
      'is neither a job nor NAME=value; a line starts with five time fields, a nickname such as @daily, or #',
    )
  return { kind: 'variable', name: found['quoted'] ?? found['name'] ?? '', value: unquoted(found['value'] ?? '') }
}

/** Removes quotes around a value. */
const unquoted = (value: string): string => /^(["'])(.*)\1$/u.exec(value)?.[2] ?? value

const badLine = (column: number, message: string): Unnumbered<CrontabLine> => ({ kind: 'bad', column, message })

function parseCrontabJob(line: string, { system }: CrontabOptions): Unnumbered<CrontabLine> {
  const found = JOB_PATTERN.exec(line)?.groups
  if (found === undefined)
    return badLine(
      line.trimEnd().length + 1,
      'has fewer than five time fields: minute, hour, day of month, month, day of week',
    )
  const { lead = '', quiet = '', cron = '', rest = '' } = found
  const column = lead.length + quiet.length + 1
  const after = column + cron.length
  const user = system ? /^\s*(\S+)/u.exec(rest) : null
  if (system && user === null) return badLine(after, 'has no user after its time fields')
  const commandText = rest.slice(user?.[0].length ?? 0)
  if (commandText.trim() === '')
    return badLine(
      line.trimEnd().length + 1,
      system ? 'has no command after its user' : 'has no command after its time fields',
    )
  const [command, stdin] = splitInput(commandText.trimStart())
  return {
    kind: 'job',
    cron,
    column,
    user: user?.[1] ?? null,
    command: command.trimEnd(),
    stdin,
    isQuiet: quiet === '-',
  }
}

/** The first % without a backslash ends the command. Further ones are line breaks in its standard input. */
function splitInput(text: string): readonly [command: string, stdin: string | null] {
  const [command = '', ...lines] = text.split(/(?<!\\)%/u).map((part) => part.replaceAll('\\%', '%'))
  return [command, lines.length === 0 ? null : `${lines.join('\n')}\n`]
}

/** A job with the variables above it and the comments directly before it. */
export interface PlannedJob {
  readonly line: number
  readonly text: string
  readonly cron: string
  readonly column: number
  /** The time zone that the file sets above the job; null if there is none. */
  readonly timezone: string | null
  readonly user: string | null
  readonly command: string
  readonly stdin: string | null
  readonly interpreter: string
  readonly env: Readonly<Record<string, string>>
  readonly description: string
  readonly notes: readonly string[]
  /** Identifies the job across versions of the file: its command, and the number of its occurrence in the file. */
  readonly identity: string
}

/** A line that does not become a schedule, and how it is handled. */
interface OtherLine {
  readonly line: number
  readonly text: string
  readonly outcome: 'taken' | 'left_out' | 'refused'
  readonly column: number | null
  readonly notes: readonly string[]
}

interface CrontabPlan {
  readonly jobs: readonly PlannedJob[]
  readonly others: readonly OtherLine[]
}

/** The defaults of cron. */
const DEFAULT_SHELL = '/bin/sh'
const DEFAULT_PATH = '/usr/bin:/bin'

interface CrontabPlanOptions {
  readonly system: boolean
  /** Whether the lines become prompts for an agent instead of commands on this machine. */
  readonly toAgent: boolean
}

interface PlanState {
  readonly options: CrontabPlanOptions
  readonly jobs: PlannedJob[]
  readonly others: OtherLine[]
  readonly variables: Map<string, string>
  comments: CrontabLine[]
  readonly counts: Map<string, number>
}

/** Plans the import of a crontab line by line, without checking whether schedules can be created. */
export function planCrontab(text: string, options: CrontabPlanOptions): CrontabPlan {
  const state: PlanState = { options, jobs: [], others: [], variables: new Map(), comments: [], counts: new Map() }
  for (const line of parseCrontab(text, options)) planLine(state, line)
  flushComments(state)
  return { jobs: state.jobs, others: [...state.others].sort((a, b) => a.line - b.line) }
}

function planLine(state: PlanState, line: CrontabLine): void {
  const { others } = state
  const source = { line: line.line, text: line.text }
  switch (line.kind) {
    case 'blank':
      flushComments(state)
      return
    case 'comment':
      state.comments.push(line)
      return
    case 'variable':
      flushComments(state)
      state.variables.set(line.name, line.value)
      others.push({ ...source, column: null, ...variableOutcome(line, state.options) })
      return
    case 'bad':
      flushComments(state)
      others.push({ ...source, outcome: 'refused', column: line.column, notes: [line.message] })
      return
    case 'job':
      if (/^@reboot$/iu.test(line.cron)) {
        flushComments(state)
        others.push({ ...source, outcome: 'refused', column: line.column, notes: [NO_REBOOT] })
        return
      }
      planJob(state, line)
  }
}

const NO_REBOOT =
  '@reboot is not supported: a schedule cannot wait for the machine to start. Use the init system, such as a systemd unit'

function planJob(state: PlanState, line: Extract<CrontabLine, { readonly kind: 'job' }>): void {
  const { variables, comments, options, counts } = state
  const commentTexts = comments.flatMap((comment) => (comment.kind === 'comment' ? [comment.says] : []))
  for (const comment of comments)
    state.others.push({
      ...{ line: comment.line, text: comment.text, column: null, outcome: 'taken' },
      notes: [`used as the description of line ${line.line}`],
    })
  state.comments = []
  const identity = JSON.stringify([line.user, line.command, line.stdin])
  const count = (counts.get(identity) ?? 0) + 1
  counts.set(identity, count)
  const zone = variables.get('CRON_TZ') ?? variables.get('TZ') ?? null
  state.jobs.push({
    ...{ line: line.line, text: line.text, cron: line.cron, column: line.column, user: line.user },
    ...{ command: line.command, stdin: line.stdin, timezone: zone === null ? null : zone.replace(/^:/u, '') },
    interpreter: variables.get('SHELL') ?? DEFAULT_SHELL,
    env: commandEnvironment(variables),
    description: commentTexts.join('\n').trim(),
    notes: jobNotes(line, options),
    identity: `${identity} ${count}`,
  })
}

function jobNotes(
  { user, isQuiet }: Extract<CrontabLine, { readonly kind: 'job' }>,
  { toAgent }: CrontabPlanOptions,
): readonly string[] {
  return [
    ...(user === null || toAgent
      ? []
      : [`the user ${user} is not carried over: programs run as the user of the server`]),
    ...(isQuiet ? ['the leading minus (no entry in the cron log) has no effect here'] : []),
  ]
}

/** Variables for cron itself, which are not part of the environment of commands. */
const CRON_VARIABLES = [
  'CRON_TZ',
  'MAILTO',
  'MAILFROM',
  'SHELL',
  'RANDOM_DELAY',
  'START_HOURS_RANGE',
  'CONTENT_TYPE',
  'CONTENT_TRANSFER_ENCODING',
]

const commandEnvironment = (variables: ReadonlyMap<string, string>): Readonly<Record<string, string>> => ({
  PATH: DEFAULT_PATH,
  ...Object.fromEntries([...variables].filter(([name]) => !CRON_VARIABLES.includes(name))),
})

type LineOutcome = Pick<OtherLine, 'outcome' | 'notes'>

function variableOutcome(
  { name, value }: { readonly name: string; readonly value: string },
  { toAgent }: CrontabPlanOptions,
): LineOutcome {
  const used = (note: string): LineOutcome => ({ outcome: 'taken', notes: [note] })
  const leftOut = (note: string): LineOutcome => ({ outcome: 'left_out', notes: [note] })
  if (name === 'CRON_TZ') return used(`the lines below use the time zone ${value}`)
  if (name === 'TZ') return used(`the lines below use the time zone ${value}, unless CRON_TZ is set`)
  if (name === 'MAILTO' || name === 'MAILFROM')
    return value === ''
      ? leftOut('no mail is sent')
      : leftOut('output is stored with the run; to send it, create a target and import with --deliver-to')
  if (name === 'RANDOM_DELAY') return leftOut('not carried over: set jitter_ms of the schedule instead')
  if (CRON_VARIABLES.includes(name) && name !== 'SHELL') return leftOut('has no effect here')
  if (toAgent) return leftOut('not carried over: the agent has its own environment')
  if (name === 'SHELL') return used('used to run commands that need a shell')
  return used('set in the environment of the commands below')
}

/** Reports comments that are not directly before a job, such as headings and disabled lines. */
function flushComments(state: PlanState): void {
  for (const { line, text } of state.comments)
    state.others.push({
      ...{ line, text, column: null, outcome: 'left_out' },
      notes: ['a comment that is not directly before a job'],
    })
  state.comments = []
}
