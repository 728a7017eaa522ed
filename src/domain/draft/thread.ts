import { readParts } from '../words/gather.ts'
import { understandWords, type UnderstoodSentence, type WordsContext } from '../words/understand.ts'
import { type ChangeRequest, changeRequestIn } from './requests.ts'

/** A message of a person and its answer. */
export interface ConversationMessage {
  readonly runId: string
  readonly text: string
  /** Null if there is no complete answer. */
  readonly answer: unknown
}

/** A change request and the message that contains it. */
export interface ThreadRequest {
  readonly request: ChangeRequest
  readonly message: ConversationMessage
}

/** The part of a conversation about one question: the question, its change requests, and its schedule. */
export interface Thread {
  /** The message with the question. */
  readonly question: ConversationMessage
  /** The message with the chosen answer. Messages that only contain a schedule are skipped. */
  readonly answered: ConversationMessage
  /** The question without the words about the schedule. */
  readonly prompt: string
  /** Change requests before the chosen answer, which already follows them. */
  readonly before: readonly ThreadRequest[]
  /** Change requests after the chosen answer. */
  readonly after: readonly ThreadRequest[]
  /** The last schedule in the messages. */
  readonly timing: { readonly said: FoundTiming; readonly message: ConversationMessage } | null
  /** The number of messages of the same person before the question. */
  readonly earlier: number
}

interface MessageReading {
  readonly message: ConversationMessage
  readonly timing: FoundTiming | null
  readonly request: ChangeRequest | null
  /** Whether it is a new question. */
  readonly isQuestion: boolean
}

/** The maximum number of messages that belong to one question. */
const MAX_REQUESTS = 12

/** Finds the thread around the chosen answer. `messages` are those of one person, oldest first. */
export function threadOf(
  messages: readonly ConversationMessage[],
  chosen: string,
  context: WordsContext,
): Thread | null {
  const at = messages.findIndex(({ runId }) => runId === chosen)
  if (at === -1) return null
  const until = upToQuestion(messages.slice(0, at + 1).reverse(), context, 'with it').reverse()
  const since = upToQuestion(messages.slice(at + 1), context, 'without it')
  const [question] = until
  if (question === undefined) return null
  const timed = [...until, ...since].findLast(({ timing }) => timing !== null)
  const rest = question.timing?.rest ?? ''
  const answered = until.findLast(({ isQuestion: asks, request: wish }) => asks || wish !== null) ?? question
  return {
    question: question.message,
    answered: answered.message,
    prompt: rest === '' || isFiller(rest) ? question.message.text : rest,
    // A change request in the first message is the question itself.
    before: requestsIn(until.slice(1)),
    after: requestsIn(since),
    timing: timed === undefined || timed.timing === null ? null : { said: timed.timing, message: timed.message },
    earlier: at + 1 - until.length,
  }
}

/** Reads messages in order, up to the next new question. */
function upToQuestion(
  messages: readonly ConversationMessage[],
  context: WordsContext,
  questionIncluded: 'with it' | 'without it',
): MessageReading[] {
  const reads: MessageReading[] = []
  for (const message of messages.slice(0, MAX_REQUESTS)) {
    const read = classifyMessage(message, context)
    if (!read.isQuestion || questionIncluded === 'with it') reads.push(read)
    if (read.isQuestion) break
  }
  return reads
}

function classifyMessage(message: ConversationMessage, context: WordsContext): MessageReading {
  const timing = findTiming(message.text, context)
  const rest = timing === null ? message.text : timing.rest
  const request = changeRequestIn(rest)
  return {
    message,
    timing,
    request,
    isQuestion: request === null && (timing === null || (rest !== '' && !isFiller(rest))),
  }
}

const requestsIn = (reads: readonly MessageReading[]): readonly ThreadRequest[] =>
  reads.flatMap(({ request, message }) => (request === null ? [] : [{ request, message }]))

/** A schedule found in a message. */
interface FoundTiming extends Pick<UnderstoodSentence, 'fields' | 'notes'> {
  /** The words about the schedule. */
  readonly words: string
  /** The message without these words; empty if it contains nothing else. */
  readonly rest: string
}

/** A schedule needs a repetition and a time: "the weekly report" has no time, "on Monday at 9" does not repeat. */
const REPEATS =
  /\b(?:every|each|daily|weekly|monthly|yearly|hourly|weekdays|weekends|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)\b|每|天天/iu
