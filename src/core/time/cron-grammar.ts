import { addAll } from '../../domain/long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'
import { hasPlus, parseDays } from './cron-days.ts'
import { bitMask, sharedDayRule, sixtyBits, yearTable, type CronExpression } from '../../domain/time/cron-expression.ts'
import {
  HOUR,
  isComplaint,
  MINUTE,
  MONTH,
  parseList,
  SECOND,
  YEAR,
  type Complaint,
  type FieldRule,
  type Piece,
} from './cron-field.ts'

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const SHAPE = '5 fields (minute hour day-of-month month day-of-week), 6 with a second in front, 7 with a year behind'

/** No expression a person writes is longer; a limit keeps the work for a hostile one small. */
export const MAX_CRON_LENGTH = 4000

/** Reads an expression. Each field that is wrong yields one flaw, with its place in the text. */
export function parseCron(field: string, value: unknown): Parsed<CronExpression> {
  if (typeof value !== 'string')
    return flawed({ field, value, message: 'must be a cron expression', allowed: SHAPE, position: 0 })
  const flaw = (complaint: Complaint): Flaw => ({ field, value, ...complaint })
  if (value.length > MAX_CRON_LENGTH)
    return flawed(
      flaw({ message: 'is too long', allowed: `up to ${MAX_CRON_LENGTH} characters`, position: MAX_CRON_LENGTH }),
    )
  const pieces = splitFields(value)
  const nickname = pieces[0]
  if (nickname?.text.startsWith('@') === true) {
    const meaning = pieces.length === 1 ? NICKNAMES[nickname.text.toLowerCase()] : undefined
    if (meaning !== undefined) return parseNickname(field, nickname.text, meaning)
    const message = `${value.trim()} is not a known nickname`
    return flawed(flaw({ message, allowed: Object.keys(NICKNAMES).join(', '), position: nickname.position }))
  }
  const fields = nameFields(pieces)
  if (fields === null) return flawed(flaw(wrongCount(pieces, value)))
  const found = parseFields(value.trim(), fields)
  return 'text' in found ? parsed(found) : flawed(found.map(flaw))
}

function parseNickname(field: string, text: string, meaning: string): Parsed<CronExpression> {
  const expression = parseCron(field, meaning)
  return expression.ok ? parsed({ ...expression.value, text }) : expression
}

/** Spaces and tabs separate. Other blanks are characters like any other and get refused where they stand. */
const splitFields = (text: string): readonly Piece[] =>
  [...text.matchAll(/[^ \t]+/g)].map((match) => ({ text: match[0], position: match.index }))

function wrongCount(pieces: readonly Piece[], text: string): Complaint {
  const position = pieces.length > 7 ? (pieces[7]?.position ?? 0) : text.length
  const count = pieces.length === 1 ? '1 field' : `${pieces.length} fields`
  return { message: pieces.length === 0 ? 'is empty' : `has ${count}`, allowed: SHAPE, position }
}

interface Fields {
  readonly second: Piece
  readonly minute: Piece
  readonly hour: Piece
  readonly dayOfMonth: Piece
  readonly month: Piece
  readonly dayOfWeek: Piece
  readonly year: Piece
}

function nameFields(pieces: readonly Piece[]): Fields | null {
  const absent = (text: string): Piece => ({ text, position: 0 })
  const all = [...(pieces.length === 5 ? [absent('0')] : []), ...pieces, ...(pieces.length < 7 ? [absent('*')] : [])]
  const [second, minute, hour, dayOfMonth, month, dayOfWeek, year] = all
  if (all.length !== 7 || second === undefined || minute === undefined || hour === undefined) return null
  if (dayOfMonth === undefined || month === undefined || dayOfWeek === undefined || year === undefined) return null
  return { second, minute, hour, dayOfMonth, month, dayOfWeek, year }
}

function parseFields(text: string, fields: Fields): CronExpression | readonly Complaint[] {
  const complaints: Complaint[] = []
  const read = (rule: FieldRule, piece: Piece): readonly number[] => {
    const found = parseList(rule, piece)
    if (!isComplaint(found)) return found
    complaints.push(found)
    return []
  }
  const second = read(SECOND, fields.second)
  const minute = read(MINUTE, fields.minute)
  const hour = read(HOUR, fields.hour)
  const days = parseDays(fields.dayOfMonth, fields.dayOfWeek)
  if (!('weekdays' in days)) addAll(complaints, days)
  const months = read(MONTH, fields.month)
  // Nearly every expression; two hundred years need not be listed to find out that all of them are meant.
  const years = fields.year.text === '*' ? null : read(YEAR, fields.year)
  if (complaints.length > 0 || !('weekdays' in days)) return complaints.sort((a, b) => a.position - b.position)
  return {
    text,
    second: sixtyBits(second),
    minute: sixtyBits(minute),
    hour: bitMask(hour),
    days: sharedDayRule({
      ...days,
      months: bitMask(months.map((month) => month - 1)),
      years: years === null ? null : yearTable(years),
      bothDays: hasPlus(fields.dayOfMonth) || hasPlus(fields.dayOfWeek),
    }),
    interval: [fields.second, fields.minute, fields.hour].some((piece) => /[*/-]/.test(piece.text)),
  }
}
