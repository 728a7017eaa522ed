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