const HAS_TIME =
  /\d|\b(?:noon|midnight|hourly|hours?|minutes?|half|quarter|morning|evening|afternoon|night|o'clock|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|[点时分]|小时|早上|上午|中午|下午|晚上|半夜|凌晨/iu

/** Limits for the search, because its cost grows with the square of the number of words. */
const MAX_TIMING_SENTENCE = 240
const MAX_WORDS_PER_SENTENCE = 30
const MAX_SENTENCES = 4

/**
 * Finds a repeating schedule in a message: the longest part of a sentence that the grammar for schedules understands.
 * Null if there is none.
 */
export function findTiming(message: string, context: WordsContext): FoundTiming | null {
  const sentences = message.match(/[^\n.!?。！？；;]+(?:[.](?=\d)[^\n.!?。！？；;]*)*[.!?。！？；;]*/gu) ?? []
  const likely = sentences.filter((one) => one.length <= MAX_TIMING_SENTENCE && REPEATS.test(one) && HAS_TIME.test(one))
  for (const sentence of likely.slice(0, MAX_SENTENCES)) {
    const found = longestTimingIn(sentence, context)
    if (found === null) continue
    const { fields, notes } = found.understood
    return { fields, notes, words: found.words, rest: removeWords(message, sentence, found.words) }
  }
  return null
}

interface UnderstoodWords {
  readonly words: string
  readonly understood: UnderstoodSentence
}

function longestTimingIn(sentence: string, context: WordsContext): UnderstoodWords | null {
  const pieces = [...sentence.matchAll(/[\p{Script=Han}]|[^\s\p{Script=Han}，,]+/gu)].slice(0, MAX_WORDS_PER_SENTENCE)
  const ranges = pieces.map(({ index, 0: piece }) => ({ from: index, to: index + piece.length }))
  const spans = ranges
    .flatMap(({ from }, first) => ranges.slice(first).map(({ to }) => ({ from, to })))
    .toSorted((a, b) => b.to - b.from - (a.to - a.from))
  for (const { from, to } of spans) {
    const words = trimPoliteWords(sentence.slice(from, to))
    // Run the cheap checks first: `understandWords` takes longer, and most pieces are not about time.
    if (!REPEATS.test(words) || !HAS_TIME.test(words) || readParts(words).complaint !== null) continue
    const read = understandWords('text', words, context)
    if (read.ok && read.value.rest === null && read.value.fields['at'] === undefined)
      return { words, understood: read.value }
  }
  return null
}

/** Removes polite phrases, which the grammar ignores. */
const trimPoliteWords = (words: string): string =>
  words
    .replace(/[.!?:。！？：]+$/u, '')
    .replace(/^(?:please|pls|and|请)\s*/iu, '')
    .replace(/[\s,，]*(?:please|pls)$/iu, '')
    .trim()

const FILLER =
  /^(?:please|pls|ok|okay|great|good|perfect|thanks|now|then|so|and|can you|could you|would you|do|run|repeat|send|give|tell|make|schedule|set|up|want|need|like|i|me|us|this|that|it|to|the same|again|for|from now on|these|exactly|just|as well|too|一下|请|麻烦|可以|帮我|把|这个|这样|这|照做|做|发给?我?|给我|告诉我|一次|一遍|重复|执行|就|都|也|吧|我|想|要|[\s,，.。!！:：–-])*$/iu

/** Whether a text consists only of filler words, without a task. */
export const isFiller = (rest: string): boolean => FILLER.test(rest)

function removeWords(message: string, sentence: string, words: string): string {
  const left = sentence.replace(words, ' ')
  const kept = isFiller(left) ? '' : tidyText(left)
  return message.replace(sentence, () => kept).trim()
}

/** Cleans up white space, punctuation and capitalization after words were removed. */
function tidyText(left: string): string {
  const clean = left
    .replace(/[ \t]{2,}/gu, ' ')
    .replace(/(?<=\p{Script=Han}) (?=\p{Script=Han})/gu, '')
    .replace(/\s+(?=[,.!?;:，。！？；：])/gu, '')
    .replace(/^[\s,:，：–-]+/u, '')
    .replace(/[\s,:，：–-]+(?=[.!?。！？；;]*$)/u, '')
    .trim()
  const [first = ''] = clean
  return ` ${first.toUpperCase()}${clean.slice(first.length)}`
}
