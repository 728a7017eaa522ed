import { parseJsonText, type JsonResult } from '../../domain/json.ts'

/** The token usage that a server reported. */
export interface CountedTokens {
  readonly input: number
  readonly output: number
  /** In whole money; null when not reported. */
  readonly cost: number | null
}

/** An error that a server reported. */
export interface ServerError {
  readonly message: string
  /** The HTTP status, if it names one. */
  readonly status: number | null
}

/** An answer in progress. */
export interface Completion {
  /** Adds one piece: the data of an event, or a whole non-streamed answer. */
  readonly add: (data: string, event?: string) => void
  /** Passes on the text received since the last call. */
  readonly flush: () => void
  readonly markTooLarge: () => void
  readonly text: () => string
  readonly bytes: () => number
  readonly usage: () => CountedTokens | null
  /** The server's finish reason; null when not reported yet. */
  readonly finish: () => string | null
  /** Whether nothing more that counts is expected. */
  readonly isOver: () => boolean
  /** Whether the server marked the end. */
  readonly isWhole: () => boolean
  readonly error: () => ServerError | null
  /** What could not be parsed; null: nothing. */
  readonly flaw: () => string | null
  readonly isTooLarge: () => boolean
  /** Whether the model requested a tool call. */
  readonly wantsTools: () => boolean
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const DONE = '[DONE]'

/** Whether a data line is complete by itself. */
export function isCompleteData(data: string): boolean {
  if (data.trim() === DONE) return true
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}

/** Whether a text ends with a high surrogate whose low surrogate is still to come. */
const endsInHalf = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800

/** With the flag `u` this matches only unpaired surrogates, which the database cannot store. */
const HALF_CHARACTER = /\p{Surrogate}/gu

/** Creates an empty answer. `said` receives its text as it arrives, never half a character. */
export function createCompletion(onText: (words: string) => void): Completion {
  // An array of pieces instead of a growing string, because answers can have a hundred thousand pieces.
  const pieces: string[] = []
  let [unsent, bytes] = ['', 0]
  let usage: CountedTokens | null = null
  let finish: string | null = null
  let error: ServerError | null = null
  let flaw: string | null = null
  let [isDone, isTooLarge, wantsTools] = [false, false, false]
  const addChoice = (choice: Fields): void => {
    const piece = isObject(choice['delta']) ? choice['delta'] : choice['message']
    if (isObject(piece)) {
      const words = contentText(piece['content'])
      if (words !== '') pieces.push(words)
      unsent += words
      bytes += Buffer.byteLength(words)
      const calls = piece['tool_calls'] ?? piece['function_call']
      wantsTools ||= Array.isArray(calls) ? calls.length > 0 : isObject(calls)
    }
    if (typeof choice['finish_reason'] === 'string') finish = choice['finish_reason']
  }
  const addObject = (piece: unknown, event: string): void => {
    if (!isObject(piece)) flaw ??= 'the answer contains JSON that is not an object'
    else if (event === 'error' || (piece['error'] ?? null) !== null) error = errorIn(piece['error'] ?? piece)
    else {
      const choice: unknown = Array.isArray(piece['choices']) ? piece['choices'].find(isFirst) : undefined
      if (isObject(choice)) addChoice(choice)
      usage = usageIn(piece['usage']) ?? usage
    }
  }
  const whole = (): string => pieces.join('').replaceAll(HALF_CHARACTER, '\uFFFD')
  return {
    add: (data, event = '') => {
      if (data.trim() === DONE) isDone = true
      else if (!isDone && error === null) {
        const read = parsePiece(data)
        if ('flaw' in read) flaw ??= read.flaw
        else addObject(read.value, event)
      }
    },
    flush: () => {
      const end = endsInHalf(unsent) ? unsent.length - 1 : unsent.length
      if (end > 0) onText(unsent.slice(0, end).replaceAll(HALF_CHARACTER, '\uFFFD'))
      unsent = unsent.slice(end)
    },
    markTooLarge: () => {
      isTooLarge = true
    },
    ...{ text: whole, bytes: () => bytes, usage: () => usage, finish: () => finish, error: () => error },
    // After finish reason and usage nothing more is expected, also from servers that never send an end marker.
    isOver: () => isDone || error !== null || flaw !== null || (finish !== null && usage !== null),
    isWhole: () => isDone || finish !== null,
    ...{ flaw: () => flaw, isTooLarge: () => isTooLarge, wantsTools: () => wantsTools },
  }
}

/** Only one choice is ever requested; if there are several, the first counts. */
const isFirst = (choice: unknown): boolean => isObject(choice) && (choice['index'] ?? 0) === 0

function parsePiece(data: string): JsonResult {
  const read = parseJsonText(data)
  return 'flaw' in read ? { flaw: `the answer contains a piece that is not valid JSON: ${read.flaw}` } : read
}

/** The content is a text, or a list of parts of which some are texts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

/** Reads an error object in any of the usual shapes. */
export function errorIn(error: unknown): ServerError {
  if (!isObject(error)) return { message: typeof error === 'string' ? error : JSON.stringify(error), status: null }
  const message = [error['message'], error['detail'], error['error']].find((one) => typeof one === 'string')
  const status = [error['status'], error['code']].map(numberIn).find((one) => Number.isInteger(one) && one >= 300)
  return { message: message ?? JSON.stringify(error), status: status !== undefined && status < 600 ? status : null }
}

/** Converts only strings and numbers, because Number() throws for some other values. */
const numberIn = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

function usageIn(usage: unknown): CountedTokens | null {
  if (!isObject(usage)) return null
  const { prompt_tokens: input, completion_tokens: output, cost } = usage
  if (!isCount(input)) return null
  return { input, output: isCount(output) ? output : 0, cost: typeof cost === 'number' && cost >= 0 ? cost : null }
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
