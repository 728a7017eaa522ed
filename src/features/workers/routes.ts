import { z } from 'zod'
import { id } from '../../api/common.ts'
import { resultInput } from '../runs/schema.ts'
import { claimAnswer, claimInput, eventsInput, workerAnswer, workerPage } from './schema.ts'
import { completeAttempt, renewAttempt, startAttempt, publishEvents } from './reports.ts'
import { claimAttempts, findWorkers } from './service.ts'
import type { OperationContext } from '../../operations/context.ts'
import { operation } from '../../operations/handler.ts'

const attempt = z.strictObject({ id })
const IGNORED =
  'For an attempt that is no longer current, the request changes nothing: `ignored` and `cancel` are true, and the worker ' +
  'should stop.'
const running = { status: 'running', ignored: false, cancel: false, reason: null, ends_by: '2026-03-01T07:10:00.000Z' }

/** The API of workers, which are remote programs that execute attempts. */
export const workerOperations = {
  'workers.list': operation({
    ...{ method: 'GET', path: '/api/v1/workers', tag: 'workers', permission: 'agents:read' },
    summary: 'List connected workers, oldest first',
    description: 'At most 200. A worker that has been silent for the length of a lease is not `alive`.',
    answers: { 200: workerPage },
  }).by(({ ports, caller }) => findWorkers(ports, caller)),
  'worker.claim': operation({
    ...{ method: 'POST', path: '/api/v1/worker/claim', tag: 'workers', permission: 'workers:run' },
    summary: 'Claim attempts (long poll)',
    description:
      'Responds as soon as there is something to start or stop, or with empty lists when the wait is over. A worker ' +
      'gets at most `capacity` attempts minus those it holds. The open request keeps the lease of the worker alive.',
    newWork: true,
    body: claimInput,
    answers: { 200: claimAnswer },
    refusals: ['WORKER_LOST'],
    examples: {
      body: { agents: ['researcher'], capacity: 4, wait_seconds: 20 },
      answer: {
        ...{ worker_id: 'wrk_01', lease_until: '2026-03-01T07:00:15.000Z', renew_seconds: 5, attempts: [], cancel: [] },
      },
    },
  }).by(({ ctx, ports, caller, body, signal }) =>
    // Aborted when the worker disconnects, which must not receive attempts then.
    claimAttempts({ ports, workers: ctx.workers }, caller, { claim: body, signal: signal() }),
  ),
  'worker.start': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/start', tag: 'workers', permission: 'workers:run' },
    summary: 'Report that an attempt has started',
    description: `Its timeout starts now. A claimed attempt that is not started in time goes to another worker. ${IGNORED}`,
    params: attempt,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND'],
    examples: { answer: running },
  }).by(({ ports, caller, params }) => startAttempt(ports, caller, params.id)),
  'worker.renew': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/renew', tag: 'workers', permission: 'workers:run' },
    summary: 'Renew the lease of a worker and ask whether to continue',
    description: `The lease covers all attempts of the worker. ${IGNORED}`,
    params: attempt,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND', 'WORKER_LOST'],
    examples: { answer: { ...running, status: 'stopping', cancel: true, reason: 'cancelled' } },
  }).by(({ ports, caller, params }) => renewAttempt(ports, caller, params.id)),
  'worker.events': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/events', tag: 'workers', permission: 'workers:run' },
    summary: 'Report output of an attempt',
    description:
      'Each event is text of the output, a log line `{"type": "log", "level": "info", "message": "…"}`, or any other ' +
      `JSON. Clients that watch the run receive it as \`run.output\`, and it is kept in the log of the run. ${IGNORED}`,
    params: attempt,
    body: eventsInput,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND'],
    examples: {
      body: {
        events: ['Three reports', { type: 'log', level: 'info', message: 'Reading report 1', fields: { pages: 12 } }],
      },
      answer: running,
    },
  }).by(({ ctx, ports, caller, params, body }) =>
    publishEvents({ ports, workers: ctx.workers }, caller, { id: params.id, events: body.events }),
  ),
  'worker.complete': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/complete', tag: 'workers', permission: 'workers:run' },
    summary: 'Report the result of an attempt',
    description:
      'Responses of agents, callbacks and workers report results in the same format. A repeated result, and the result of an ' +
      'earlier attempt, get `ignored: true` and change nothing.',
    params: attempt,
    body: resultInput,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND'],
    examples: {
      body: { status: 'success', output: 'Three reports, no surprises', usage: { input_tokens: 900 } },
      answer: { status: 'success', ignored: false, cancel: false, reason: null, ends_by: null },
    },
  }).by(async ({ ctx, ports, caller, params, body }) => {
    const answer = await completeAttempt({ ports, workers: ctx.workers }, caller, { id: params.id, result: body })
    if (answer.ignored) logLateReport(ctx, params.id)
    return answer
  }),
}

/** Logs a report that came too late. */
function logLateReport({ log }: Pick<OperationContext, 'log'>, attempt: string): void {
  log({ level: 'info', message: 'A late report changed nothing', facts: { attempt, reason: 'stale_report' } })
}
