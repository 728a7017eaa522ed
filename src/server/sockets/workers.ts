import { workerOperations } from '../../features/workers/routes.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import { callerFrom } from '../../operations/context.ts'
import type { Operation } from '../../operations/handler.ts'
import { executeOperation, readersFor, type OperationCall } from '../../operations/perform.ts'
import type { HttpContext } from '../http/context.ts'
import { readJsonBody } from '../http/json-body.ts'
import { internalError, problemOf, refusalOf } from '../http/problem.ts'
import { sendOnSocket } from '../rpc/message-lane.ts'
import type { SocketConnection, MessageReceiver, SocketService } from './sockets.ts'

/**
 * The worker API over one WebSocket. A message is `{id, call, attempt_id?, body?}`, its response `{id, status, body}`
 * with the same id, where `status` and `body` are those of the HTTP request. Responses are sent when they are ready, so
 * a waiting claim does not block the others.
 */
export const workerSockets: SocketService = {
  path: '/api/v1/worker/socket',
  needs: { permission: 'workers:run' },
  open: openReceiver,
}

const CALLS = ['claim', 'start', 'renew', 'events', 'complete'] as const

/** Above these limits, reading pauses. */
const MAX_CONCURRENT_CALLS = 64
const MAX_PENDING_BYTES = 1_048_576

function openReceiver(connection: SocketConnection): MessageReceiver {
  const { socket } = connection
  const gone = new AbortController()
  let [working, bytes] = [0, 0]
  const isFull = (): boolean => working >= MAX_CONCURRENT_CALLS || bytes >= MAX_PENDING_BYTES
  return {
    put: (bytesReceived) => {
      working += 1
      bytes += bytesReceived.length
      if (isFull()) socket.pause()
      void answerWorkerMessage(connection, bytesReceived, gone.signal)
        // Counted until the response was sent, so that a client that does not read is not read from.
        .then((response) =>
          response === null || gone.signal.aborted ? undefined : sendOnSocket(socket, JSON.stringify(response)),
        )
        .finally(() => {
          working -= 1
          bytes -= bytesReceived.length
          if (!isFull() && socket.isPaused) socket.resume()
        })
    },
    close: () => {
      gone.abort()
    },
  }
}

interface WorkerResponse {
  readonly id: unknown
  readonly status: number
  readonly body: unknown
}

async function answerWorkerMessage(
  connection: SocketConnection,
  bytesReceived: Buffer,
  signal: AbortSignal,
): Promise<WorkerResponse | null> {
  const { routing, nameMessage, checkAccess } = connection
  const { ctx } = routing
  const name = nameMessage()
  let id: unknown = null
  try {
    const message = readMessage(bytesReceived)
    id = message['id'] ?? null
    const known = await checkAccess()
    if (known.kind === 'shown_out') return null
    if (known.kind === 'unknown') throw known.why
    const { principal } = known
    return { id, status: 200, body: await executeWorkerCall({ ctx, principal, signal }, message) }
  } catch (error) {
    const expected = refusalOf(error)
    if (expected === null)
      ctx.log({
        level: 'error',
        message: 'A worker message failed',
        facts: { request_id: name, error: String(error) },
      })
    const refusal = expected ?? internalError(name)
    ctx.metrics.countRefusal(refusal.code)
    return { id, status: refusal.status, body: problemOf(refusal, name) }
  }
}

type WorkerMessage = Readonly<Record<string, unknown>>

function readMessage(bytesReceived: Buffer): WorkerMessage {
  const message = readJsonBody(bytesReceived)
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message as WorkerMessage
  throw new Refusal('MALFORMED', 'A message must be an object {id, call, attempt_id?, body?}')
}

interface WorkerCall {
  readonly ctx: HttpContext
  readonly principal: Principal
  readonly signal: AbortSignal
}

/** Executes the operation of the same name, with the same validation. */
function executeWorkerCall({ ctx, principal, signal }: WorkerCall, message: WorkerMessage): unknown {
  const name = CALLS.find((one) => one === message['call'])
  if (name === undefined)
    throw invalid([
      { field: 'call', value: message['call'], message: 'is not a known call', allowed: CALLS.join(', ') },
    ])
  const operation: Operation = workerOperations[`worker.${name}`]
  const readers = readersFor(operation)
  const call: OperationCall = {
    ...{ ctx, ports: ctx.ports, principal, caller: callerFrom(principal, undefined), http: null },
    ...{
      params: readers.params?.({ id: message['attempt_id'] }) ?? {},
      query: {},
      body: readers.body?.(message['body']),
    },
    ...{ ifMatch: undefined, signal: () => signal },
  }
  return executeOperation(operation, call, (work) => work(null))
}
