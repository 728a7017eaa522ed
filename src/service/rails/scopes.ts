import type { Grant } from '../../domain/access/access.ts'

/** Everything that can be done with one's own things. What rails do not reach is refused whatever is permitted. */
export const RAILED_SCOPES: readonly Grant[] = ['schedules:*', 'tasks:*', 'runs:*', 'sessions:read', 'sessions:write']
