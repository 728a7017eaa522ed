import { type Database } from '../database.ts'
import { openPostgres, type PostgresOptions } from '../postgres.ts'
import { createConnections } from './connections.ts'
import { limitsWithin } from './session.ts'

/** Connections for turns: one per org at work is plenty, and a few more wait for nothing. */
const ENGINE_POOL = 4

export interface NodePoolsOptions extends Required<Pick<PostgresOptions, 'target' | 'schema' | 'pool'>> {
  readonly leaseMs: number
}

/** Connections for leases, looks and notifications: few and short statements that must not wait behind turns. */
const CONTROL_POOL = 2

/** The pools of a node on the same way to the server: for turns, for leases and looks, and for everybody else. */
export interface NodePools {
  readonly openControl: () => Promise<Database>
  readonly openReads: () => Promise<Database>
  readonly openEngine: () => Promise<Database>
}

/** Says how the pools of a node are opened; nothing is connected before. */
export function nodePools({ target, schema, pool, leaseMs }: NodePoolsOptions): NodePools {
  const limits = limitsWithin(leaseMs)
  const shared = { target, schema, connections: createConnections() }
  return {
    openReads: () =>
      openPostgres({
        ...shared,
        pool: Math.max(2, pool - ENGINE_POOL),
        applicationName: 'escapement',
        limits: { connectMs: limits.connectMs },
      }),
    openControl: () =>
      openPostgres({ ...shared, pool: CONTROL_POOL, applicationName: 'escapement control', pinPlans: true, limits }),
    openEngine: () =>
      openPostgres({ ...shared, pool: ENGINE_POOL, applicationName: 'escapement engine', pinPlans: true, limits }),
  }
}
