import { z } from 'zod'
import { pageFilter } from '../common.ts'
import { sessionKeyText } from '../fields.ts'
import { run } from '../run.ts'
import {
  messageInput,
  messagePage,
  messageReceipt,
  session,
  sessionChange,
  sessionFilter,
  sessionPage,
  stopAnswer,
} from '../session.ts'
import { operation } from './operation.ts'

const one = z.strictObject({ key: sessionKeyText })

/** Nobody waits longer: proxies and people give up before. */
const LONGEST_WAIT_SECONDS = 300

/** Conversations: what is said, and how their work queues. Keys are percent-encoded. */
export const sessionOperations = {
  'sessions.list': operation({
    ...{ method: 'GET', path: '/api/v1/sessions', tag: 'sessions', permission: 'sessions:read' },
    summary: 'Lists sessions',
    description: 'Sessions that runs of schedules have of their own are listed with `isolated=true`.',
    query: sessionFilter,
    answers: { 200: sessionPage },
  }),
  'sessions.get': operation({
    ...{ method: 'GET', path: '/api/v1/sessions/:key', tag: 'sessions', permission: 'sessions:read' },
    rails: 'session',
    summary: 'Shows a session and how much of its work is pending',
    params: one,
    answers: { 200: session },
    refusals: ['NOT_FOUND'],
  }),
  'sessions.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/sessions/:key', tag: 'sessions', permission: 'sessions:write' },
    summary: 'Changes how a session queues',
    description: 'A session that is not there yet begins with it. Null gives a rule back to the deployment.',
    params: one,
    body: sessionChange,
    answers: { 200: session },
    examples: { body: { mode: 'interrupt', max_concurrent: 3 } },
  }),
  'sessions.messages': operation({
    ...{ method: 'GET', path: '/api/v1/sessions/:key/messages', tag: 'sessions', permission: 'sessions:read' },
    rails: 'session',
    summary: 'Lists what was said to a session and what came of it',
    description:
      'Newest first, one for each run of the session: messages that were merged are one, and what schedules and ' +
      'others brought into the session is among them.',
    params: one,
    query: pageFilter,
    answers: { 200: messagePage },
    refusals: ['NOT_FOUND'],
  }),
  'sessions.send': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/messages', tag: 'sessions', permission: 'sessions:write' },
    rails: 'session',
    summary: 'Sends a message into a session',
    description:
      'The agent is the one the key names (`agent:<agent>:…`), else the default agent of the org. With `wait`, the ' +
      'settled run is answered under 200 when it settles within that many seconds, else the receipt under 202. The ' +
      'texts `/stop` and `/stopall` are the commands, answered under 200, also while the node goes down. A `message_id` ' +
      'that was sent before is answered under 200 with the first run and `duplicate`. ' +
      'Without `sender` the sender is the key or member that sends it: messages of one sender inside the debounce window are one run. A ' +
      'request with an `Idempotency-Key` that names no sender is not debounced.',
    ...{ creates: true, admits: true },
    params: one,
    query: z.strictObject({ wait: z.number().min(0).max(LONGEST_WAIT_SECONDS).optional() }),
    body: messageInput,
    answers: { 200: z.union([run, stopAnswer, messageReceipt]), 202: messageReceipt },
    refusals: ['NOT_FOUND', 'SESSION_QUEUE_FULL', 'BUDGET', 'RUNS_PER_DAY', 'DRAINING'],
    examples: { body: { text: 'What is new?', sender: 'ann' } },
  }),
  'sessions.stop': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/stop', tag: 'sessions', permission: 'sessions:write' },
    rails: 'session',
    summary: 'Cancels the oldest active run of a session',
    params: one,
    answers: { 200: stopAnswer },
    examples: { answer: { stopped: 1, drained: 0 } },
  }),
  'sessions.stopAll': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/stopall', tag: 'sessions', permission: 'sessions:write' },
    rails: 'session',
    summary: 'Cancels what is active in a session and drains what waits',
    description: 'What was sent before and surfaces later ends `cancelled`, reason `stale`.',
    params: one,
    answers: { 200: stopAnswer },
    examples: { answer: { stopped: 2, drained: 5 } },
  }),
  'sessions.reset': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/reset', tag: 'sessions', permission: 'sessions:write' },
    summary: 'Begins a new generation of a session',
    description: 'What waits ends `cancelled`, reason `lane_cleared`; what is active is cancelled.',
    params: one,
    answers: { 200: stopAnswer },
    examples: { answer: { stopped: 1, drained: 2 } },
  }),
}
