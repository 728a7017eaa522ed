import type { HeartbeatLogView } from '../../../src/features/heartbeats/schema.ts'

/** What can become of a heartbeat, in the order in which people look for it. */
export const OUTCOMES = [
  ...(['news', 'suppressed', 'failed', 'skipped', 'busy', 'running', 'cancelled'] as const),
] as const satisfies readonly HeartbeatLogView['outcome'][]

/** Which agent is looked at, whether its heartbeat is being edited, and what of its log is shown. */
export interface HeartbeatSearch {
  readonly agent?: string
  readonly open?: 'settings'
  readonly outcome?: HeartbeatLogView['outcome']
}

/** Reads the address; what makes no sense is left out. */
export function readHeartbeatSearch(given: Readonly<Record<string, unknown>>): HeartbeatSearch {
  const { agent, open } = given
  const outcome = OUTCOMES.find((word) => word === given['outcome'])
  return {
    ...(typeof agent === 'string' || typeof agent === 'number' ? { agent: String(agent) } : {}),
    ...(open === 'settings' ? { open } : {}),
    ...(outcome === undefined ? {} : { outcome }),
  }
}
