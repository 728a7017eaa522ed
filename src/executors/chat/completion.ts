import { readJson, type ReadJson } from '../../core/json.ts'

/** What a server counted. */
export interface CountedTokens {
  readonly input: number
  readonly output: number
  /** In whole money; null: it does not say. */
  readonly cost: number | null
}

/** What a server says went wrong. */
export interface SaidError {
  readonly message: string
  /** As an HTTP status, if it names one. */
  readonly status: number | null
}

/** An answer, as far as it has come. */
export interface Completion {
  /** Takes one piece: the data of an event, or the whole of an answer that came at once. */
  readonly take: (data: string, event?: string) => void
  /** Tells the words that have come since the last time. */
  readonly tell: () => void
  readonly refuse: () => void
  readonly text: () => string
  readonly bytes: () => number
  readonly usage: () => CountedTokens | null
  /** Why the model stopped, in the server's word; null: it has not said. */
  readonly finish: () => string | null
  /** Nothing more comes, or nothing that would count. */
  readonly isOver: () => boolean
  /** It was said that this is all. */
  readonly isWhole: () => boolean
  readonly error: () => SaidError | null
  /** What cannot be understood; null: everything could. */
  readonly flaw: () => string | null
  readonly isTooLarge: () => boolean
  /** The model wants something carried out instead of saying something. */
  readonly wantsTools: () => boolean
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const DONE = '[DONE]'

/** Whether a text is complete by itself. */
export function completionsIn(data: string): boolean {
  if (data.trim() === DONE) return true
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}

/** Whether a text ends with the first half of a character whose second half is still to come. */
const endsInHalf = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800

/** With the flag `u` a whole pair is one character, so this finds halves only; no row could hold one. */
const HALF_CHARACTER = /\p{Surrogate}/gu

/** Begins an answer. `said` is told its words as they come, never half a character. */
export function createCompletion(said: (words: string) => void): Completion {
  // Pieces and not one text that grows: there are answers of a hundred thousand pieces.
  const pieces: string[] = []
  let [untold, bytes] = ['', 0]
  let usage: CountedTokens | null = null
  let finish: string | null = null
  let error: SaidError | null = null
  let flaw: string | null = null
  let [isDone, isTooLarge, wantsTools] = [false, false, false]
  const takeChoice = (choice: Fields): void => {
    const piece = isObject(choice['delta']) ? choice['delta'] : choice['message']
    if (isObject(piece)) {
      const words = wordsIn(piece['content'])
      if (words !== '') pieces.push(words)
      untold += words
      bytes += Buffer.byteLength(words)
      const calls = piece['tool_calls'] ?? piece['function_call']
      wantsTools ||= Array.isArray(calls) ? calls.length > 0 : isObject(calls)
    }
    if (typeof choice['finish_reason'] === 'string') finish = choice['finish_reason']
  }
  const takeObject = (piece: unknown, event: string): void => {
    if (!isObject(piece)) flaw ??= 'the answer has JSON in it that is no object'
    else if (event === 'error' || (piece['error'] ?? null) !== null) error = errorIn(piece['error'] ?? piece)
    else {
      const choice: unknown = Array.isArray(piece['choices']) ? piece['choices'].find(isFirst) : undefined
      if (isObject(choice)) takeChoice(choice)
      usage = usageIn(piece['usage']) ?? usage
    }
  }
  const whole = (): string => pieces.join('').replaceAll(HALF_CHARACTER, '\uFFFD')
  return {
    take: (data, event = '') => {
      if (data.trim() === DONE) isDone = true
      else if (!isDone && error === null) {
        const read = parse(data)
        if ('flaw' in read) flaw ??= read.flaw
        else takeObject(read.value, event)
      }
    },
    tell: () => {
      const end = endsInHalf(untold) ? untold.length - 1 : untold.length
      if (end > 0) said(untold.slice(0, end).replaceAll(HALF_CHARACTER, '\uFFFD'))
      untold = untold.slice(end)
    },
    refuse: () => {
      isTooLarge = true
    },
    ...{ text: whole, bytes: () => bytes, usage: () => usage, finish: () => finish, error: () => error },
    // Behind the end and the count there is nothing more to come, also from those who never say so.
    isOver: () => isDone || error !== null || flaw !== null || (finish !== null && usage !== null),
    isWhole: () => isDone || finish !== null,
    ...{ flaw: () => flaw, isTooLarge: () => isTooLarge, wantsTools: () => wantsTools },
  }
}

/** Several answers are never asked for; should some come, the first is the answer. */
const isFirst = (choice: unknown): boolean => isObject(choice) && (choice['index'] ?? 0) === 0

function parse(data: string): ReadJson {
  const read = readJson(data)
  return 'flaw' in read ? { flaw: `the answer has a piece in it that is no JSON: ${read.flaw}` } : read
}

/** Words are a text, or a list of parts some of which are texts. */
function wordsIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

/** What a server says about a failure, in whichever of the usual shapes. */
export function errorIn(error: unknown): SaidError {
  if (!isObject(error)) return { message: typeof error === 'string' ? error : JSON.stringify(error), status: null }
  const message = [error['message'], error['detail'], error['error']].find((one) => typeof one === 'string')
  const status = [error['status'], error['code']].map(numberIn).find((one) => Number.isInteger(one) && one >= 300)
  return { message: message ?? JSON.stringify(error), status: status !== undefined && status < 600 ? status : null }
}

/** Not everything that JSON can hold can be made a number without harm. */
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
