import { z } from 'zod'
import { pageFilter } from '../../api/common.ts'
import { sessionKeyText, waitQuery } from '../../api/fields.ts'
import type { Answer, OperationSpec } from '../../api/operation.ts'
import { ErrGatewayDraining } from '../../api/refusals.ts'
import { type AgentId, runId } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { IdempotentRequest } from '../../engine/idempotency.ts'
import { positionOf } from '../../engine/live-port.ts'
import { run, type RunView } from '../runs/schema.ts'
import { getRun } from '../runs/service.ts'
import {
  messageInput,
  type MessageInput,
  messagePage,
  messageReceipt,
  type MessageReceipt,
  messagesAnswer,
  type MessagesAnswer,
  messagesInput,
  session,
  sessionChange,
  sessionFilter,
  sessionPage,
  stopAnswer,
  type StopAnswer,
} from './schema.ts'
import { sendMessage, sendMessages, type MessageContext } from './send.ts'
import { isCommand, stopByKey } from './service.ts'
import { updateSession, findMessages, findSessions, getSession } from './view.ts'
import { answer, type Call, operation, readAfterEnd } from '../../operations/handler.ts'

const keyParams = z.strictObject({ key: sessionKeyText })

/** A request that sends a message. Declared, because inferring it from the table would be circular. */
interface SendCall extends Pick<Call<OperationSpec>, 'ctx' | 'ports' | 'caller' | 'signal'> {
  readonly params: { readonly key: string }
  readonly query: { readonly wait?: number | undefined }
  readonly body: MessageInput
}
type SendResponse = Answer<200, RunView | StopAnswer | MessageReceipt> | Answer<202, MessageReceipt>

const isReceipt = (sent: MessageReceipt | StopAnswer): sent is MessageReceipt => 'run_id' in sent

async function handleSend(call: SendCall, agent: AgentId | null): Promise<SendResponse> {
  const { ctx, ports, body, query } = call
  if (ctx.isDraining() && !isCommand(body)) throw new ErrGatewayDraining()
  const sent = await sendMessage(ports, contextOf(call, agent), {
    key: call.params.key,
    input: withSender(call),
    once: messageOnceOf(call),
  })
  if (!isReceipt(sent)) return answer(200, sent)
  if (query.wait !== undefined && query.wait > 0) return answerAfterWait(call, sent, query.wait)
  return answerWithReceipt(sent)
}

/** Typed, because a misspelled optional field would drop the restrictions of the key in silence. */
const contextOf = ({ ctx, caller }: Pick<SendCall, 'ctx' | 'caller'>, agent: AgentId | null): MessageContext => ({
  orgId: caller.orgId,
  principal: caller.principal,
  trace: caller.trace,
  restricted: caller.restricted,
  through: caller.through,
  live: ctx.live,
  defaultAgent: () => agent,
})

interface SendManyCall extends Pick<SendCall, 'ctx' | 'ports' | 'caller'> {
  readonly body: { readonly messages: readonly unknown[] }
}

async function handleSendMany(call: SendManyCall, agent: AgentId | null): Promise<MessagesAnswer> {
  const { ctx, ports, caller, body } = call
  const from = { ...contextOf(call, agent), isDraining: ctx.isDraining(), once: caller.once }
  const items = await sendMessages(ports, from, body.messages)
  const accepted = items.filter(({ ok }) => ok).length
  return { items, accepted, refused: items.length - accepted }
}

/**
 * Sets the sender of a message without one to its key or member, so that a burst of messages becomes one run. Messages
 * with an idempotency key and messages of a run are not typed by a person and stay without a sender.
 */
function withSender({ caller, body }: SendCall): MessageInput {
  const isFromRun = body.parent_run_id !== undefined || (caller.restricted?.attempt ?? null) !== null
  if (
    caller.principal === null ||
    body.sender !== undefined ||
    caller.once !== undefined ||
    isFromRun ||
    isCommand(body)
  )
    return body
  return { ...body, sender: caller.principal }
}

/** How long the caller waits is not part of what an idempotency key covers. */
function messageOnceOf({ caller, params }: SendCall): IdempotentRequest | undefined {
  const { once } = caller
  if (once === undefined) return undefined
  const { body: input } = once.body as { readonly body: unknown }
  return { ...once, principal: caller.principal ?? 'library', body: { key: params.key, input } }
}

async function answerAfterWait(call: SendCall, receipt: MessageReceipt, seconds: number): Promise<SendResponse> {
  const { ctx, caller } = call
  const id = runId(receipt.run_id)
  const run = await readAfterEnd(call, id, {
    seconds,
    read: () => getRun(call.ports, caller.orgId, id),
    hasEnded: ({ status }) => isTerminal(status),
  })
  if (isTerminal(run.status)) return answer(200, run)
  const ports = { database: call.ports.database, live: ctx.live }
  return answerWithReceipt({
    ...receipt,
    state: run.status,
    position: (await positionOf(ports, caller.orgId, id)) ?? null,
  })
}

const answerWithReceipt = (receipt: MessageReceipt): SendResponse =>
  receipt.duplicate === true ? answer(200, receipt) : answer(202, receipt)

