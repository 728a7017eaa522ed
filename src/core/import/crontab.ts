/** One line of a crontab, as cron reads it. Columns count from 1. */
export type CrontabLine = { readonly line: number; readonly text: string } & (
  | { readonly kind: 'blank' }
  | { readonly kind: 'comment'; readonly says: string }
  | { readonly kind: 'variable'; readonly name: string; readonly value: string }
  | CrontabJob
  | { readonly kind: 'bad'; readonly column: number; readonly message: string }
)

/** A line that runs something. */
export interface CrontabJob {
  readonly kind: 'job'
  /** The time fields or the nickname, as they stand. */
  readonly cron: string
  /** Where they begin. */
  readonly column: number
  /** Whose command it is; null where lines have no such field. */
  readonly user: string | null
  readonly command: string
  /** What the command reads, of the part behind an unescaped %; null: nothing. */
  readonly stdin: string | null
  /** Whether a minus in front asked cron not to write a line into the log. */
  readonly isQuiet: boolean
}

export interface CrontabOptions {
  /** Whether lines have a field for the user, as /etc/crontab has. */
  readonly system: boolean
}

const VARIABLE = /^\s*(?:(["'])(?<quoted>[^"'=]+)\1|(?<name>[A-Za-z_][A-Za-z0-9_]*))\s*=\s*(?<value>.*?)\s*$/u
const FIELDS = /^(?<lead>\s*)(?<quiet>-?)(?<cron>@\S+|\S+(?:[ \t]+\S+){4})(?<rest>(?:[ \t].*)?)$/u

/** Reads a crontab line by line. What cannot be read says where and why; the other lines are read all the same. */
export const readCrontab = (text: string, options: CrontabOptions): readonly CrontabLine[] =>
  text
    .replace(/^\uFEFF/u, '')
    .split(/\r?\n/u)
    .map((line, index) => ({ ...readLine(line, options), line: index + 1, text: line }))

type Read<Line> = Line extends unknown ? Omit<Line, 'line' | 'text'> : never

function readLine(line: string, options: CrontabOptions): Read<CrontabLine> {
  const trimmed = line.trim()
  if (trimmed === '') return { kind: 'blank' }
  if (trimmed.startsWith('#')) return { kind: 'comment', says: trimmed.replace(/^#+\s?/u, '') }
  if (/^\s*["'A-Za-z_]/u.test(line)) return readVariable(line)
  return readJob(line, options)
}

function readVariable(line: string): Read<CrontabLine> {
  const found = VARIABLE.exec(line)?.groups
  const column = line.length - line.trimStart().length + 1
  if (found === undefined)
    return bad(
      column,
      'is neither a time nor NAME=value; a line begins with five time fields, @daily or the like, or #',
    )
  return { kind: 'variable', name: found['quoted'] ?? found['name'] ?? '', value: unquoted(found['value'] ?? '') }
}

/** Quotes around a value are not part of it; they keep its blanks. */
const unquoted = (value: string): string => /^(["'])(.*)\1$/u.exec(value)?.[2] ?? value

const bad = (column: number, message: string): Read<CrontabLine> => ({ kind: 'bad', column, message })

function readJob(line: string, { system }: CrontabOptions): Read<CrontabLine> {
  const found = FIELDS.exec(line)?.groups
  if (found === undefined)
    return bad(
      line.trimEnd().length + 1,
      'ends before its five time fields: minute, hour, day of month, month, day of week',
    )
  const { lead = '', quiet = '', cron = '', rest = '' } = found
  const column = lead.length + quiet.length + 1
  const after = column + cron.length
  const user = system ? /^\s*(\S+)/u.exec(rest) : null
  if (system && user === null) return bad(after, 'has no user behind its time fields')
  const commandText = rest.slice(user?.[0].length ?? 0)
  if (commandText.trim() === '')
    return bad(
      line.trimEnd().length + 1,
      system ? 'has no command behind its user' : 'has no command behind its time fields',
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

/** The first % that has no backslash in front ends the command; the others are line breaks of what it reads. */
function splitInput(text: string): readonly [command: string, stdin: string | null] {
  const [command = '', ...lines] = text.split(/(?<!\\)%/u).map((part) => part.replaceAll('\\%', '%'))
  return [command, lines.length === 0 ? null : `${lines.join('\n')}\n`]
}

/** What is known of a job when its line comes: the variables above it and the remarks in front of it. */
export interface PlannedJob {
  readonly line: number
  readonly text: string
  readonly cron: string
  readonly column: number
  /** The zone that the file names above it; null: none. */
  readonly timezone: string | null
  readonly user: string | null
  readonly command: string
  readonly stdin: string | null
  readonly interpreter: string
  readonly env: Readonly<Record<string, string>>
  readonly description: string
  readonly notes: readonly string[]
  /** Names the job in this and every later version of the file: what it runs, and the how manieth that does. */
  readonly identity: string
}

/** A line that is no schedule, and what becomes of it. */
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

/** As cron has them. */
const USUAL_SHELL = '/bin/sh'
const USUAL_PATH = '/usr/bin:/bin'

interface CrontabPlanOptions {
  readonly system: boolean
  /** Whether an agent gets the lines as prompts, so that nothing of this machine is started. */
  readonly toAgent: boolean
}

interface Reading {
  readonly options: CrontabPlanOptions
  readonly jobs: PlannedJob[]
  readonly others: OtherLine[]
  readonly variables: Map<string, string>
  comments: CrontabLine[]
  readonly counts: Map<string, number>
}

/** What a crontab asks for, line by line, before anybody has looked whether it can be had. */
export function planCrontab(text: string, options: CrontabPlanOptions): CrontabPlan {
  const reading: Reading = { options, jobs: [], others: [], variables: new Map(), comments: [], counts: new Map() }
  for (const line of readCrontab(text, options)) takeLine(reading, line)
  dropComments(reading)
  return { jobs: reading.jobs, others: [...reading.others].sort((a, b) => a.line - b.line) }
}

function takeLine(reading: Reading, line: CrontabLine): void {
  const { others } = reading
  const place = { line: line.line, text: line.text }
  switch (line.kind) {
    case 'blank':
      dropComments(reading)
      return
    case 'comment':
      reading.comments.push(line)
      return
    case 'variable':
      dropComments(reading)
      reading.variables.set(line.name, line.value)
      others.push({ ...place, column: null, ...variableOutcome(line, reading.options) })
      return
    case 'bad':
      dropComments(reading)
      others.push({ ...place, outcome: 'refused', column: line.column, notes: [line.message] })
      return
    case 'job':
      if (/^@reboot$/iu.test(line.cron)) {
        dropComments(reading)
        others.push({ ...place, outcome: 'refused', column: line.column, notes: [NO_REBOOT] })
        return
      }
      takeJob(reading, line)
  }
}

const NO_REBOOT =
  '@reboot is no moment of a clock: a schedule has no start of the machine to wait for. Let what starts this machine start it, such as a unit of systemd'

function takeJob(reading: Reading, line: Extract<CrontabLine, { readonly kind: 'job' }>): void {
  const { variables, comments, options, counts } = reading
  const says = comments.flatMap((comment) => (comment.kind === 'comment' ? [comment.says] : []))
  for (const comment of comments)
    reading.others.push({
      ...{ line: comment.line, text: comment.text, column: null, outcome: 'taken' },
      notes: [`describes line ${line.line}`],
    })
  reading.comments = []
  const identity = JSON.stringify([line.user, line.command, line.stdin])
  const count = (counts.get(identity) ?? 0) + 1
  counts.set(identity, count)
  const zone = variables.get('CRON_TZ') ?? variables.get('TZ') ?? null
  reading.jobs.push({
    ...{ line: line.line, text: line.text, cron: line.cron, column: line.column, user: line.user },
    ...{ command: line.command, stdin: line.stdin, timezone: zone === null ? null : zone.replace(/^:/u, '') },
    interpreter: variables.get('SHELL') ?? USUAL_SHELL,
    env: environmentOf(variables),
    description: says.join('\n').trim(),
    notes: notesOf(line, options),
    identity: `${identity} ${count}`,
  })
}

function notesOf(
  { user, isQuiet }: Extract<CrontabLine, { readonly kind: 'job' }>,
  { toAgent }: CrontabPlanOptions,
): readonly string[] {
  return [
    ...(user === null || toAgent
      ? []
      : [`the user ${user} is not carried over: programs run as the user of the server`]),
    ...(isQuiet ? ['the minus in front (no line in the log of cron) means nothing here'] : []),
  ]
}

/** Variables that speak to cron and not to the command. */
const FOR_CRON = [
  'CRON_TZ',
  'MAILTO',
  'MAILFROM',
  'SHELL',
  'RANDOM_DELAY',
  'START_HOURS_RANGE',
  'CONTENT_TYPE',
  'CONTENT_TRANSFER_ENCODING',
]

const environmentOf = (variables: ReadonlyMap<string, string>): Readonly<Record<string, string>> => ({
  PATH: USUAL_PATH,
  ...Object.fromEntries([...variables].filter(([name]) => !FOR_CRON.includes(name))),
})

type Outcome = Pick<OtherLine, 'outcome' | 'notes'>

function variableOutcome(
  { name, value }: { readonly name: string; readonly value: string },
  { toAgent }: CrontabPlanOptions,
): Outcome {
  const taken = (note: string): Outcome => ({ outcome: 'taken', notes: [note] })
  const left = (note: string): Outcome => ({ outcome: 'left_out', notes: [note] })
  if (name === 'CRON_TZ') return taken(`the lines below are read in ${value}`)
  if (name === 'TZ') return taken(`the lines below are read in ${value}, unless CRON_TZ says otherwise`)
  if (name === 'MAILTO' || name === 'MAILFROM')
    return value === ''
      ? left('no mail is sent in any case')
      : left('output is kept with the run; to have it sent, make a target and import with it (--deliver-to)')
  if (name === 'RANDOM_DELAY') return left('not carried over: a schedule has jitter_ms of its own')
  if (FOR_CRON.includes(name) && name !== 'SHELL') return left('means nothing here')
  if (toAgent) return left('not carried over: the agent has an environment of its own')
  if (name === 'SHELL') return taken('commands that need a shell are started with it')
  return taken('part of the environment of the commands below')
}

/** Remarks in front of nothing: headings, and lines that somebody has switched off. */
function dropComments(reading: Reading): void {
  for (const { line, text } of reading.comments)
    reading.others.push({
      ...{ line, text, column: null, outcome: 'left_out' },
      notes: ['a comment in front of no job'],
    })
  reading.comments = []
}
