import type { LaneName, OrgId } from '../domain/ids.ts'
import { maxOrgSlots, NO_ORG_SHARE } from '../core/org-share.ts'
import type { NodeLanes } from '../service/node-lanes.ts'
import { refreshOrgs } from './idle-orgs.ts'
import type { NodeParts } from './node-parts.ts'

/** Lets each org hold its part of a lane, as the settings say, and a whole lane where there is one org. */
export function limitOrgs({ lanes, state, ctx }: NodeParts): void {
  lanes.limitOrgs(state.hasManyOrgs ? ctx.settings().lanes.maxOrgShare : NO_ORG_SHARE)
}

/** The settings have changed: lanes and orgs follow. */
export function takeLaneSettings(parts: NodeParts): void {
  parts.lanes.resize(parts.ctx.settings().lanes.byName)
  limitOrgs(parts)
  refreshOrgs(parts)
}

interface OrgShareView {
  readonly max_per_org: number | null
  readonly largest_org: { readonly org_id: OrgId; readonly held: number } | null
}

/** What is shown of how orgs share a lane; for null, to the operator, also which org holds the most of it. */
export function viewOrgShare(
  lanes: Pick<NodeLanes, 'orgShare' | 'largestOrgIn'>,
  lane: { readonly name: LaneName; readonly size: number },
  orgId: OrgId | null,
): OrgShareView {
  const share = lanes.orgShare()
  if (share >= NO_ORG_SHARE) return { max_per_org: null, largest_org: null }
  const largest = orgId === null ? lanes.largestOrgIn(lane.name) : null
  return {
    max_per_org: maxOrgSlots(lane.size, share),
    largest_org: largest === null ? null : { org_id: largest.orgId, held: largest.held },
  }
}

/** An org was created: the others are limited at once, and on nodes that are not told with their next look. */
export function noteNewOrg(parts: NodeParts): void {
  parts.state.hasManyOrgs = true
  limitOrgs(parts)
}
