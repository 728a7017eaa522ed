import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { OperationTable } from '../api/operation.ts'
import { isAdmin, isOperatorOwner, isPermitted, OPERATOR_ORG, type Principal } from '../domain/access/access.ts'
import type { AgentId, OrgId, RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { LiveRuns, LiveWork } from '../engine/live-port.ts'
import type { Ports } from '../engine/ports.ts'
import type { Caller } from '../features/access/caller.ts'
import type { ConfigPort } from '../features/config/service.ts'
import type { EventFilter } from '../features/events/schema.ts'
import type { Health } from '../features/nodes/schema.ts'
import type { WorkerPort } from '../features/workers/service.ts'

/** The caller as services see it, for every transport. A request without a principal acts for the operator's org. */
export const callerFrom = (principal: Principal | null, once: Caller['once']): Caller => ({
  orgId: principal?.orgId ?? OPERATOR_ORG,
  principal: principal?.id ?? null,
  isOperatorOwner: principal !== null && isOperatorOwner(principal),
  isAdmin: principal !== null && isAdmin(principal),
  restricted: principal?.restricted,
  writesBudgets: principal !== null && isPermitted(principal, 'budgets:write'),
  once,
})

export type Eventually<T> = T | Promise<T>

/** The dependencies of operations, for every transport. */
export interface OperationContext {
  readonly ports: Ports
  readonly live: LiveRuns
  readonly work: LiveWork
  readonly version: string
  /** The operation table, for the operations that describe the API. */
  readonly operations: OperationTable
  /** Reads and changes the configuration. */
  readonly config: ConfigPort
  /** The workers connected to this node. */
  readonly workers: WorkerPort
  readonly health: () => Health
  /** True while the node shuts down and accepts no new work. */
  readonly isDraining: () => boolean
  /** The agent for messages whose session key names none. */
  readonly defaultAgent: (orgId: OrgId) => Eventually<AgentId | null>
  /** Resolves when an event says that the run has ended; read the run after subscribing. */
  readonly ended: (id: RunId) => { readonly promise: Promise<void>; readonly give: () => void }
  /** Wakes the schedule loop. */
  readonly wakeSchedules: () => void
  readonly log: (entry: {
    readonly level: 'debug' | 'info' | 'warn' | 'error'
    readonly message: string
    readonly facts: Readonly<Record<string, unknown>>
  }) => void
}

/** What only an HTTP request has. Operations that need it have `http: true`. */
export interface HttpExchange {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** The request body; raw bytes if the operation is `raw`. */
  readonly body: unknown
  /** Parses bytes like a JSON request body. */
  readonly parseJson: (bytes: Uint8Array) => unknown
  /** The session cookie of the console; null if the request has a key, or neither. */
  readonly cookie: () => string | null
  /** Sets the session cookie until the session expires. */
  readonly setCookie: (session: { readonly cookie: string; readonly expiresAt: Instant }) => void
  /** Clears the session cookie in the browser and in the cache of this node. */
  readonly clearCookie: () => void
  /** Takes over the connection; no other response is sent. */
  readonly takeOver: () => ServerResponse
  readonly streamEvents: (request: { readonly principal: Principal; readonly query: EventFilter }) => Promise<void>
  readonly sendMetrics: () => Promise<void>
}
