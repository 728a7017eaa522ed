import type { FastifyReply, FastifyRequest } from 'fastify'
import type { scheduleOperations } from '../operations/schedules.ts'
import type { SimulateAnswer } from '../contract/simulate.ts'
import { simulateSchedules } from '../service/simulate/simulate.ts'
import type { Call } from './call.ts'
import { problemOf } from './problem.ts'
import { internal, refusalOf } from './unexpected.ts'
import { whenOver } from './when-over.ts'

type SimulationCall = Call<(typeof scheduleOperations)['schedules.simulate']>

/** Answers a simulation: at once, or step by step for those who want to see how far it is. Whoever hangs up ends it. */
export async function simulation(call: SimulationCall): Promise<SimulateAnswer> {
  const { ports, caller, body, request, reply } = call
  const asker = watch(reply)
  const stream = wantsStream(request) ? openStream(reply) : null
  try {
    const answer = await simulateSchedules(ports, caller, {
      ...{ input: body, signal: asker.signal },
      ...(stream === null ? {} : { progress: (progress) => stream.send('progress', progress) }),
    })
    if (stream !== null) stream.end('result', answer)
    return answer
  } catch (error) {
    // Nobody is there to be told.
    if (asker.signal.aborted) reply.hijack()
    else if (stream?.isOpen() === true) tellProblem(call, stream, error)
    else throw error
    return undefined as never
  } finally {
    asker.leave()
  }
}

const wantsStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') ?? false

/** Aborts when whoever asked is gone before they were answered. */
function watch({ raw }: FastifyReply): { readonly signal: AbortSignal; readonly leave: () => void } {
  const controller = new AbortController()
  const gone = (): void => {
    if (!raw.writableEnded) controller.abort(new Error('Whoever asked for the simulation is gone'))
  }
  return { signal: controller.signal, leave: whenOver(raw, gone) }
}

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
function tellProblem({ ctx, request }: SimulationCall, stream: Stream, error: unknown): void {
  const refusal = refusalOf(error)
  if (refusal === null)
    ctx.log({
      ...{ level: 'error', message: 'A simulation failed' },
      facts: { request_id: request.id, error: error instanceof Error ? error.stack : String(error) },
    })
  stream.end('problem', problemOf(refusal ?? internal(request.id), request.id, request.body))
}
