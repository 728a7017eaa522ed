import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'

/** The row that a page of a list begins behind. */
export interface PagePlace {
  readonly createdAt: Instant
  readonly id: string
}

/** A page of what an org has; `after` null: the first one. */
export interface OrgPage {
  readonly orgId: OrgId
  readonly after: PagePlace | null
  readonly limit: number
}
