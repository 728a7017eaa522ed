import type { Problem } from '../api/problem.ts'
import type { SimulateAnswer, SimulateInput, SimulationProgress } from '../features/simulation/schema.ts'
import { baseOf, readChunks, type ClientOptions, authHeaders, type Outgoing, unreachable } from './request.ts'
import { EscapementError, errorOfResponse } from './errors.ts'
import { createStreamReader, type StreamMessage } from './events.ts'

/** Options of a simulation, beside its input. */
export interface SimulationOptions {
  /** Aborts the call, which then rejects with the signal's reason; the server stops computing as well. */
  readonly signal?: AbortSignal | undefined
  /** Receives progress about ten times a second. */
  readonly onProgress?: ((progress: SimulationProgress) => void) | undefined
  /** How long to wait for the response; 4 minutes by default. */
  readonly timeoutMs?: number | undefined
}

const PATH = '/api/v1/schedules/simulate'
const SIMULATION_TIMEOUT_MS = 240_000

/** Runs a simulation on the server and reports its progress. */
export async function streamSimulation(
  options: ClientOptions,
  input: SimulateInput,
  simulationOptions: SimulationOptions,
): Promise<SimulateAnswer> {
  const { signal, timeoutMs = SIMULATION_TIMEOUT_MS } = simulationOptions
  const { fetch: sendFetch = globalThis.fetch } = options
  const outgoing: Outgoing = {
    ...{ method: 'POST', target: PATH, headers: {}, signal, timeoutMs, repeatable: false, idempotencyKey: null },
  }
  const limit = AbortSignal.timeout(timeoutMs)
  const over = signal === undefined ? limit : AbortSignal.any([limit, signal])
  try {
    const response = await sendFetch(`${baseOf(options)}${PATH}`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...authHeaders(options, 'POST') },
      body: JSON.stringify(input),
      signal: over,
      redirect: 'error',
    })
    if (!response.ok || response.body === null) throw await errorOfResponse(response, outgoing)
    for await (const { event, data } of messagesOf(response.body, over)) {
      if (event === 'progress') simulationOptions.onProgress?.(JSON.parse(data) as SimulationProgress)
      if (event === 'problem') throw errorOfProblem(JSON.parse(data) as Problem)
      if (event === 'result') return JSON.parse(data) as SimulateAnswer
    }
    over.throwIfAborted()
    throw cutOffError(response)
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
  for await (const chunk of readChunks(body, signal)) yield* messages.push(decoder.decode(chunk, { stream: true }))
}

const errorOfProblem = ({
  detail,
  status,
  code,
  title,
  errors,
  request_id: requestId,
  details,
}: Problem): EscapementError =>
  new EscapementError(detail, {
    ...{ status, code, title, requestId, errors: errors ?? [], details: details ?? {} },
  })

const cutOffError = (response: Response): EscapementError =>
  new EscapementError('The response was cut off before the result', {
    ...{ status: response.status, code: 'BAD_ANSWER', requestId: response.headers.get('x-request-id') },
  })
