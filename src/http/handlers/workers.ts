import type { workerOperations } from '../../operations/workers.ts'
import { claimAttempts, findWorkers } from '../../service/worker/workers.ts'
import { completeAttempt, renewAttempt, startAttempt, tellEvents } from '../../service/worker/reports.ts'
import type { HandlersOf } from '../call.ts'
import type { HttpContext } from '../context.ts'
import { whenOver } from '../when-over.ts'

/** Programs elsewhere that perform the work of agents. */
export const workerHandlers: HandlersOf<typeof workerOperations> = {
  'workers.list': ({ ports, caller }) => findWorkers(ports, caller),
  'worker.claim': ({ ctx, ports, caller, body, reply }) => {
    const gone = new AbortController()
    // Whoever is not there any more must not be given anything.
    whenOver(reply.raw, () => {
      gone.abort()
    })
    return claimAttempts({ ports, workers: ctx.workers }, caller, { claim: body, signal: gone.signal })
  },
  'worker.start': ({ ports, caller, params }) => startAttempt(ports, caller, params.id),
  'worker.renew': ({ ports, caller, params }) => renewAttempt(ports, caller, params.id),
  'worker.events': ({ ctx, ports, caller, params, body }) =>
    tellEvents({ ports, workers: ctx.workers }, caller, { id: params.id, events: body.events }),
  'worker.complete': async ({ ctx, ports, caller, params, body }) => {
    const answer = await completeAttempt(ports, caller, { id: params.id, result: body })
    if (answer.ignored) noteLate(ctx, params.id)
    return answer
  },
}

/** Whoever looks for what a worker did finds that it was too late. */
export function noteLate({ log }: Pick<HttpContext, 'log'>, attempt: string): void {
  log({ level: 'info', message: 'A late report changed nothing', facts: { attempt, reason: 'stale_report' } })
}