/** Sessions: their messages and queueing. Keys are percent-encoded. */
export const sessionOperations = {
  'sessions.list': operation({
    ...{ method: 'GET', path: '/api/v1/sessions', tag: 'sessions', permission: 'sessions:read' },
    summary: 'List sessions',
    description: 'Sessions of isolated scheduled runs are listed with `isolated=true`.',
    query: sessionFilter,
    answers: { 200: sessionPage },
  }).by(({ ports, caller, query }) => findSessions(ports, caller.orgId, query)),
  'sessions.get': operation({
    ...{ method: 'GET', path: '/api/v1/sessions/:key', tag: 'sessions', permission: 'sessions:read' },
    restrictedAccess: 'session',
    summary: 'Get a session and its pending work',
    params: keyParams,
    answers: { 200: session },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getSession(ports, caller.orgId, params.key)),
  'sessions.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/sessions/:key', tag: 'sessions', permission: 'sessions:write' },
    summary: 'Update the queueing of a session',
    description: 'Creates the session if it does not exist. Null restores the setting of the deployment.',
    params: keyParams,
    body: sessionChange,
    answers: { 200: session },
    examples: { body: { mode: 'interrupt', max_concurrent: 3 } },
  }).by(({ ports, caller, params, body }) => updateSession(ports, { ...caller, key: params.key }, body)),
  'sessions.messages': operation({
    ...{ method: 'GET', path: '/api/v1/sessions/:key/messages', tag: 'sessions', permission: 'sessions:read' },
    restrictedAccess: 'session',
    summary: 'List the messages of a session and their replies',
    description:
      'Newest first, one entry per run of the session: merged messages are one entry, and runs of schedules and ' +
      'other triggers are included.',
    params: keyParams,
    query: pageFilter,
    answers: { 200: messagePage },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params, query }) => findMessages(ports, { orgId: caller.orgId, key: params.key }, query)),
  'sessions.send': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/messages', tag: 'sessions', permission: 'sessions:write' },
    restrictedAccess: 'session',
    summary: 'Send a message to a session',
    description:
      'The agent is the one in the key (`agent:<agent>:…`), else the default agent of the org. With `wait`, the ' +
      'answer is the settled run with 200 if it settles within that many seconds, else the receipt with 202. The ' +
      'texts `/stop` and `/stopall` are commands, answered with 200, also while the node drains. A repeated ' +
      '`message_id` is answered with 200, the first run and `duplicate`. Without `sender` the sender is the key or ' +
      'member that sends it: messages of one sender within the debounce window become one run. A request with an ' +
      '`Idempotency-Key` and no sender is not debounced.',
    ...{ creates: true, admits: true },
    params: keyParams,
    query: waitQuery,
    body: messageInput,
    answers: { 200: z.union([run, stopAnswer, messageReceipt]), 202: messageReceipt },
    refusals: ['NOT_FOUND', 'SESSION_QUEUE_FULL', 'BUDGET', 'RUNS_PER_DAY', 'DRAINING'],
    examples: { body: { text: 'What is new?', sender: 'ann' } },
  }).by((call) => {
    const agent = call.ctx.defaultAgent(call.caller.orgId)
    return agent instanceof Promise ? agent.then((known) => handleSend(call, known)) : handleSend(call, agent)
  }),
  'sessions.sendMany': operation({
    ...{ method: 'POST', path: '/api/v1/messages', tag: 'sessions', permission: 'sessions:write' },
    restrictedAccess: 'list',
    summary: 'Send up to 1,000 messages',
    description:
      'Messages to any sessions, in order and in one transaction. Each is decided and answered on its own, as if it ' +
      'were sent alone, except that its position is not computed and that a message without `sender` is not ' +
      'debounced. If all are invalid, the call is refused. An `Idempotency-Key` covers the whole call.',
    ...{ creates: true, admits: true },
    body: messagesInput,
    answers: { 202: messagesAnswer },
    refusals: ['NOT_FOUND', 'DRAINING'],
    examples: {
      body: {
        messages: [
          { session: 'agent:echo:mail:dm:ann', text: 'Your order has shipped.' },
          { session: 'agent:echo:mail:dm:ben', text: 'Your order is late.' },
        ],
      },
    },
  }).by((call) => {
    const agent = call.ctx.defaultAgent(call.caller.orgId)
    return agent instanceof Promise ? agent.then((known) => handleSendMany(call, known)) : handleSendMany(call, agent)
  }),
  'sessions.stop': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/stop', tag: 'sessions', permission: 'sessions:write' },
    restrictedAccess: 'session',
    summary: 'Cancel the oldest active run of a session',
    params: keyParams,
    answers: { 200: stopAnswer },
    examples: { answer: { stopped: 1, drained: 0 } },
  }).by(({ ports, caller, params }) => stopByKey(ports, caller, { key: params.key, how: 'stop' })),
  'sessions.stopAll': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/stopall', tag: 'sessions', permission: 'sessions:write' },
    restrictedAccess: 'session',
    summary: 'Cancel the active runs of a session and empty its queue',
    description: 'Messages sent before that arrive later end as `cancelled`, reason `stale`.',
    params: keyParams,
    answers: { 200: stopAnswer },
    examples: { answer: { stopped: 2, drained: 5 } },
  }).by(({ ports, caller, params }) => stopByKey(ports, caller, { key: params.key, how: 'stopall' })),
  'sessions.reset': operation({
    ...{ method: 'POST', path: '/api/v1/sessions/:key/reset', tag: 'sessions', permission: 'sessions:write' },
    summary: 'Start a new generation of a session',
    description: 'Waiting runs end as `cancelled`, reason `lane_cleared`; active runs are cancelled.',
    params: keyParams,
    answers: { 200: stopAnswer },
    examples: { answer: { stopped: 1, drained: 2 } },
  }).by(({ ports, caller, params }) => stopByKey(ports, caller, { key: params.key, how: 'reset' })),
}
