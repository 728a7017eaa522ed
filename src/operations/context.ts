import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { EventFilter } from '../contract/event.ts'
import type { Health } from '../features/nodes/schema.ts'
import type { OperationTable } from '../api/operation.ts'
import type { Principal } from '../domain/access/access.ts'
import type { AgentId, OrgId, RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { ConfigPort } from '../features/config/service.ts'
import type { Live, LiveWork } from '../service/live-port.ts'
import type { Ports } from '../service/ports.ts'
import type { WorkerPort } from '../features/workers/port.ts'

export type Eventually<T> = T | Promise<T>

/** What operations have instead of globals, whatever door they are called through. */
export interface OperationContext {
  readonly ports: Ports
  readonly live: Live
  readonly work: LiveWork
  readonly version: string
  /** The table itself, which describes itself. */
  readonly operations: OperationTable
  /** All of the configuration, for those who may see and change it. */
  readonly config: ConfigPort
  /** Where workers wait at this node. */
  readonly workers: WorkerPort
  readonly health: () => Health
  /** True while the node goes down and takes no new work. */
  readonly isDraining: () => boolean
  /** The agent of messages whose session names none. */
  readonly defaultAgent: (orgId: OrgId) => Eventually<AgentId | null>
  /** Resolves when the run has ended, as far as events tell; look at the record after you have begun to wait. */
  readonly ended: (id: RunId) => { readonly promise: Promise<void>; readonly give: () => void }
  /** Lets the loop that watches over schedules look again. */
  readonly wakeSchedules: () => void
  readonly log: (entry: {
    readonly level: 'debug' | 'info' | 'warn' | 'error'
    readonly message: string
    readonly facts: Readonly<Record<string, unknown>>
  }) => void
}

/** What only a request over HTTP has. Operations that cannot do without it have `http: true`. */
export interface HttpExchange {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** As it came: its bytes where the operation is `raw`. */
  readonly body: unknown
  /** Reads bytes as the body of a request is read. */
  readonly parseJson: (bytes: Uint8Array) => unknown
  /** The cookie of the console; null when the request has a key, or neither. */
  readonly cookie: () => string | null
  /** Lets the browser keep the cookie until it would end anyway. */
  readonly setCookie: (opened: { readonly cookie: string; readonly expiresAt: Instant }) => void
  /** Lets the browser and this node forget the cookie. */
  readonly clearCookie: () => void
  /** Takes the connection over: nothing else is answered. */
  readonly takeOver: () => ServerResponse
  readonly streamEvents: (asked: { readonly principal: Principal; readonly query: EventFilter }) => Promise<void>
  readonly sendMetrics: () => Promise<void>
}
