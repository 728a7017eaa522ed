import { workerOperations } from '../features/workers/routes.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import type { Principal } from '../domain/access/access.ts'
import { callerFrom } from '../operations/caller-from.ts'
import type { Operation } from '../operations/handler.ts'
import { perform, readersFor, type DoorCall } from '../operations/perform.ts'
import type { HttpContext } from './context.ts'
import { readJsonBody } from '../server/http/json-body.ts'
import { problemOf } from './problem.ts'
import { send } from './rpc/message-lane.ts'
import type { SocketGuest, SocketLane, SocketService } from './sockets.ts'
import { internal, refusalOf } from './unexpected.ts'

/**
 * The worker's requests over one WebSocket. A message is `{id, call, attempt_id?, body?}`, its answer `{id, status, body}`
 * with the same id; `status` and `body` are what the request over HTTP would have been answered with. Answers come as they
 * are ready, so a claim that waits holds up nobody.
 */
export const workerSockets: SocketService = {
  path: '/api/v1/worker/socket',
  needs: { permission: 'workers:run' },
  open: openLane,
}

const CALLS = ['claim', 'start', 'renew', 'events', 'complete'] as const

/** With more than these being answered, nothing more is read. */
const MOST_AT_ONCE = 64
const MOST_BYTES = 1_048_576

function openLane(guest: SocketGuest): SocketLane {
  const { socket } = guest
  const gone = new AbortController()
  let [working, bytes] = [0, 0]
  const isFull = (): boolean => working >= MOST_AT_ONCE || bytes >= MOST_BYTES
  return {
    put: (sent) => {
      working += 1
      bytes += sent.length
      if (isFull()) socket.pause()
      void answer(guest, sent, gone.signal)
        // Whoever does not take the answers is not read from either: until one has gone out, it is being answered.
        .then((said) => (said === null || gone.signal.aborted ? undefined : send(socket, JSON.stringify(said))))
        .finally(() => {
          working -= 1
          bytes -= sent.length
          if (!isFull() && socket.isPaused) socket.resume()
        })
    },
    close: () => {
      gone.abort()
    },
  }
}

interface Answered {
  readonly id: unknown
  readonly status: number
  readonly body: unknown
}

async function answer(guest: SocketGuest, sent: Buffer, signal: AbortSignal): Promise<Answered | null> {
  const { routing, nameMessage, standing } = guest
  const { ctx } = routing
  const name = nameMessage()
  let id: unknown = null
  try {
    const message = readMessage(sent)
    id = message['id'] ?? null
    const known = await standing()
    if (known.kind === 'shown_out') return null
    if (known.kind === 'unknown') throw known.why
    const { principal } = known
    return { id, status: 200, body: await carryOut({ ctx, principal, signal }, message) }
  } catch (error) {
    const expected = refusalOf(error)
    if (expected === null)
      ctx.log({
        level: 'error',
        message: 'A message of a worker failed',
        facts: { request_id: name, error: String(error) },
      })
    const refusal = expected ?? internal(name)
    ctx.metrics.refused(refusal.code)
    return { id, status: refusal.status, body: problemOf(refusal, name) }
  }
}

type Message = Readonly<Record<string, unknown>>

function readMessage(sent: Buffer): Message {
  const message = readJsonBody(sent)
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message as Message
  throw new Refusal('MALFORMED', 'A message is an object {id, call, attempt_id?, body?}')
}

interface Asking {
  readonly ctx: HttpContext
  readonly principal: Principal
  readonly signal: AbortSignal
}

/** Does what the request of the same name does, after the same look at what it was given. */
function carryOut({ ctx, principal, signal }: Asking, message: Message): unknown {
  const name = CALLS.find((one) => one === message['call'])
  if (name === undefined)
    throw invalid([
      { field: 'call', value: message['call'], message: 'is not something to ask for', allowed: CALLS.join(', ') },
    ])
  const operation: Operation = workerOperations[`worker.${name}`]
  const readers = readersFor(operation)
  const call: DoorCall = {
    ...{ ctx, ports: ctx.ports, principal, caller: callerFrom(principal, undefined), http: null },
    ...{
      params: readers.params?.({ id: message['attempt_id'] }) ?? {},
      query: {},
      body: readers.body?.(message['body']),
    },
    ...{ ifMatch: undefined, signal: () => signal },
  }
  return perform(operation, call, (work) => work(null))
}
