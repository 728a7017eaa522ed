import { Refusal } from '../../../src/api/refusals.ts'
import { describeFlaw, type Parsed } from '../../../src/domain/input.ts'
import type { Random } from '../../simulation/random.ts'
import type { Words } from '../mutate.ts'

/** Something that reads what others write. */
export interface Target {
  readonly name: string
  /** What its language is made of. */
  readonly words: Words
  /** An input by the grammar, right more often than not. */
  readonly draw: (random: Random) => unknown
  /**
   * Reads an input and checks what must hold of every one. Answers with the class of what happened, for counting; throws
   * when a promise is broken. How long it may take is the caller's business.
   */
  readonly attempt: (input: unknown) => string
  /** How long one attempt may take; 200 ms unless an attempt does more than one thing. */
  readonly mostMs?: number
}

/** A promise that was not kept. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

/** Says that a promise is broken unless it holds. */
export function must(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new Broken(promise)
}

/** Both are the same value, as JSON tells it. */
export function mustAgree(one: unknown, other: unknown, promise: string): void {
  // In a list, because nothing at all is no JSON by itself.
  const [a, b] = [JSON.stringify([one]), JSON.stringify([other])]
  must(a === b, `${promise}: ${a.slice(1, 300)} is not ${b.slice(1, 300)}`)
}

/** The class of a reading; what is refused is refused in words that can be shown. */
export function classOf(answer: Parsed<unknown>): string {
  if (answer.ok) return 'taken'
  must(answer.flaws.length > 0, 'what is refused has a flaw')
  for (const flaw of answer.flaws) {
    must(typeof flaw.message === 'string' && flaw.message !== '', 'a flaw says what is wrong')
    must(describeFlaw(flaw).length < 20_000, 'a complaint is no longer than anybody reads')
  }
  return `refused ${plain(answer.flaws[0]?.message ?? '')}`
}

/** A message without what the input brought into it. */
export const plain = (message: string): string => message.replaceAll(/[^a-z ]+/g, '~').slice(0, 48)

/** What a reader answers, or the class of its refusal; whatever else it throws is thrown on. */
export function unlessRefused<T>(read: () => T, then: (value: T) => string): string {
  let value: T
  try {
    value = read()
  } catch (error) {
    if (error instanceof Refusal) return `refused ${error.code}`
    throw error
  }
  return then(value)
}

/** The input as a text, for readers of texts. */
export const asText = (input: unknown): string => (typeof input === 'string' ? input : JSON.stringify(input))

/** The input as fields, for readers of objects. */
export const asFields = (input: unknown): Readonly<Record<string, unknown>> =>
  typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : { value: input }

/** Whether a text has no half of a character in it. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)
