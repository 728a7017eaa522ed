import type { App } from '../app.ts'
import type { AgentId, OrgId } from '../core/ids.ts'
import type { Caller } from '../service/caller.ts'
import type { Waiters } from './waiters.ts'

/** What there is between `start` and `stop`. */
export interface Running {
  readonly app: App
  readonly orgId: OrgId
  readonly caller: Caller
  /** The same, handing in work: it belongs to what is traced around whoever does so. */
  readonly admitting: () => Caller
  readonly waiters: Waiters
  readonly defaultAgent: () => AgentId | null
  /** New work is refused while the node goes down; what is there already is not. */
  readonly refuseWhileDraining: () => void
}
