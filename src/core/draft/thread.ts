import { readParts } from '../words/gather.ts'
import { understandWords, type Understood, type WordsContext } from '../words/understand.ts'
import { type Wish, wishIn } from '../../domain/draft/requests.ts'

/** Something that a person has said, and what came back. */
export interface SaidMessage {
  readonly runId: string
  readonly text: string
  /** Null: there is no answer, or none that was whole. */
  readonly answer: unknown
}

/** A wish about an answer, and the message it was said in. */
export interface SaidWish {
  readonly wish: Wish
  readonly message: SaidMessage
}

/** The part of a conversation that one question is about: it, what was wanted otherwise, and when it is to be repeated. */
export interface Thread {
  /** The message that asks. */
  readonly asked: SaidMessage
  /** The message whose answer is the good one: not one that only says when, whatever came back to that. */
  readonly answered: SaidMessage
  /** What it asks, without the words that say when. */
  readonly prompt: string
  /** What was wanted until the chosen answer came: the answer is so because of them. */
  readonly before: readonly SaidWish[]
  /** What was wanted of it afterwards. */
  readonly after: readonly SaidWish[]
  /** The last time that somebody said when. */
  readonly timing: { readonly said: SaidTiming; readonly message: SaidMessage } | null
  /** How many messages of the same person came before the one that asks. */
  readonly earlier: number
}

interface Read {
  readonly message: SaidMessage
  readonly timing: SaidTiming | null
  readonly wish: Wish | null
  /** Whether it asks for something of its own. */
  readonly asks: boolean
}

/** Nobody corrects an answer more often than this; further away it is another matter. */
const MOST_WISHES = 12

/** Reads what one person has said, oldest first, around the message whose answer was chosen. */
export function threadOf(messages: readonly SaidMessage[], chosen: string, context: WordsContext): Thread | null {
  const at = messages.findIndex(({ runId }) => runId === chosen)
  if (at === -1) return null
  const until = upToQuestion(messages.slice(0, at + 1).reverse(), context, 'with it').reverse()
  const since = upToQuestion(messages.slice(at + 1), context, 'without it')
  const [asked] = until
  if (asked === undefined) return null
  const timed = [...until, ...since].findLast(({ timing }) => timing !== null)
  const rest = asked.timing?.rest ?? ''
  const answered = until.findLast(({ asks, wish }) => asks || wish !== null) ?? asked
  return {
    asked: asked.message,
    answered: answered.message,
    prompt: rest === '' || isFiller(rest) ? asked.message.text : rest,
    // Whoever begins with a wish means it as a question.
    before: wishesIn(until.slice(1)),
    after: wishesIn(since),
    timing: timed === undefined || timed.timing === null ? null : { said: timed.timing, message: timed.message },
    earlier: at + 1 - until.length,
  }
}

/** Messages one after the other, up to the next that asks for something of its own. */
function upToQuestion(
  messages: readonly SaidMessage[],
  context: WordsContext,
  whether: 'with it' | 'without it',
): Read[] {
  const reads: Read[] = []
  for (const message of messages.slice(0, MOST_WISHES)) {
    const read = readMessage(message, context)
    if (!read.asks || whether === 'with it') reads.push(read)
    if (read.asks) break
  }
  return reads
}

function readMessage(message: SaidMessage, context: WordsContext): Read {
  const timing = timingIn(message.text, context)
  const rest = timing === null ? message.text : timing.rest
  const wish = wishIn(rest)
  return { message, timing, wish, asks: wish === null && (timing === null || (rest !== '' && !isFiller(rest))) }
}

const wishesIn = (reads: readonly Read[]): readonly SaidWish[] =>
  reads.flatMap(({ wish, message }) => (wish === null ? [] : [{ wish, message }]))

/** When something is to happen, as somebody has said it among other words. */
interface SaidTiming extends Pick<Understood, 'fields' | 'notes'> {
  /** The words that say when. */
  readonly words: string
  /** The message without them; empty when it was about nothing else. */
  readonly rest: string
}

