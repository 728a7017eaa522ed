import { type Database } from '../database.ts'
import { openPostgres, type PostgresOptions } from '../postgres.ts'
import { createConnections } from './connections.ts'
import { limitsWithin } from './session.ts'

/** Connections for turns: one per org at work is plenty, and a few more wait for nothing. */
const ENGINE_POOL = 4

export interface NodePoolsOptions extends Required<Pick<PostgresOptions, 'target' | 'schema' | 'pool'>> {
  readonly leaseMs: number
}

/** The two pools of a node: one for the engine alone, one for everybody else, on the same way to the server. */
export interface NodePools {
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
    openEngine: () =>
      openPostgres({ ...shared, pool: ENGINE_POOL, applicationName: 'escapement engine', pinPlans: true, limits }),
  }
}
