import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OperationSpec } from '../api/operation.ts'
import type { Call } from '../operations/handler.ts'
import type { HttpContext } from './context.ts'
import { goneSignal, type Exchange } from '../server/http/exchange.ts'
import { problemOf } from './problem.ts'
import { internal, refusalOf } from './unexpected.ts'

type Way = Pick<Call<OperationSpec>, 'signal' | 'progress'>

/** Answers what takes a while: at once, or step by step for those who accept a stream. Whoever hangs up ends it. */
export async function withProgress(
  ctx: HttpContext,
  { request, reply }: Exchange,
  work: (way: Way) => unknown,
): Promise<unknown> {
  const signal = goneSignal(reply)
  const stream = wantsStream(request) ? openStream(reply) : null
  try {
    const answer = await work({
      signal: () => signal,
      progress: stream === null ? undefined : (progress) => stream.send('progress', progress),
    })
    if (stream !== null) stream.end('result', answer)
    return answer
  } catch (error) {
    // Nobody is there to be told.
    if (signal.aborted) reply.hijack()
    else if (stream?.isOpen() === true) tellProblem(ctx, request, { stream, error })
    else throw error
    return undefined
  }
}

const wantsStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') ?? false

/** A stream that begins with the first thing that is said: what is refused before is refused as everything is. */
interface Stream {
  readonly isOpen: () => boolean
  readonly send: (event: string, data: unknown) => void
  readonly end: (event: string, data: unknown) => void
}

function openStream(reply: FastifyReply): Stream {
  let isOpen = false
  const send = (event: string, data: unknown): void => {
    if (!isOpen) {
      isOpen = true
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
    }
    reply.raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  return {
    isOpen: () => isOpen,
    send,
    end: (event, data) => {
      send(event, data)
      reply.raw.end()
    },
  }
}

/** What goes wrong in the middle is told in the stream, as it would have been told instead of it. */
function tellProblem(
  ctx: HttpContext,
  request: FastifyRequest,
  { stream, error }: { readonly stream: Stream; readonly error: unknown },
): void {
  const refusal = refusalOf(error)
  if (refusal === null)
    ctx.log({
      ...{ level: 'error', message: 'A request failed' },
      facts: { request_id: request.id, error: error instanceof Error ? error.stack : String(error) },
    })
  stream.end('problem', problemOf(refusal ?? internal(request.id), request.id, request.body))
}
