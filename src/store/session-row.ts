import type { OrgId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { SessionRules } from '../core/session/session-rules.ts'
import type { ContextUse } from '../core/session/throttle.ts'

/** A row of `session`. */
export interface SessionRow {
  readonly orgId: OrgId
  readonly key: SessionKey
  /** What was set for this session; the rest comes from the deployment, also when that changes later. */
  own: Partial<SessionRules>
  /** What was stamped before it does not run. */
  cutoff: Instant | null
  generation: number
  context: ContextUse | null
  readonly createdAt: Instant
}
