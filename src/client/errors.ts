import type { Problem, ProblemError } from '../api/problem.ts'
import type { RefusalCode } from '../api/refusals.ts'
import type { TaskError } from '../features/tasks/schema.ts'

/** Errors of the client itself: the server could not be reached, or it is not an Escapement server. */
export type ClientCode = 'UNREACHABLE' | 'BAD_ANSWER'

export interface EscapementErrorOptions {
  /** The HTTP status; null if there was no response. */
  readonly status?: number | null
  readonly code: RefusalCode | ClientCode
  readonly requestId?: string | null
  readonly title?: string | null
  readonly errors?: readonly ProblemError[]
  readonly retryAfterMs?: number | null
  readonly runId?: string | null
  readonly details?: Readonly<Record<string, unknown>>
  readonly idempotencyKey?: string | null
  readonly cause?: unknown
}

/** A failed call. A call that the server rejected has changed nothing except the run that `runId` names. */
export class EscapementError extends Error {
  override readonly name = 'EscapementError'
  readonly status: number | null
  /** Stable, for programs: an error code of the server, or `UNREACHABLE` or `BAD_ANSWER` of this client. */
  readonly code: RefusalCode | ClientCode
  /** Identifies the request in the server log. */
  readonly requestId: string | null
  readonly title: string | null
  /** The invalid fields of the input, each with a JSON pointer. */
  readonly errors: readonly ProblemError[]
  /** When to retry; null if the server did not say. */
  readonly retryAfterMs: number | null
  /** The run that records the rejected request. */
  readonly runId: string | null
  readonly details: Readonly<Record<string, unknown>>
  /** The idempotency key of the failed create call; a repeated call with it creates the object at most once. */
  readonly idempotencyKey: string | null

  constructor(message: string, options: EscapementErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = options.status ?? null
    this.code = options.code
    this.requestId = options.requestId ?? null
    this.title = options.title ?? null
    this.errors = options.errors ?? []
    this.retryAfterMs = options.retryAfterMs ?? null
    this.runId = options.runId ?? null
    this.details = options.details ?? {}
    this.idempotencyKey = options.idempotencyKey ?? null
  }
}

/** The parts of a request that its error needs. */
export interface RequestInfo {
  /** Path and query. */
  readonly target: string
  readonly idempotencyKey: string | null
}

/** The error for an error response. */
export async function errorOfResponse(
  response: Response,
  { target, idempotencyKey }: RequestInfo,
): Promise<EscapementError> {
  const about = { status: response.status, requestId: response.headers.get('x-request-id'), idempotencyKey }
  const problem = await problemInResponse(response, target)
  if (problem === null)
    return new EscapementError(`The response with status ${response.status} is not from an Escapement server`, {
      ...about,
      code: 'BAD_ANSWER',
    })
  const retryAfterMs = retryAfterOf(response.headers.get('retry-after'))
  if (!('detail' in problem))
    return new EscapementError(problem.error, { ...about, ...taskErrorOptions(problem, response), retryAfterMs })
  return new EscapementError(problem.detail, {
    ...about,
    code: problem.code,
    requestId: problem.request_id,
    title: problem.title,
    errors: problem.errors ?? [],
    retryAfterMs,
    runId: problem.run_id ?? null,
    details: problem.details ?? {},
  })
}

const FACADE = /^\/(?:tasks|scheduler\/stats)(?:[/?]|$)/

/** The problem in the response, or the task error of the tasks façade. */
async function problemInResponse(response: Response, target: string): Promise<Problem | TaskError | null> {
  const type = response.headers.get('content-type') ?? ''
  const isFacade = FACADE.test(target) && type.startsWith('application/json')
  if (!isFacade && !type.startsWith('application/problem+json')) {
    await response.body?.cancel()
    return null
  }
  const problem: unknown = await response.json().catch(() => null)
  const isOurs =
    typeof problem === 'object' && problem !== null && 'code' in problem && (isFacade ? 'error' : 'detail') in problem
  return isOurs ? (problem as Problem | TaskError) : null
}

/** Error codes for the façade codes that are not just their lower-case form. */
const CODES: Readonly<Record<string, RefusalCode>> = {
  error: 'VALIDATION',
  missing_token: 'UNAUTHENTICATED',
  bad_token: 'UNAUTHENTICATED',
}

function taskErrorOptions(
  { code, details = {} }: TaskError,
  { status }: Response,
): Omit<EscapementErrorOptions, 'status'> {
  const { errors, taskId } = details as { readonly errors?: readonly ProblemError[]; readonly taskId?: string }
  return {
    code: status === 413 ? 'BODY_TOO_LARGE' : (CODES[code] ?? (code.toUpperCase() as RefusalCode)),
    errors: errors ?? [],
    runId: taskId ?? null,
    details,
  }
}

/** Seconds from an Escapement server; a proxy may send a date. */
function retryAfterOf(header: string | null): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}
