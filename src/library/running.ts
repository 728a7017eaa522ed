import { VERSION, type App } from '../app.ts'
import type { Principal } from '../domain/access/access.ts'
import { principalId, type AgentId, type OrgId } from '../domain/ids.ts'
import type { OperationContext } from '../operations/context.ts'
import type { Traced } from '../operations/perform.ts'
import { Refusal } from '../api/refusals.ts'
import type { Caller } from '../service/caller.ts'
import { operationContext } from './context.ts'
import { healthOf } from './health.ts'
import type { Waiters } from './waiters.ts'

/** What there is between `start` and `stop`. */
export interface Running {
  readonly app: App
  readonly orgId: OrgId
  readonly caller: Caller
  /** The program that embeds the engine may do everything in its org. */
  readonly principal: Principal
  readonly ctx: OperationContext
  readonly waiters: Waiters
  /** New work belongs to the trace that is open around the call. */
  readonly traced: Traced
}

interface Embedding {
  readonly orgId: OrgId
  readonly waiters: Waiters
  readonly defaultAgent: () => AgentId | null
  /** Takes in what is stored for every node. */
  readonly refresh: () => Promise<void>
}

/** An app as the program that embeds it calls it. */
export function runningOf(app: App, { orgId, waiters, defaultAgent, refresh }: Embedding): Running {
  const { parts, tracing } = app
  const view = (): never => {
    throw new Refusal('NOT_FOUND', 'A program that embeds the engine has options instead; reload() changes them')
  }
  const ctx = operationContext(app, {
    ...{ version: VERSION, defaultAgent, config: { view, refresh }, ended: waiters.ended, log: parts.ctx.log },
    health: () => healthOf(parts),
    isDraining: () => parts.state.draining,
  })
  const caller: Caller = { orgId, principal: null }
  const owner = { role: 'owner', scopes: null, expiresAt: null, revokedAt: null } as const
  const principal: Principal = { id: principalId('library'), orgId, ...owner }
  return { app, orgId, caller, principal, ctx, waiters, traced: (work) => work(tracing.here()) }
}
