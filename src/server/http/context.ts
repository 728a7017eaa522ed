import type { SettingsOf } from '../../platform/config/in-code.ts'
import type { CONFIG_KEYS } from '../../platform/config/keys.ts'
import type { Principal } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Eventually, OperationContext } from '../../operations/context.ts'
import type { OperationTable } from '../../operations/handler.ts'
import type { EventStreams } from '../events/streams.ts'

/** A signed-in user of the console. */
export interface SignedIn {
  readonly principal: Principal
  /** Must be sent in a header with every request that changes something. */
  readonly csrfToken: string
}

/** The HTTP settings. Read for each request, because they may change while the program runs. */
export interface HttpSettings extends Omit<SettingsOf<typeof CONFIG_KEYS.server>, 'rateLimit'> {
  /** Requests per second and key; 0 disables the limit, null applies the default. */
  readonly ratePerSecond: number | null
  /** Burst of requests per key; null if not set. */
  readonly rateBurst: number | null
  /** Whether the tasks façade is enabled. */
  readonly tasksEnabled: boolean
}

/** The metrics and who may see them. */
export interface MetricsPort {
  /** All metrics as text. */
  readonly render: () => Promise<string>
  /** Whether the server only listens on loopback and there is one org, so that metrics need no authentication. */
  readonly isPrivate: () => Promise<boolean>
  /** Counts a rejected request. */
  readonly countRefusal: (code: string) => void
}

/** The dependencies of the HTTP server, beside those of operations. */
export interface HttpContext extends OperationContext {
  readonly operations: OperationTable
  readonly settings: () => HttpSettings
  /** The principal of a key; null if the key is unknown. Revoked and expired keys have a principal, which says so. */
  readonly authenticate: (keyText: string) => Eventually<Principal | null>
  /** The session of a cookie; null if there is none. */
  readonly consoleSession: (cookie: string) => Eventually<SignedIn | null>
  /** Removes a signed-out session from the cache. */
  readonly forgetSession: (cookie: string) => void
  /** The event streams. */
  readonly events: EventStreams
  readonly metrics: MetricsPort
  /**
   * Runs a function that submits work, which belongs to the trace it receives: the one in `traceparent`, or a new one
   * if tracing is on.
   */
  readonly traceSubmission: <T>(
    name: string,
    given: unknown,
    submit: (trace: string | null) => T | Promise<T>,
  ) => T | Promise<T>
  /** Calls back when the access rights in an org may have changed. Returns a function that unsubscribes. */
  readonly onAccessChange: (listener: (orgId: OrgId) => void) => () => void
  /** Whether the deployment has more than one org. */
  readonly hasManyOrgs: () => boolean
  /** Maximum concurrent statements of the requests of one org, if there are several orgs. */
  readonly queriesPerOrg: number
  /** Milliseconds of a monotonic clock. */
  readonly counter: () => number
}
