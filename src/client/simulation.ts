import type { Problem } from '../api/problem.ts'
import type { SimulateAnswer, SimulateInput, SimulationProgress } from '../features/simulation/schema.ts'
import { chunksOf } from './chunks.ts'
import { EscapementError, refusalIn } from './errors.ts'
import { createStreamReader, type StreamMessage } from './event-stream.ts'
import { baseOf, identityOf, unreachable, type ClientOptions, type Outgoing } from './request.ts'

/** What a simulation may be told beside its input. */
export interface SimulationOptions {
  /** Ends it; it then rejects with the signal's reason, and the server stops as well. */
  readonly signal?: AbortSignal | undefined
  /** Hears how far it is, about ten times a second. */
  readonly onProgress?: ((progress: SimulationProgress) => void) | undefined
  /** How long to wait for the answer; four minutes unless given. */
  readonly timeoutMs?: number | undefined
}

const PATH = '/api/v1/schedules/simulate'
const USUAL_TIMEOUT_MS = 240_000

/** Asks what would happen, and tells how far the server is. */
export async function streamSimulation(
  options: ClientOptions,
  input: SimulateInput,
  wanted: SimulationOptions,
): Promise<SimulateAnswer> {
  const { signal, timeoutMs = USUAL_TIMEOUT_MS } = wanted
  const { fetch: ask = globalThis.fetch } = options
  const outgoing: Outgoing = {
    ...{ method: 'POST', target: PATH, headers: {}, signal, timeoutMs, repeatable: false, idempotencyKey: null },
  }
  const limit = AbortSignal.timeout(timeoutMs)
  const over = signal === undefined ? limit : AbortSignal.any([limit, signal])
  try {
    const response = await ask(`${baseOf(options)}${PATH}`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...identityOf(options, 'POST') },
      body: JSON.stringify(input),
      signal: over,
      redirect: 'error',
    })
    if (!response.ok || response.body === null) throw await refusalIn(response, outgoing)
    for await (const { event, data } of messagesOf(response.body, over)) {
      if (event === 'progress') wanted.onProgress?.(JSON.parse(data) as SimulationProgress)
      if (event === 'problem') throw refused(JSON.parse(data) as Problem)
      if (event === 'result') return JSON.parse(data) as SimulateAnswer
    }
    over.throwIfAborted()
    throw brokenOff(response)
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof EscapementError ? error : unreachable(options, outgoing, error)
  }
}

async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage, void, undefined> {
  const messages = createStreamReader('')
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(body, signal)) yield* messages.push(decoder.decode(chunk, { stream: true }))
}

const refused = ({ detail, status, code, title, errors, request_id: requestId, details }: Problem): EscapementError =>
  new EscapementError(detail, {
    ...{ status, code, title, requestId, errors: errors ?? [], details: details ?? {} },
  })

const brokenOff = (response: Response): EscapementError =>
  new EscapementError('The answer broke off before there was a result', {
    ...{ status: response.status, code: 'BAD_ANSWER', requestId: response.headers.get('x-request-id') },
  })
