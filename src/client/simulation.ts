import type { Problem } from '../contract/problem.ts'
import type { SimulateAnswer, SimulateInput, SimulationProgress } from '../contract/simulate.ts'
import { EscapementError, refusalIn } from './errors.ts'
import { createStreamReader } from './event-stream.ts'
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
  try {
    const response = await ask(`${baseOf(options)}${PATH}`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...identityOf(options, 'POST') },
      body: JSON.stringify(input),
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      redirect: 'error',
    })
    if (!response.ok || response.body === null) throw await refusalIn(response, outgoing)
    return await read(response, wanted)
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof EscapementError ? error : unreachable(options, outgoing, error)
  }
}

async function read(response: Response, { onProgress }: SimulationOptions): Promise<SimulateAnswer> {
  const messages = createStreamReader('')
  const decoder = new TextDecoder()
  const body = (response.body as ReadableStream<Uint8Array>).getReader()
  try {
    for (;;) {
      const { done, value } = await body.read()
      if (done) throw brokenOff(response)
      for (const { event, data } of messages.push(decoder.decode(value, { stream: true }))) {
        if (event === 'progress') onProgress?.(JSON.parse(data) as SimulationProgress)
        if (event === 'problem') throw refused(JSON.parse(data) as Problem)
        if (event === 'result') return JSON.parse(data) as SimulateAnswer
      }
    }
  } finally {
    // Whoever has what they want leaves no connection behind.
    await body.cancel().catch(() => undefined)
  }
}

const refused = ({ detail, status, code, title, errors, request_id: requestId, details }: Problem): EscapementError =>
  new EscapementError(detail, {
    ...{ status, code, title, requestId, errors: errors ?? [], details: details ?? {} },
  })

const brokenOff = (response: Response): EscapementError =>
  new EscapementError('The answer broke off before there was a result', {
    ...{ status: response.status, code: 'BAD_ANSWER', requestId: response.headers.get('x-request-id') },
  })
