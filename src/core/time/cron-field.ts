import { addAll } from '../../domain/long-lists.ts'
/** What is wrong with one field; the grammar adds the name under which the user sent the text. */
export interface Complaint {
  readonly message: string
  readonly allowed: string
  /** Where in the whole text. */
  readonly position: number
}

/** A piece of the expression and where it stands in it. */
export interface Piece {
  readonly text: string
  readonly position: number
}

export interface FieldRule {
  readonly name: string
  readonly allowed: string
  readonly min: number
  readonly max: number
  /** The last value that `*` and `a/n` reach. Differs from `max` where Sunday is also 7. */
  readonly end: number
  readonly names: readonly string[]
  /** `?` stands for `*` in the two day fields. */
  readonly questionMark: boolean
}

const WEEKDAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const MONTH_NAMES = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const PLAIN = { names: [], questionMark: false }

export const SECOND: FieldRule = { ...PLAIN, name: 'second', allowed: '0-59', min: 0, max: 59, end: 59 }
export const MINUTE: FieldRule = { ...PLAIN, name: 'minute', allowed: '0-59', min: 0, max: 59, end: 59 }
export const HOUR: FieldRule = { ...PLAIN, name: 'hour', allowed: '0-23', min: 0, max: 23, end: 23 }
export const DAY_OF_MONTH: FieldRule = {
  name: 'day of month',
  allowed: '1-31, L, L-n, LW or nW',
  min: 1,
  max: 31,
  end: 31,
  names: [],
  questionMark: true,
}
export const MONTH: FieldRule = {
  name: 'month',
  allowed: '1-12 or JAN-DEC',
  min: 1,
  max: 12,
  end: 12,
  names: MONTH_NAMES,
  questionMark: false,
}
export const DAY_OF_WEEK: FieldRule = {
  name: 'day of week',
  allowed: '0-7 or SUN-SAT, nL or n#k',
  min: 0,
  max: 7,
  end: 6,
  names: WEEKDAY_NAMES,
  questionMark: true,
}
export const YEAR: FieldRule = { ...PLAIN, name: 'year', allowed: '1970-2199', min: 1970, max: 2199, end: 2199 }

export const isComplaint = (answer: object | number): answer is Complaint =>
  typeof answer === 'object' && 'message' in answer

/** `trouble` reads on after the offending text; `allowed` is said by the rule unless the trouble has its own. */
export function complain(rule: FieldRule, piece: Piece, trouble: string | Trouble): Complaint {
  const { text, allowed = rule.allowed } = typeof trouble === 'string' ? { text: trouble } : trouble
  const said = piece.text === '' ? text : `${piece.text} ${text}`
  return { message: `${rule.name} ${said}`, allowed, position: piece.position }
}

interface Trouble {
  readonly text: string
  readonly allowed?: string
}

/** Cuts a piece at a character and keeps track of where the parts stand. */
export function cut(piece: Piece, separator: string): readonly Piece[] {
  if (!piece.text.includes(separator)) return [piece]
  let position = piece.position
  return piece.text.split(separator).map((text) => {
    const part = { text, position }
    position += text.length + separator.length
    return part
  })
}

/** The values of a comma list in which only the common items occur. */
export function parseList(rule: FieldRule, field: Piece): readonly number[] | Complaint {
  const values: number[] = []
  for (const item of cut(field, ',')) {
    const found = parseItem(rule, item)
    if (isComplaint(found)) return found
    addAll(values, found)
  }
  return values
}

/** The values of one item: `*`, `a`, `a-b`, `a/n`, `*` + `/n`, `a-b/n`. */
export function parseItem(rule: FieldRule, item: Piece): readonly number[] | Complaint {
  if (item.text === '') return complain(rule, item, 'has an empty item')
  const [base = item, stepPiece, ...more] = cut(item, '/')
  if (more.length > 0) return complain(rule, item, 'has more than one step')
  if (base.text === '')
    return complain(rule, item, { text: 'has nothing in front of its step', allowed: `*/n, a/n or a-b/n` })
  const step = stepPiece === undefined ? 1 : parseStep(rule, stepPiece)
  if (isComplaint(step)) return step
  const range = parseRange(rule, base, stepPiece !== undefined)
  if (isComplaint(range)) return range
  const values: number[] = []
  for (let value = range.from; value <= range.to; value += step) values.push(value)
  return values
}

function parseStep(rule: FieldRule, piece: Piece): number | Complaint {
  const allowed = `a step from 1 to ${rule.max}`
  if (!/^\d+$/.test(piece.text)) return complain(rule, piece, { text: 'is not a step', allowed })
  const step = Number(piece.text)
  if (step === 0) return complain(rule, piece, { text: 'is a step of nothing', allowed })
  return step > rule.max ? complain(rule, piece, { text: `is a step above ${rule.max}`, allowed }) : step
}

interface Range {
  readonly from: number
  readonly to: number
}

function parseRange(rule: FieldRule, base: Piece, stepped: boolean): Range | Complaint {
  if (base.text === '*' || (base.text === '?' && rule.questionMark)) return { from: rule.min, to: rule.end }
  const [first = base, last, ...more] = cut(base, '-')
  if (more.length > 0) return complain(rule, base, 'is more than one range')
  const from = parseValue(rule, first)
  if (isComplaint(from)) return from
  if (last === undefined) return stepped ? openRange(rule, from) : { from, to: from }
  const to = isSunday(rule, last) ? 7 : parseValue(rule, last)
  if (isComplaint(to)) return to
  return from > to
    ? complain(rule, base, { text: 'runs backwards', allowed: 'a range from a smaller to a larger value' })
    : { from, to }
}

/** `7/n` is `0/n`: as a beginning, Sunday is the first day of the week. */
const openRange = (rule: FieldRule, from: number): Range => ({ from: from > rule.end ? rule.min : from, to: rule.end })

/** `SUN` at the end of a range closes the week, `THU-SUN`. */
const isSunday = (rule: FieldRule, piece: Piece): boolean =>
  rule.names === WEEKDAY_NAMES && piece.text.toUpperCase() === 'SUN'

/** One number or name. */
export function parseValue(rule: FieldRule, piece: Piece): number | Complaint {
  if (piece.text === '') return complain(rule, piece, 'lacks a value')
  if (!/^\d+$/.test(piece.text)) {
    const index = rule.names.indexOf(piece.text.toUpperCase())
    return index < 0 ? complain(rule, piece, 'is not understood') : index + rule.min
  }
  const value = Number(piece.text)
  if (value < rule.min) return complain(rule, piece, `is below ${rule.min}`)
  return value > rule.max ? complain(rule, piece, `is above ${rule.max}`) : value
}
