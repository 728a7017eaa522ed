import { z } from 'zod'
import { id } from '../common.ts'
import { resultInput } from '../run.ts'
import { claimAnswer, claimInput, eventsInput, workerAnswer, workerPage } from '../worker.ts'
import { operation } from './operation.ts'

const attempt = z.strictObject({ id })
const IGNORED =
  'Of an attempt that is not the current one any more it changes nothing: `ignored` and `cancel` are true, and the ' +
  'worker should stop.'
const running = { status: 'running', ignored: false, cancel: false, reason: null, ends_by: '2026-03-01T07:10:00.000Z' }

/** Programs elsewhere that perform the work of agents. */
export const workerOperations = {
  'workers.list': operation({
    ...{ method: 'GET', path: '/api/v1/workers', tag: 'workers', permission: 'agents:read' },
    summary: 'Lists the workers that are connected, those that came first before the others',
    description: 'At most 200. A worker that has said nothing for the length of a lease is not `alive`.',
    answers: { 200: workerPage },
  }),
  'worker.claim': operation({
    ...{ method: 'POST', path: '/api/v1/worker/claim', tag: 'workers', permission: 'workers:run' },
    summary: 'Asks for attempts to perform, and waits for them',
    description:
      'Answers as soon as there is something to begin or to stop, and with nothing when the wait is over. A worker is ' +
      'given at most `capacity` attempts less those it holds. The question keeps its lease while it is open.',
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
  }),
  'worker.start': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/start', tag: 'workers', permission: 'workers:run' },
    summary: 'Says that an attempt has begun',
    description: `From now on its time counts. What was claimed and not begun in time goes to somebody else. ${IGNORED}`,
    params: attempt,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND'],
    examples: { answer: running },
  }),
  'worker.renew': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/renew', tag: 'workers', permission: 'workers:run' },
    summary: 'Renews the lease of the worker that holds an attempt, and asks whether to go on',
    description: `The lease covers everything the worker holds. ${IGNORED}`,
    params: attempt,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND', 'WORKER_LOST'],
    examples: { answer: { ...running, status: 'stopping', cancel: true, reason: 'cancelled' } },
  }),
  'worker.events': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/events', tag: 'workers', permission: 'workers:run' },
    summary: 'Shows what an attempt says on its way',
    description: `Everybody who watches hears it as \`run.output\`. ${IGNORED}`,
    params: attempt,
    body: eventsInput,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND'],
    examples: { body: { events: ['Reading the first of three reports'] }, answer: running },
  }),
  'worker.complete': operation({
    ...{ method: 'POST', path: '/api/v1/worker/attempts/:id/complete', tag: 'workers', permission: 'workers:run' },
    summary: 'Reports how an attempt ended',
    description:
      'The result has the one shape that answers, callbacks and workers share. A repetition, and the result of an ' +
      'earlier attempt, are answered with `ignored: true` and change nothing.',
    params: attempt,
    body: resultInput,
    answers: { 200: workerAnswer },
    refusals: ['NOT_FOUND'],
    examples: {
      body: { status: 'success', output: 'Three reports, no surprises', usage: { input_tokens: 900 } },
      answer: { status: 'success', ignored: false, cancel: false, reason: null, ends_by: null },
    },
  }),
}
