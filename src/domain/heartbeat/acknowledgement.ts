import { HEARTBEAT_TOKEN } from './heartbeat-config.ts'

/**
 * Finds the acknowledgement in a reply. Models decorate the token (bold, code, fences, punctuation), so decoration of
 * the token is removed with it, and decoration of the other text stays. A mark is removed only together with its
 * counterpart on the other side of the token; `**HEARTBEAT_OK: a b**` becomes `**a b**`.
 *
 * Replies come from outside and may be large. Every pattern here is sticky with at most one way to match, or is
 * applied to a few characters, and each token found is cut off for good, so the time is linear in the length.
 */
export interface Acknowledgement {
  /** The rest of the reply, without the token and its decoration. */
  readonly other: string
}

interface TextSpan {
  readonly from: number
  readonly to: number
}

/** The reply without the token at its start or end; null if it has none there. */
export function findAcknowledgement(reply: string): Acknowledgement | null {
  const text = trimBlank(reply)
  let span: TextSpan = { from: 0, to: text.length }
  let front = ''
  let back = ''
  for (let cut = cutFront(text, span); cut !== null; cut = cutFront(text, span)) {
    span = cut.span
    front += cut.kept
  }
  const isCutInFront = span.from > 0
  for (let cut = cutBack(text, span); cut !== null; cut = cutBack(text, span)) {
    span = cut.span
    back = cut.kept + back
  }
  const isCutBehind = span.to < text.length
  if (!isCutInFront && !isCutBehind) return null
  const body = trimBlank(text.slice(span.from, span.to))
  const other = trimBlank(front + (isCutBehind ? withoutDash(body) : body) + back)
  return { other: isDecoration(other) ? '' : other }
}

interface Cut {
  readonly span: TextSpan
  /** Marks whose counterparts are in the other text. */
  readonly kept: string
}

function cutFront(text: string, span: TextSpan): Cut | null {
  const at = text.indexOf(HEARTBEAT_TOKEN, span.from)
  const end = at + HEARTBEAT_TOKEN.length
  if (at === -1 || end > span.to || matchAt(GLUED_AFTER, text, end) !== '') return null
  const openers = marksIn(text.slice(span.from, at), OPENING)
  if (openers === null) return null
  let from = end
  let open = openers.length
  for (; open > 0; open -= 1) {
    const opener = openers[open - 1] ?? ''
    const gap = matchAt(isFence(opener) ? GAP_OVER_LINES : GAP, text, from)
    const closer = matchAt(CLOSING, text, from + gap.length)
    if (closer === '' || closerOf(opener) !== closer.toLowerCase()) break
    from += gap.length + closer.length
  }
  from += matchAt(SEPARATOR, text, from).length
  // A star followed by a space is the bullet of a list item, not an opening mark.
  const isBullet = (mark: string): boolean => BLANK.test(text.charAt(at - 1)) && !isFence(mark) && !mark.startsWith('<')
  const kept = openers.slice(0, open).filter((mark) => !isBullet(mark))
  return { span: { from: Math.min(from, span.to), to: span.to }, kept: kept.join('') }
}

function cutBack(text: string, span: TextSpan): Cut | null {
  const at = text.lastIndexOf(HEARTBEAT_TOKEN, span.to - HEARTBEAT_TOKEN.length)
  if (at < span.from || span.to - HEARTBEAT_TOKEN.length < span.from || isGluedBefore(text, at)) return null
  const closers = marksIn(text.slice(at + HEARTBEAT_TOKEN.length, span.to), CLOSING)
  if (closers === null) return null
  let to = at
  let closed = 0
  for (; closed < closers.length; closed += 1) {
    const length = openerLength(text.slice(Math.max(span.from, to - MAX_OPENER_LENGTH), to), closers[closed] ?? '')
    if (length === 0) break
    to -= length
  }
  const kept = closers.slice(closed).map((mark) => (isFence(mark) ? `\n${mark}` : mark))
  return { span: { from: span.from, to }, kept: kept.join('') }
}

/** How far back a counterpart is searched: a fence with a language name, and some whitespace. */
const MAX_OPENER_LENGTH = 64

