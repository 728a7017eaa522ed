import { noRoom } from '../answer-memory.ts'
import type { HostCheck } from '../hosts.ts'
import { chargeAnswer, chargeRequest } from '../../server/http/rate-limit.ts'
import type { Routing } from '../../server/http/routes.ts'
import { addSockets, type SocketGuest, type SocketLimits, type SocketService } from '../sockets.ts'
import { answerRpc } from '../../server/rpc/answer.ts'
import { failed, refusedWith } from '../../server/rpc/message.ts'
import { createLane } from './message-lane.ts'
import { RPC_PATH } from './routes.ts'

/** Calls over WebSockets: each message is what a body of `POST /rpc` would be, and each answer one. */
export const rpcSockets: SocketService = {
  path: RPC_PATH,
  needs: { permission: 'any', rails: 'free' },
  open: (guest) => createLane(guest.socket, (sent) => answer(guest, sent), guest.routing.answers.hold),
}

/** Lets calls come over WebSockets, and nothing else. */
export function addRpcSockets(routing: Routing, hosts: HostCheck, limits: Partial<SocketLimits> = {}): void {
  addSockets(routing, hosts, { services: [rpcSockets], limits })
}

/** The answer to a message; null when there is none. Who speaks is asked again each time: keys are revoked meanwhile. */
async function answer({ routing, nameMessage, standing }: SocketGuest, sent: Buffer): Promise<string | null> {
  const { ctx } = routing
  const requestId = nameMessage()
  const known = await standing()
  if (known.kind === 'shown_out') return null
  if (known.kind === 'unknown') {
    ctx.metrics.refused(known.why.code)
    return JSON.stringify(failed(null, refusedWith(known.why, requestId, undefined)))
  }
  const { principal } = known
  // The bytes of a batch are charged with its first call.
  let bytes = sent.length
  const charge = (): void => {
    chargeRequest(routing, principal, bytes)
    bytes = 0
  }
  const asker = {
    ctx: routing.contextOf(principal),
    principal,
    requestId,
    charge,
    key: undefined,
    traceparent: undefined,
  }
  const said = await answerRpc(asker, sent)
  if (said === null) return null
  const text = JSON.stringify(said)
  chargeAnswer(routing, principal, text.length)
  if (routing.answers.hasRoom(text.length)) return text
  const refusal = noRoom()
  ctx.metrics.refused(refusal.code)
  return JSON.stringify(failed('id' in said ? said.id : null, refusedWith(refusal, requestId, undefined)))
}
