import type { WordsContext } from '../words/understand.ts'
import { isFiller, timingIn, type SaidTiming } from './said-timing.ts'
import { wishIn, type Wish } from './wishes.ts'

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
