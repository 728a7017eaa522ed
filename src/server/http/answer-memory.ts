import type { FastifyInstance, onSendHookHandler } from 'fastify'
import { Refusal } from '../../api/refusals.ts'
import { OPERATOR_ORG, type Principal } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Ports } from '../../engine/ports.ts'
import type { HttpContext } from './context.ts'
import { chargeAnswer, type Charging } from './rate-limit.ts'
import { whenOver } from './when-over.ts'

type Queries = Ports['database']

/** The maximum number of orgs with their own limit; an evicted org starts again with no statements under way. */
const MAX_ORGS = 10_000

/** Returns the context for requests of a principal. */
export type ContextOf = (principal: Principal | null) => HttpContext

/**
 * With several orgs, limits the database connections that the requests of one org use. Further statements of the org
 * wait, so that a flood from one org does not delay the requests of another.
 */
export function createContexts(ctx: HttpContext): ContextOf {
  const known = new Map<OrgId, HttpContext>()
  const { database } = ctx.ports
  return (principal) => {
    if (principal === null || principal.orgId === OPERATOR_ORG || !ctx.hasManyOrgs()) return ctx
    const found = known.get(principal.orgId)
    if (found !== undefined) return found
    const created = { ...ctx, ports: { ...ctx.ports, database: limitQueries(database, ctx.queriesPerOrg) } }
    const [first] = known.keys()
    if (known.size >= MAX_ORGS && first !== undefined) known.delete(first)
    known.set(principal.orgId, created)
    return created
  }
}

/** Limits the number of concurrent statements; further ones wait in order. */
export function limitQueries(database: Queries, max: number): Queries {
  let underWay = 0
  const waiting: (() => void)[] = []
  const release = (): void => {
    const next = waiting.shift()
    if (next === undefined) underWay -= 1
    // The next statement takes over the slot.
    else next()
  }
  const query: Queries['query'] = (text, params) => database.query(text, params).finally(release)
  return {
    query: (text, params) => {
      if (underWay >= max) return new Promise<void>((resolve) => waiting.push(resolve)).then(() => query(text, params))
      underWay += 1
      return query(text, params)
    },
  }
}

/** Smaller responses are not counted, because connections are limited. */
const LARGE_ANSWER_BYTES = 64 << 10

/** Maximum bytes of large responses that are held in memory while clients read them. */
const MAX_ANSWER_BYTES = 256 << 20

/** Maximum total bytes of the responses of one batch. */
const MAX_BATCH_BYTES = 8 << 20

/** The memory used by large responses. */
export interface AnswerMemory {
  /** Whether a response of that size fits; small ones always do. */
  readonly hasRoom: (bytes: number) => boolean
  /** Counts a response until the returned function is called. */
  readonly hold: (bytes: number) => () => void
}

export function createAnswerMemory(max = MAX_ANSWER_BYTES): AnswerMemory {
  let held = 0
  return {
    hasRoom: (bytes) => bytes < LARGE_ANSWER_BYTES || held + bytes <= max,
    hold: (bytes) => {
      if (bytes < LARGE_ANSWER_BYTES) return () => undefined
      held += bytes
      return () => {
        held -= bytes
      }
    },
  }
}

/** The error for a response that does not fit. */
export const noRoomRefusal = (): Refusal =>
  new Refusal('ANSWERS_FULL', 'This node is sending as many large responses as it can hold; retry in a few seconds', {
    retryAfterMs: 2_000,
  })

/** Rejects large responses while too many are being sent, and charges each response to the key of its request. */
export function limitAnswers(app: FastifyInstance, memory: AnswerMemory, charging: Charging): void {
  app.addHook('onSend', (...[request, reply, answer, done]: Parameters<onSendHookHandler>) => {
    const bytes = typeof answer === 'string' || Buffer.isBuffer(answer) ? answer.length : 0
    if (request.principal !== null) chargeAnswer(charging, request.principal, bytes)
    if (!memory.hasRoom(bytes)) {
      done(noRoomRefusal())
      return
    }
    if (bytes >= LARGE_ANSWER_BYTES) whenOver(reply.raw, memory.hold(bytes))
    done(null, answer)
  })
}

/** Counts the response bytes of one batch. */
export function createBatchRoom(): { readonly isFull: () => boolean; readonly add: (answer: unknown) => void } {
  let bytes = 0
  return {
    isFull: () => bytes > MAX_BATCH_BYTES,
    add: (answer) => {
      bytes += JSON.stringify(answer).length
    },
  }
}

/** The error for a call of a batch whose responses are too large already. */
export const batchFullRefusal = (): Refusal =>
  new Refusal(
    'ANSWERS_FULL',
    `The responses of this batch exceed ${MAX_BATCH_BYTES >> 20} MiB; this call was not executed, send it in another batch`,
  )
