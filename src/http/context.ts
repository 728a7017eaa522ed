import type { SettingsOf } from '../platform/config/in-code.ts'
import type { CONFIG_KEYS } from '../platform/config/keys.ts'
import type { Principal } from '../domain/access/access.ts'
import type { OrgId } from '../domain/ids.ts'
import type { Eventually, OperationContext } from '../operations/context.ts'
import type { OperationTable } from '../operations/handler.ts'
import type { EventStreams } from './events/streams.ts'

/** Somebody signed in at the console. */
export interface SignedIn {
  readonly principal: Principal
  /** Must come back in a header with everything that changes something. */
  readonly csrfToken: string
}

/** What the operator has set for this door. Asked with every request, because it may change while the program runs. */
export interface HttpSettings extends Omit<SettingsOf<typeof CONFIG_KEYS.server>, 'rateLimit'> {
  /** Requests per second and key; 0 switches the limit off, and null is what holds by default. */
  readonly ratePerSecond: number | null
  /** Requests that a key may make at once; null: nobody has said. */
  readonly rateBurst: number | null
  /** Whether the tasks façade is there at all. */
  readonly tasksEnabled: boolean
}

/** What is counted, and who may see it. */
export interface MetricsPort {
  /** Everything there is to see, as text. */
  readonly show: () => Promise<string>
  /** Whether only programs of this machine can ask, and there is one org: then there is nothing to keep from anybody. */
  readonly isPrivate: () => Promise<boolean>
  /** Somebody was refused. */
  readonly refused: (code: string) => void
}

/** What the HTTP side has instead of globals, beside what operations have. */
export interface HttpContext extends OperationContext {
  readonly operations: OperationTable
  readonly settings: () => HttpSettings
  /** Whose key this is; null when it is nobody's. Revoked and expired ones are told by the principal. */
  readonly authenticate: (keyText: string) => Eventually<Principal | null>
  /** Who is signed in with this cookie; null when nobody is. */
  readonly consoleSession: (cookie: string) => Eventually<SignedIn | null>
  /** A cookie was signed out: whoever remembers it forgets it. */
  readonly forgetSession: (cookie: string) => void
  /** Everybody who listens to what happens. */
  readonly events: EventStreams
  readonly metrics: MetricsPort
  /**
   * Does something that hands in work, which belongs to the trace it is told: the one that `traceparent` names, or one of
   * its own where anybody listens.
   */
  readonly admit: <T>(name: string, given: unknown, work: (trace: string | null) => T | Promise<T>) => T | Promise<T>
  /** Calls back when it may have changed who may do what in an org. Answers with how to hear no more. */
  readonly hearAccess: (hear: (orgId: OrgId) => void) => () => void
  /** Whether the deployment has more than one org. */
  readonly hasManyOrgs: () => boolean
  /** Statements that requests of one org may have under way at a time where there are several orgs. */
  readonly queriesPerOrg: number
  /** Milliseconds by a clock that never goes back. */
  readonly counter: () => number
}
