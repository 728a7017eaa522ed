import type { ChatMessage } from './conversation.ts'
import type { ChatOptions } from './options.ts'
import { parseJsonText, type JsonResult } from '../../domain/json.ts'

/** The token usage that a server reported. */
export interface CountedTokens {
  /** All input tokens, cached ones included; null when not reported. */
  readonly input: number | null
  readonly output: number
  /** The input tokens that were read from a cache. */
  readonly cached: number
  /** The input tokens that were written to a cache. */
  readonly cacheWritten: number
  /** The output tokens that were used for reasoning. */
  readonly reasoning: number
  /** In whole money; null when not reported. */
  readonly cost: number | null
}

/** An error that a server reported. */
export interface ServerError {
  readonly message: string
  /** The HTTP status, if it names one. */
  readonly status: number | null
}

export type Fields = Readonly<Record<string, unknown>>
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What one piece of an answer adds to it. */
export interface AnswerPart {
  readonly text?: string
  readonly usage?: Partial<CountedTokens> | null
  /** Why the answer ended, in the words of the server. */
  readonly finish?: string | null
  /** Nothing follows. */
  readonly isLast?: boolean
  readonly error?: ServerError
  /** The model requested a tool call. */
  readonly wantsTools?: boolean
}

/** Reads one piece: the data of an event, a line, or a whole answer. `hasText` tells whether text has arrived before. */
export type ReadPart = (piece: Fields, event: string, hasText: boolean) => AnswerPart

/** A request to be written in the words of an API. */
export interface ModelQuestion {
  readonly options: ChatOptions
  readonly messages: readonly ChatMessage[]
  /** The additional request fields, with their templates filled in. */
  readonly extra: Fields
  /** The maximum number of output tokens; null: none is sent. */
  readonly maxTokens: number | null
}

/** How a request is written and an answer is read in one API. */
export interface Dialect {
  /** Server-sent events, or one JSON object per line. */
  readonly framing: 'events' | 'lines'
  readonly body: (question: ModelQuestion) => object
  readonly read: ReadPart
  /** Why a whole, non-streamed body is not an answer; null: it is one. */
  readonly notAnAnswer: (body: unknown) => string | null
  /** Whether the additional request fields ask for JSON. */
  readonly wantsJson: (extra: Fields) => boolean
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

const NOTHING_COUNTED: CountedTokens = { input: null, output: 0, cached: 0, cacheWritten: 0, reasoning: 0, cost: null }

/** Creates an empty answer. `onText` receives its text as it arrives, never half a character. */
export function createCompletion(onText: (words: string) => void, read: ReadPart): Completion {
  // An array of pieces instead of a growing string, because answers can have a hundred thousand pieces.
  const pieces: string[] = []
  let [unsent, bytes] = ['', 0]
  let usage: CountedTokens | null = null
  let finish: string | null = null
  let error: ServerError | null = null
  let flaw: string | null = null
  let [isDone, isTooLarge, wantsTools] = [false, false, false]
  const apply = (part: AnswerPart): void => {
    const { text = '' } = part
    if (text !== '') pieces.push(text)
    unsent += text
    bytes += Buffer.byteLength(text)
    if (part.usage !== undefined && part.usage !== null) usage = { ...(usage ?? NOTHING_COUNTED), ...part.usage }
    finish = part.finish ?? finish
    error = part.error ?? error
    isDone ||= part.isLast === true
    wantsTools ||= part.wantsTools === true
  }
  const addObject = (piece: unknown, event: string): void => {
    if (!isObject(piece)) flaw ??= 'the answer contains JSON that is not an object'
    else apply(read(piece, event, pieces.length > 0))
  }
  const whole = (): string => pieces.join('').replaceAll(HALF_CHARACTER, '\uFFFD')
  return {
    add: (data, event = '') => {
      if (data.trim() === DONE) isDone = true
      else if (!isDone && error === null) {
        const parsed = parsePiece(data)
        if ('flaw' in parsed) flaw ??= parsed.flaw
        else addObject(parsed.value, event)
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

function parsePiece(data: string): JsonResult {
  const read = parseJsonText(data)
  return 'flaw' in read ? { flaw: `the answer contains a piece that is not valid JSON: ${read.flaw}` } : read
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

/** A number of tokens; null when it is not one. */
export const tokenCount = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null

/** The fields of a nested object; empty when there is none. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

/** A list; empty when there is none. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
