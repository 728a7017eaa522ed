import { ErrGatewayDraining, invalid, Refusal } from '../api/refusals.ts'
import { type App, VERSION } from '../app.ts'
import type { Principal } from '../domain/access/access.ts'
import { type AgentId, type OrgId, principalId, type RunId, type SessionKey } from '../domain/ids.ts'
import { formatInstant } from '../domain/instant.ts'
import { isTerminal, type RunState } from '../domain/run/run-machine.ts'
import { isStalled } from '../engine/loops/stall.ts'
import type { NodeParts } from '../engine/node-parts.ts'
import type { Caller } from '../features/access/caller.ts'
import type { Health } from '../features/nodes/schema.ts'
import { operationContext } from './executors.ts'
import type { OperationContext } from '../operations/context.ts'
import type { TraceRunner } from '../operations/perform.ts'

/** The health of a node; `parts` is null while it is not running. */
export function healthOf(parts: NodeParts | null): Health {
  if (parts === null)
    return { ready: false, database: 'away', away_since: null, engine: 'up', draining: false, node_id: '' }
  const since = parts.health.awaySince()
  const stalled = isStalled(parts)
  return {
    ready: since === null && !parts.state.draining && !stalled,
    database: since === null ? 'up' : 'away',
    away_since: since === null ? null : formatInstant(since),
    engine: stalled ? 'stalled' : 'up',
    draining: parts.state.draining,
    node_id: parts.id(),
  }
}

/** Throws unless the value is a function, for callers in JavaScript. */
export function requireFunction(field: string, value: unknown, allowed = 'a function'): void {
  if (typeof value !== 'function') throw invalid([{ field, value, message: 'must be a function', allowed }])
}

/** Throws unless the value is an object; `allowed` describes what is expected. */
export function requireObject(field: string, value: unknown, allowed: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid([{ field, value, message: 'must be an object', allowed }])
}

/** Callers that wait for a run to end. */
export interface Waiters {
  /**
   * Resolves when an event says that the run has ended, and when events may have been missed. Read the run after
   * subscribing, and again when it resolves.
   */
  readonly ended: (id: RunId) => { readonly promise: Promise<void>; readonly give: () => void }
  /** Registers a caller that waits for a run of the session. Returns a function that unregisters it. */
  readonly enterSession: (orgId: OrgId, key: SessionKey) => () => void
  readonly sessions: () => readonly (readonly [OrgId, SessionKey])[]
  /** Rejects every waiting caller and all later ones, because the node shuts down. */
  readonly rejectAll: () => void
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export function createWaiters(parts: NodeParts): Waiters {
  const waiting = new Map<RunId, Set<Waiter>>()
  const sessions = new Set<readonly [OrgId, SessionKey]>()
  let isClosed = false
  parts.listeners.add((_, transaction) => {
    for (const [kind, subject, data] of transaction.events) {
      if (kind !== 'run.changed' || !isTerminal(data['status'] as RunState)) continue
      for (const { resolve } of waiting.get(subject as RunId) ?? []) resolve()
    }
  })
  parts.gapListeners.add(() => {
    for (const waiters of waiting.values()) for (const { resolve } of waiters) resolve()
  })
  return {
    ended: (id) => {
      let stopWaiting = (): void => undefined
      const promise = new Promise<void>((resolve, reject) => {
        const known = waiting.get(id) ?? new Set()
        const waiter = { resolve, reject }
        if (isClosed) reject(new ErrGatewayDraining())
        waiting.set(id, known.add(waiter))
        stopWaiting = () => {
          known.delete(waiter)
          // Called twice, it must not remove those who began to wait in between.
          if (known.size === 0 && waiting.get(id) === known) waiting.delete(id)
          resolve()
        }
      })
      // Prevents an unhandled rejection while the caller still reads the run.
      promise.catch(() => undefined)
      return { promise, give: stopWaiting }
    },
    enterSession: (orgId, key) => {
      const pair = [orgId, key] as const
      sessions.add(pair)
      return () => sessions.delete(pair)
    },
    sessions: () => [...sessions],
    rejectAll: () => {
      isClosed = true
      for (const waiters of waiting.values()) for (const { reject } of waiters) reject(new ErrGatewayDraining())
    },
  }
}

/** The state between `start` and `stop`. */
export interface Running {
  readonly app: App
  readonly orgId: OrgId
  readonly caller: Caller
  /** The embedding program has every permission in its org. */
  readonly principal: Principal
  readonly ctx: OperationContext
  readonly waiters: Waiters
  /** Runs the call in the current trace of the program. */
  readonly traced: TraceRunner
}

interface EmbeddingOptions {
  readonly orgId: OrgId
  readonly waiters: Waiters
  readonly defaultAgent: () => AgentId | null
  /** Reloads the settings that are stored for every node. */
  readonly refresh: () => Promise<void>
}

/** Wraps an app for the embedding program. */
export function runningOf(app: App, { orgId, waiters, defaultAgent, refresh }: EmbeddingOptions): Running {
  const { parts, tracing } = app
  const view = (): never => {
    throw new Refusal('NOT_FOUND', 'An embedded engine has options instead of a config API; change them with reload()')
  }
  const ctx = operationContext(app, {
    ...{ version: VERSION, defaultAgent, config: { view, refresh }, ended: waiters.ended, log: parts.ctx.log },
    health: () => healthOf(parts),
    isDraining: () => parts.state.draining,
  })
  const caller: Caller = { orgId, principal: null }
  const owner = { role: 'owner', scopes: null, expiresAt: null, revokedAt: null } as const
  const principal: Principal = { id: principalId('library'), orgId, ...owner }
  return { app, orgId, caller, principal, ctx, waiters, traced: (submit) => submit(tracing.currentTrace()) }
}
