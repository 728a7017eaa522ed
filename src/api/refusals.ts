import { describeFlaw, MAX_LISTED_FLAWS, type Flaw } from '../domain/input.ts'

/** Every way in which a request is refused, with the HTTP status it has on the wire. */
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

/** What each refusal is called, whatever the request was about. */
export const REFUSAL_TITLES: Readonly<Record<RefusalCode, string>> = {
  VALIDATION: 'The request is not valid',
  MALFORMED: 'The request cannot be read',
  BATCH_TOO_LARGE: 'The batch has too many tasks',
  UNAUTHENTICATED: 'A key is needed',
  BAD_SIGNATURE: 'The signature is not good',
  FORBIDDEN: 'The permission is missing',
  FOREIGN_ORIGIN: 'The request comes from another origin',
  CSRF: 'The CSRF token is missing or wrong',
  GUARD_RAIL: 'The guard rails of the key do not allow it',
  LINEAGE_DEPTH: 'Too many runs have woken one another',
  LINEAGE_LOOP: 'A run would wake what it comes from',
  NOT_FOUND: 'There is no such thing',
  METHOD_NOT_ALLOWED: 'The method is not allowed here',
  REQUEST_TIMEOUT: 'The request took too long to come',
  CONFLICT: 'It does not fit the present state',
  CONCURRENCY_LIMIT: 'The schedule is full',
  NOT_RETRYABLE: 'The run cannot be retried',
  ALREADY_ENDED: 'It has already ended',
  PENDING_APPROVAL: 'The schedule waits for approval',
  WORKER_LOST: 'The worker is not known any more',
  STALE_VERSION: 'It has been changed since',
  BODY_TOO_LARGE: 'The body is too large',
  URL_TOO_LONG: 'The address is too long',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not JSON',
  MISDIRECTED: 'The Host is not one of this server',
  IDEMPOTENCY_MISMATCH: 'The idempotency key was used for something else',
  RULE_TOO_DENSE: 'The rule is too dense to be evaluated',
  SIMULATION_LIMIT: 'The simulation takes too much',
  SESSION_QUEUE_FULL: "The session's queue is full",
  QUEUE_FULL: 'The queue is full',
  RUNS_PER_DAY: "The org's runs of the day are used up",
  BUDGET: 'The budget is used up',
  COMPUTE_BUSY: 'Too many previews and forecasts wait',
  SIMULATION_BUSY: 'Too many simulations wait',
  RATE_LIMITED: 'Too many requests',
  GUARD_RAIL_RATE: 'The guard rails of the key do not allow it so soon',
  HEADERS_TOO_LARGE: 'The headers are too large',
  DROPPED: 'The run was pushed out of its queue',
  STALE: 'The message came too late',
  LANE_CLEARED: 'The session was reset',
  INTERNAL: 'Something went wrong here',
  SECRET_KEY: 'The key of the secrets is missing',
  DRAINING: 'The node is going down',
  BUSY: 'The queue of requests is full',
  TOO_MANY_CONNECTIONS: 'Too many are connected',
  ANSWERS_FULL: 'Too many large answers are being sent',
  NOT_STARTED: 'The node is not up yet',
  DATABASE_AWAY: 'The database is away',
}

export interface RefusalFacts {
  readonly flaws?: readonly Flaw[]
  /** The run that keeps the record of it. */
  readonly runId?: string
  readonly retryAfterMs?: number | null
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** What a service throws instead of doing what it was asked: nothing was changed but what `runId` names. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly status: number
  readonly flaws: readonly Flaw[]
  readonly runId: string | null
  readonly retryAfterMs: number | null
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: RefusalCode, message: string, facts: RefusalFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'Refusal'
    this.code = code
    this.status = REFUSAL_CODES[code]
    this.flaws = facts.flaws ?? []
    this.runId = facts.runId ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.details = facts.details ?? {}
  }
}

/** The session's queue is full and its policy drops the newcomer. */
export class ErrQueueFull extends Refusal {
  constructor(runId: string) {
    super('SESSION_QUEUE_FULL', `The session's queue is full; the message is kept as rejected run ${runId}`, { runId })
    this.name = 'ErrQueueFull'
  }
}

/** The run was pushed out of its session's queue by a newer one. */
export class ErrQueueDropped extends Refusal {
  constructor(runId: string) {
    super('DROPPED', `Run ${runId} was pushed out of its session's full queue`, { runId })
    this.name = 'ErrQueueDropped'
  }
}

/** The message was sent before /stopall and surfaced after it. */
export class ErrMessageStale extends Refusal {
  constructor(runId: string) {
    super('STALE', `Run ${runId} was sent before /stopall and does not run`, { runId })
    this.name = 'ErrMessageStale'
  }
}

/** The node is going down and takes no new work. */
export class ErrGatewayDraining extends Refusal {
  constructor() {
    super('DRAINING', 'This node is draining and takes no new work; try another node or again later', {
      retryAfterMs: 5_000,
    })
    this.name = 'ErrGatewayDraining'
  }
}

/** Too many requests of the org wait to be carried out, or this one has waited too long. Nothing was accepted. */
export class ErrGatewayBusy extends Refusal {
  constructor() {
    super('BUSY', 'Too many requests of this org are waiting; try again in a few seconds', { retryAfterMs: 5_000 })
    this.name = 'ErrGatewayBusy'
  }
}

/** The session was reset while the run waited. */
export class ErrLaneCleared extends Refusal {
  constructor(runId: string) {
    super('LANE_CLEARED', `Run ${runId} was cleared by a reset of its session`, { runId })
    this.name = 'ErrLaneCleared'
  }
}

/** A refusal of bad input, with every flaw in it. */
export const invalid = (flaws: readonly Flaw[]): Refusal =>
  new Refusal(flaws.length > 0 && flaws.every(isTooDense) ? 'RULE_TOO_DENSE' : 'VALIDATION', listed(flaws), { flaws })

const isTooDense = (flaw: Flaw): boolean => flaw.isTooDense === true

/** A message about a thousand flaws must not be a thousand lines. */
function listed(flaws: readonly Flaw[]): string {
  const described = flaws.slice(0, MAX_LISTED_FLAWS + 1).map(describeFlaw)
  const more = flaws.length - described.length
  return [...described, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
