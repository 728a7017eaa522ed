import type { FastifyInstance, onSendHookHandler } from 'fastify'
import { Refusal } from '../api/refusals.ts'
import { chargeAnswer, type Charging } from '../server/http/rate-limit.ts'
import { whenOver } from './when-over.ts'

/** Smaller answers are not counted: however many there are, connections are limited. */
const LARGE_ANSWER_BYTES = 64 << 10

/** So many bytes of large answers are held at once, until those who asked have taken them. */
const MAX_ANSWER_BYTES = 256 << 20

/** So many bytes the answers to one batch may have together. */
const MAX_BATCH_BYTES = 8 << 20

/** What large answers take of the memory of the process. */
export interface AnswerMemory {
  /** Whether an answer of that size can be held; small ones always can. */
  readonly hasRoom: (bytes: number) => boolean
  /** Counts an answer until what is answered is called. */
  readonly hold: (bytes: number) => () => void
}

export function createAnswerMemory(most = MAX_ANSWER_BYTES): AnswerMemory {
  let held = 0
  return {
    hasRoom: (bytes) => bytes < LARGE_ANSWER_BYTES || held + bytes <= most,
    hold: (bytes) => {
      if (bytes < LARGE_ANSWER_BYTES) return () => undefined
      held += bytes
      return () => {
        held -= bytes
      }
    },
  }
}

/** The refusal of an answer that there is no room for. */
export const noRoom = (): Refusal =>
  new Refusal('ANSWERS_FULL', 'This node is sending as many large answers as it can hold; try again in a few seconds', {
    retryAfterMs: 2_000,
  })

/** Refuses large answers while too many are still being sent, and has each charged to the key that asked. */
export function limitAnswers(app: FastifyInstance, memory: AnswerMemory, charging: Charging): void {
  app.addHook('onSend', (...[request, reply, answer, done]: Parameters<onSendHookHandler>) => {
    const bytes = typeof answer === 'string' || Buffer.isBuffer(answer) ? answer.length : 0
    if (request.principal !== null) chargeAnswer(charging, request.principal, bytes)
    if (!memory.hasRoom(bytes)) {
      done(noRoom())
      return
    }
    if (bytes >= LARGE_ANSWER_BYTES) whenOver(reply.raw, memory.hold(bytes))
    done(null, answer)
  })
}

/** Counts the answers to one batch. */
export function createBatchRoom(): { readonly isFull: () => boolean; readonly add: (answer: unknown) => void } {
  let bytes = 0
  return {
    isFull: () => bytes > MAX_BATCH_BYTES,
    add: (answer) => {
      bytes += JSON.stringify(answer).length
    },
  }
}

/** The refusal of a call of a batch whose answers are too large already. */
export const batchFull = (): Refusal =>
  new Refusal(
    'ANSWERS_FULL',
    `The answers to this batch are above ${MAX_BATCH_BYTES >> 20} MiB; this call was not carried out, send it in another batch`,
  )