// Models that write HTML use `<em>` and `<code>` for italics and backticks.
const TAGS = 'b|strong|i|em|code'
const BLANKS = '\\s\\u200b-\\u200d\\u2060'
const BLANK = new RegExp(`[${BLANKS}]`)
const FENCE_LINE = '(?:`{3,}|~{3,})[^\\S\\n]*(?:[\\w+-]{1,40}[^\\S\\n]*)?\\n'
const OPENING = new RegExp(`${FENCE_LINE}|\\*+|_+|\`+|~+|<(?:${TAGS})\\s*>|[${BLANKS}]+`, 'iy')
const CLOSING = new RegExp(`\\*+|_+|\`+|~+|</(?:${TAGS})\\s*>|[${BLANKS}]+|\\p{P}`, 'iuy')
const ENDS_SENTENCE = '.,;:!?…。，、；：！？'
const GAP = new RegExp(`[^\\S\\n]*[${ENDS_SENTENCE}]*[^\\S\\n]*`, 'y')
const GAP_OVER_LINES = new RegExp(`\\s*[${ENDS_SENTENCE}]*\\s*`, 'y')
// Only on the same line, and a dash only with a space after it: `- item` below and `-5` belong to the other text.
const SEPARATOR = new RegExp(`[^\\S\\n]*[${ENDS_SENTENCE}]*(?:[^\\S\\n]*[-–—]+(?=\\s|$))?`, 'y')

// Scripts without spaces between words do not join words: HEARTBEAT_OK followed by Chinese is two words.
const UNSPACED = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}]'
const LETTER = `(?:(?!${UNSPACED})[\\p{L}\\p{N}]|(?![\\ufe0f\\u20e3])\\p{M})`
const CONNECTOR = "[-'’=/\\\\@$+&]"
const GLUED_AFTER = new RegExp(`(?:_*|${CONNECTOR})${LETTER}`, 'uy')
const ENDS_IN_LETTER = new RegExp(`${LETTER}$`, 'u')
const ENDS_IN_CONNECTOR = new RegExp(`${LETTER}${CONNECTOR}$`, 'u')

/**
 * MY_HEARTBEAT_OK and X-HEARTBEAT_OK are other words; an underscore or dash is decoration only where no word precedes
 * it.
 */
function isGluedBefore(text: string, at: number): boolean {
  let end = at
  while (text[end - 1] === '_') end -= 1
  return (
    ENDS_IN_LETTER.test(text.slice(Math.max(0, end - 2), end)) ||
    ENDS_IN_CONNECTOR.test(text.slice(Math.max(0, at - 3), at))
  )
}

/** The marks that a text consists of; null if it contains anything else. */
function marksIn(text: string, pattern: RegExp): readonly string[] | null {
  const marks: string[] = []
  for (let at = 0; at < text.length;) {
    const mark = matchAt(pattern, text, at)
    if (mark === '') return null
    at += mark.length
    if (isMark(mark)) marks.push(mark)
  }
  return marks
}

const PAIRS: Readonly<Record<string, string>> = {
  ')': '(',
  ']': '[',
  '}': '{',
  '"': '"',
  "'": "'",
  '”': '“',
  '’': '‘',
  '»': '«',
}

/** Whitespace and sentence punctuation have no counterpart. */
const isMark = (piece: string): boolean => /^[*_`~<]/.test(piece) || piece in PAIRS

const isFence = (mark: string): boolean => mark.startsWith('```') || mark.startsWith('~~~')

const isDecoration = (text: string): boolean => marksIn(text, CLOSING) !== null

function closerOf(opener: string): string {
  const run = /^(?:`+|~+)/.exec(opener)
  if (run !== null) return run[0]
  return opener.startsWith('<') ? `</${opener.slice(1).trim().toLowerCase()}`.replace(/\s/g, '') : opener
}

/**
 * The number of characters at the end of a text that open what the closer closes, including whitespace before the
 * token.
 */
function openerLength(before: string, closer: string): number {
  const shown = before.slice(0, blankEnd(before))
  const opener = closer.startsWith('</') ? closer.replace('/', '').replace(/\s/g, '') : (PAIRS[closer] ?? closer)
  const fence = isFence(closer) ? /(?:^|\n)[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*$/.exec(shown) : null
  if (fence?.[1] === closer) return before.length - fence.index
  const start = shown.length - opener.length
  const isThere = start >= 0 && shown.slice(start).toLowerCase() === opener.toLowerCase()
  // Part of a longer sequence is another mark: `*` does not close `**`.
  return isThere && shown[start - 1] !== opener.charAt(0) ? before.length - start : 0
}

/** Removes a dash that only led to the token. */
function withoutDash(body: string): string {
  const dash = /(?:^|\s)[-–—]{1,3}$/.exec(body.slice(-4))
  return dash === null ? body : trimBlank(body.slice(0, body.length - dash[0].length))
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

/** Trims whitespace, including invisible characters. */
export function trimBlank(text: string): string {
  const end = blankEnd(text)
  let start = 0
  while (start < end && BLANK.test(text.charAt(start))) start += 1
  return text.slice(start, end)
}

function blankEnd(text: string): number {
  let end = text.length
  while (end > 0 && BLANK.test(text.charAt(end - 1))) end -= 1
  return end
}
