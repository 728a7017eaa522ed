import type { Problem, ProblemError } from '../api/problem.ts'
import type { RefusalCode } from '../api/refusals.ts'
import type { TaskError } from '../features/tasks/schema.ts'

/** What went wrong when it was not the server that refused: it could not be reached, or it is no Escapement. */
export type ClientCode = 'UNREACHABLE' | 'BAD_ANSWER'

export interface EscapementErrorFacts {
  /** The HTTP status; null when nothing answered. */
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

/** Why a call did not do what it was asked to. What the server refused has changed nothing but what `runId` names. */
export class EscapementError extends Error {
  override readonly name = 'EscapementError'
  readonly status: number | null
  /** Stable, for programs: a code of the server, or `UNREACHABLE` or `BAD_ANSWER` of this client. */
  readonly code: RefusalCode | ClientCode
  /** Finds the request in the log of the server. */
  readonly requestId: string | null
  readonly title: string | null
  /** What is wrong with the input, field by field, each with a JSON pointer. */
  readonly errors: readonly ProblemError[]
  /** When it is worth another try; null when nobody said. */
  readonly retryAfterMs: number | null
  /** The run that keeps the record of it. */
  readonly runId: string | null
  readonly details: Readonly<Record<string, unknown>>
  /** The key under which something was to be made: with it the call can be repeated, and makes it once. */
  readonly idempotencyKey: string | null

  constructor(message: string, facts: EscapementErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.status = facts.status ?? null
    this.code = facts.code
    this.requestId = facts.requestId ?? null
    this.title = facts.title ?? null
    this.errors = facts.errors ?? []
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.runId = facts.runId ?? null
    this.details = facts.details ?? {}
    this.idempotencyKey = facts.idempotencyKey ?? null
  }
}

/** What was asked, as far as its refusal needs it. */
export interface Asked {
  /** Path and query. */
  readonly target: string
  readonly idempotencyKey: string | null
}

/** The error for an answer that is a refusal. */
export async function refusalIn(response: Response, { target, idempotencyKey }: Asked): Promise<EscapementError> {
  const about = { status: response.status, requestId: response.headers.get('x-request-id'), idempotencyKey }
  const told = await toldIn(response, target)
  if (told === null)
    return new EscapementError(`The answer, status ${response.status}, is none of Escapement`, {
      ...about,
      code: 'BAD_ANSWER',
    })
  const retryAfterMs = retryAfterOf(response.headers.get('retry-after'))
  if (!('detail' in told))
    return new EscapementError(told.error, { ...about, ...taskFacts(told, response), retryAfterMs })
  return new EscapementError(told.detail, {
    ...about,
    code: told.code,
    requestId: told.request_id,
    title: told.title,
    errors: told.errors ?? [],
    retryAfterMs,
    runId: told.run_id ?? null,
    details: told.details ?? {},
  })
}

const FACADE = /^\/(?:tasks|scheduler\/stats)(?:[/?]|$)/

/** A problem, or what the tasks façade says instead. */
async function toldIn(response: Response, target: string): Promise<Problem | TaskError | null> {
  const type = response.headers.get('content-type') ?? ''
  const isFacade = FACADE.test(target) && type.startsWith('application/json')
  if (!isFacade && !type.startsWith('application/problem+json')) {
    await response.body?.cancel()
    return null
  }
  const told: unknown = await response.json().catch(() => null)
  const isOurs = typeof told === 'object' && told !== null && 'code' in told && (isFacade ? 'error' : 'detail') in told
  return isOurs ? (told as Problem | TaskError) : null
}

/** Our own codes for the words of the façade that are not simply theirs in small letters. */
const CODES: Readonly<Record<string, RefusalCode>> = {
  error: 'VALIDATION',
  missing_token: 'UNAUTHENTICATED',
  bad_token: 'UNAUTHENTICATED',
}

function taskFacts({ code, details = {} }: TaskError, { status }: Response): Omit<EscapementErrorFacts, 'status'> {
  const { errors, taskId } = details as { readonly errors?: readonly ProblemError[]; readonly taskId?: string }
  return {
    code: status === 413 ? 'BODY_TOO_LARGE' : (CODES[code] ?? (code.toUpperCase() as RefusalCode)),
    errors: errors ?? [],
    runId: taskId ?? null,
    details,
  }
}

/** Seconds, as our servers say it; a proxy in between may say a date. */
function retryAfterOf(header: string | null): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}
