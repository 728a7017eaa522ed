import type { sessionOperations } from '../../contract/operations/sessions.ts'
import { ErrGatewayDraining } from '../../contract/refusals.ts'
import type { MessageInput, MessageReceipt, StopAnswer } from '../../contract/session.ts'
import { runId, type AgentId } from '../../core/ids.ts'
import { isTerminal } from '../../core/run/run-machine.ts'
import type { Once } from '../../service/idempotent.ts'
import { isCommand, sendMessage, stopByKey } from '../../service/messages.ts'
import { findMessages } from '../../service/session-messages.ts'
import { changeSession, findSessions, getSession } from '../../service/sessions-view.ts'
import { answer, type Call, type HandlersOf } from '../call.ts'
import { settledRun } from '../settled-run.ts'

type Send = Call<(typeof sessionOperations)['sessions.send']>
type Sent = ReturnType<HandlersOf<typeof sessionOperations>['sessions.send']>

const isReceipt = (sent: MessageReceipt | StopAnswer): sent is MessageReceipt => 'run_id' in sent

async function send(call: Send, agent: AgentId | null): Promise<Awaited<Sent>> {
  const { ctx, ports, caller, body, query } = call
  if (ctx.isDraining() && !isCommand(body)) throw new ErrGatewayDraining()
  const { orgId, principal, trace, railed, through } = caller
  const from = { orgId, principal, trace, railed, through, live: ctx.live, defaultAgent: () => agent }
  const sent = await sendMessage(ports, from, { key: call.params.key, input: withSender(call), once: onceOf(call) })
  if (!isReceipt(sent)) return answer(200, sent)
  if (query.wait !== undefined && query.wait > 0) return waited(call, sent, query.wait)
  return received(sent)
}

/**
 * A message that names no sender comes from its key or member, so that a burst of them is one run. What may be repeated
 * by its idempotency key, and what a run sends, is not typed by a person: it is left without a sender.
 */
function withSender({ caller, principal, body }: Send): MessageInput {
  const isFromRun = body.parent_run_id !== undefined || (caller.railed?.attempt ?? null) !== null
  if (body.sender !== undefined || caller.once !== undefined || isFromRun || isCommand(body)) return body
  return { ...body, sender: principal.id }
}

/** How long somebody is willing to wait is not part of what is done once. */
function onceOf({ caller, principal, params, request }: Send): Once | undefined {
  const { once } = caller
  return once && { ...once, principal: principal.id, body: { key: params.key, input: request.body } }
}

async function waited(call: Send, receipt: MessageReceipt, seconds: number): Promise<Awaited<Sent>> {
  const { ctx, caller } = call
  const id = runId(receipt.run_id)
  const run = await settledRun(call, id, seconds * 1_000)
  if (isTerminal(run.status)) return answer(200, run)
  return received({ ...receipt, state: run.status, position: ctx.live.positionOf(caller.orgId, id) })
}

const received = (receipt: MessageReceipt): Awaited<Sent> =>
  receipt.duplicate === true ? answer(200, receipt) : answer(202, receipt)

/** Conversations: what is said, and how their work queues. */
export const sessionHandlers: HandlersOf<typeof sessionOperations> = {
  'sessions.list': ({ ports, caller, query }) => findSessions(ports, caller.orgId, query),
  'sessions.get': ({ ports, caller, params }) => getSession(ports, caller.orgId, params.key),
  'sessions.update': ({ ports, caller, params, body }) => changeSession(ports, { ...caller, key: params.key }, body),
  'sessions.messages': ({ ports, caller, params, query }) =>
    findMessages(ports, { orgId: caller.orgId, key: params.key }, query),
  'sessions.send': (call) => {
    const agent = call.ctx.defaultAgent(call.caller.orgId)
    return agent instanceof Promise ? agent.then((known) => send(call, known)) : send(call, agent)
  },
  'sessions.stop': ({ ports, caller, params }) => stopByKey(ports, caller, { key: params.key, how: 'stop' }),
  'sessions.stopAll': ({ ports, caller, params }) => stopByKey(ports, caller, { key: params.key, how: 'stopall' }),
  'sessions.reset': ({ ports, caller, params }) => stopByKey(ports, caller, { key: params.key, how: 'reset' }),
}
