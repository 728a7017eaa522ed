import type { OrgId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { SessionRules } from '../core/session/session-rules.ts'
import type { ContextUse } from '../core/session/throttle.ts'

/** A row of `session`. Rules that were never set are null in the table and come from the deployment. */
export interface SessionRow {
  readonly orgId: OrgId
  readonly key: SessionKey
  rules: SessionRules
  cutoff: Instant | null
  generation: number
  context: ContextUse | null
}
