import { describeFlaw, MAX_LISTED_FLAWS, type Flaw } from '../domain/input.ts'

/** Every error code of a rejected request, with its HTTP status. */
export const REFUSAL_CODES = {
  VALIDATION: 400,
  MALFORMED: 400,
  BATCH_TOO_LARGE: 400,
  UNAUTHENTICATED: 401,
  BAD_SIGNATURE: 401,
  FORBIDDEN: 403,
  FOREIGN_ORIGIN: 403,
  CSRF: 403,
  GUARD_RAIL: 403,
  LINEAGE_DEPTH: 403,
  LINEAGE_LOOP: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  CONCURRENCY_LIMIT: 409,
  NOT_RETRYABLE: 409,
  ALREADY_ENDED: 409,
  PENDING_APPROVAL: 409,
  WORKER_LOST: 409,
  STALE_VERSION: 412,
  BODY_TOO_LARGE: 413,
  URL_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MISDIRECTED: 421,
  IDEMPOTENCY_MISMATCH: 422,
  RULE_TOO_DENSE: 422,
  SIMULATION_LIMIT: 422,
  SESSION_QUEUE_FULL: 429,
  QUEUE_FULL: 429,
  RUNS_PER_DAY: 429,
  BUDGET: 429,
  COMPUTE_BUSY: 429,
  SIMULATION_BUSY: 429,
  RATE_LIMITED: 429,
  GUARD_RAIL_RATE: 429,
  HEADERS_TOO_LARGE: 431,
  DROPPED: 409,
  STALE: 409,
  LANE_CLEARED: 409,
  INTERNAL: 500,
  SECRET_KEY: 503,
  DRAINING: 503,
  BUSY: 503,
  TOO_MANY_CONNECTIONS: 503,
  ANSWERS_FULL: 503,
  NOT_STARTED: 503,
  DATABASE_AWAY: 503,
} as const
export type RefusalCode = keyof typeof REFUSAL_CODES

/** The title of each error code. */
export const REFUSAL_TITLES: Readonly<Record<RefusalCode, string>> = {
  VALIDATION: 'The request is invalid',
  MALFORMED: 'The request cannot be parsed',
  BATCH_TOO_LARGE: 'The batch has too many tasks',
  UNAUTHENTICATED: 'Authentication is required',
  BAD_SIGNATURE: 'The signature is invalid',
  FORBIDDEN: 'A permission is missing',
  FOREIGN_ORIGIN: 'The request comes from another origin',
  CSRF: 'The CSRF token is missing or wrong',
  GUARD_RAIL: 'The restrictions of the key do not allow it',
  LINEAGE_DEPTH: 'The chain of runs that triggered each other is too long',
  LINEAGE_LOOP: 'A run would trigger its own origin',
  NOT_FOUND: 'Not found',
  METHOD_NOT_ALLOWED: 'The method is not allowed',
  REQUEST_TIMEOUT: 'The request took too long to arrive',
  CONFLICT: 'The request conflicts with the current state',
  CONCURRENCY_LIMIT: 'The schedule is at its concurrency limit',
  NOT_RETRYABLE: 'The run cannot be retried',
  ALREADY_ENDED: 'It has already ended',
  PENDING_APPROVAL: 'The schedule is waiting for approval',
  WORKER_LOST: 'The worker is no longer registered',
  STALE_VERSION: 'The object has changed since that version',
  BODY_TOO_LARGE: 'The body is too large',
  URL_TOO_LONG: 'The URL is too long',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not JSON',
  MISDIRECTED: 'The Host header does not name this server',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was used for a different request',
  RULE_TOO_DENSE: 'The rule is too dense to evaluate',
  SIMULATION_LIMIT: 'The simulation is too large',
  SESSION_QUEUE_FULL: "The session's queue is full",
  QUEUE_FULL: 'The queue is full',
  RUNS_PER_DAY: "The org's daily run limit is reached",
  BUDGET: 'The budget is used up',
  COMPUTE_BUSY: 'Too many previews and forecasts are waiting',
  SIMULATION_BUSY: 'Too many simulations are waiting',
  RATE_LIMITED: 'Too many requests',
  GUARD_RAIL_RATE: 'A rate limit of the restricted key is reached',
  HEADERS_TOO_LARGE: 'The headers are too large',
  DROPPED: 'The run was dropped from its queue',
  STALE: 'The message arrived too late',
  LANE_CLEARED: 'The session was reset',
  INTERNAL: 'Internal error',
  SECRET_KEY: 'The encryption key for secrets is missing',
  DRAINING: 'The node is shutting down',
  BUSY: 'The request queue is full',
  TOO_MANY_CONNECTIONS: 'Too many connections',
  ANSWERS_FULL: 'Too many large responses are being sent',
  NOT_STARTED: 'The node is not running',
  DATABASE_AWAY: 'The database is unavailable',
}