/** Something repeats, and it is said when: "the weekly report" names no time, and "on Monday at 9" happens once. */
const REPEATS =
  /\b(?:every|each|daily|weekly|monthly|yearly|hourly|weekdays|weekends|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)\b|每|天天/iu
const HAS_TIME =
  /\d|\b(?:noon|midnight|hourly|hours?|minutes?|half|quarter|morning|evening|afternoon|night|o'clock|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|[点时分]|小时|早上|上午|中午|下午|晚上|半夜|凌晨/iu

/** Longer sentences are about something else; each further word costs as many readings as there are words before it. */
const LONGEST_SENTENCE = 240
const MOST_PIECES = 30
const MOST_SENTENCES = 4

/**
 * Finds words in a message that say when it is to be repeated, by the one grammar there is for that: the longest piece of
 * a sentence that it understands. Null: nothing of the kind is said.
 */
export function timingIn(message: string, context: WordsContext): SaidTiming | null {
  const sentences = message.match(/[^\n.!?。！？；;]+(?:[.](?=\d)[^\n.!?。！？；;]*)*[.!?。！？；;]*/gu) ?? []
  const likely = sentences.filter((one) => one.length <= LONGEST_SENTENCE && REPEATS.test(one) && HAS_TIME.test(one))
  for (const sentence of likely.slice(0, MOST_SENTENCES)) {
    const found = longestIn(sentence, context)
    if (found === null) continue
    const { fields, notes } = found.understood
    return { fields, notes, words: found.words, rest: without(message, sentence, found.words) }
  }
  return null
}

interface Found {
  readonly words: string
  readonly understood: Understood
}

function longestIn(sentence: string, context: WordsContext): Found | null {
  const pieces = [...sentence.matchAll(/[\p{Script=Han}]|[^\s\p{Script=Han}，,]+/gu)].slice(0, MOST_PIECES)
  const places = pieces.map(({ index, 0: piece }) => ({ from: index, to: index + piece.length }))
  const spans = places
    .flatMap(({ from }, first) => places.slice(first).map(({ to }) => ({ from, to })))
    .toSorted((a, b) => b.to - b.from - (a.to - a.from))
  for (const { from, to } of spans) {
    const words = bare(sentence.slice(from, to))
    // Refusals are made with care and cost time; most pieces are no sentences about time at all.
    if (!REPEATS.test(words) || !HAS_TIME.test(words) || readParts(words).complaint !== null) continue
    const read = understandWords('text', words, context)
    if (read.ok && read.value.rest === null && read.value.fields['at'] === undefined)
      return { words, understood: read.value }
  }
  return null
}

/** The grammar passes over courtesies; what is quoted does without them. */
const bare = (words: string): string =>
  words
    .replace(/[.!?:。！？：]+$/u, '')
    .replace(/^(?:please|pls|and|请)\s*/iu, '')
    .replace(/[\s,，]*(?:please|pls)$/iu, '')
    .trim()

const FILLER =
  /^(?:please|pls|ok|okay|great|good|perfect|thanks|now|then|so|and|can you|could you|would you|do|run|repeat|send|give|tell|make|schedule|set|up|want|need|like|i|me|us|this|that|it|to|the same|again|for|from now on|these|exactly|just|as well|too|一下|请|麻烦|可以|帮我|把|这个|这样|这|照做|做|发给?我?|给我|告诉我|一次|一遍|重复|执行|就|都|也|吧|我|想|要|[\s,，.。!！:：–-])*$/iu

/** Whether anything is left to do once it is known when. */
export const isFiller = (rest: string): boolean => FILLER.test(rest)

function without(message: string, sentence: string, words: string): string {
  const left = sentence.replace(words, ' ')
  const kept = isFiller(left) ? '' : tidy(left)
  return message.replace(sentence, () => kept).trim()
}

/** What stands around words that were taken out does not show that they were. */
function tidy(left: string): string {
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