export interface RefusalOptions {
  readonly flaws?: readonly Flaw[]
  /** The run that records the rejected request. */
  readonly runId?: string
  readonly retryAfterMs?: number | null
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** A rejected request: a service throws it and has changed nothing except the run that `runId` names. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly status: number
  readonly flaws: readonly Flaw[]
  readonly runId: string | null
  readonly retryAfterMs: number | null
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Refusal'
    this.code = code
    this.status = REFUSAL_CODES[code]
    this.flaws = options.flaws ?? []
    this.runId = options.runId ?? null
    this.retryAfterMs = options.retryAfterMs ?? null
    this.details = options.details ?? {}
  }
}

/** What a function returns, or the refusal it throws. */
export function orRefusal<T>(decide: () => T): T | Refusal {
  try {
    return decide()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** The session's queue is full and its policy rejects the new message. */
export class ErrQueueFull extends Refusal {
  constructor(runId: string) {
    super('SESSION_QUEUE_FULL', `The session's queue is full; the message is kept as rejected run ${runId}`, { runId })
    this.name = 'ErrQueueFull'
  }
}

/** A newer run displaced the run from its session's queue. */
export class ErrQueueDropped extends Refusal {
  constructor(runId: string) {
    super('DROPPED', `Run ${runId} was dropped: a newer one took its place in the session's full queue`, { runId })
    this.name = 'ErrQueueDropped'
  }
}

/** The message was sent before /stopall and arrived after it. */
export class ErrMessageStale extends Refusal {
  constructor(runId: string) {
    super('STALE', `Run ${runId} did not start: its message was sent before /stopall`, { runId })
    this.name = 'ErrMessageStale'
  }
}

/** The node is shutting down and accepts no new work. */
export class ErrGatewayDraining extends Refusal {
  constructor() {
    super('DRAINING', 'This node is draining and accepts no new work; use another node or retry later', {
      retryAfterMs: 5_000,
    })
    this.name = 'ErrGatewayDraining'
  }
}

/** Too many requests of the org are waiting, or this one has waited too long. Nothing was accepted. */
export class ErrGatewayBusy extends Refusal {
  constructor() {
    super('BUSY', 'Too many requests of this org are waiting; try again in a few seconds', { retryAfterMs: 5_000 })
    this.name = 'ErrGatewayBusy'
  }
}

/** The session was reset while the run waited. */
export class ErrLaneCleared extends Refusal {
  constructor(runId: string) {
    super('LANE_CLEARED', `Run ${runId} was cancelled by a reset of its session`, { runId })
    this.name = 'ErrLaneCleared'
  }
}

/** The error for invalid input, with every flaw. */
export const invalid = (flaws: readonly Flaw[]): Refusal =>
  new Refusal(flaws.length > 0 && flaws.every(isTooDense) ? 'RULE_TOO_DENSE' : 'VALIDATION', describeFlaws(flaws), {
    flaws,
  })

const isTooDense = (flaw: Flaw): boolean => flaw.isTooDense === true

/** Caps the number of flaws in the message. */
function describeFlaws(flaws: readonly Flaw[]): string {
  const described = flaws.slice(0, MAX_LISTED_FLAWS + 1).map(describeFlaw)
  const more = flaws.length - described.length
  return [...described, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
