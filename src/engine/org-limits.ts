import type { LaneName, OrgId } from '../domain/ids.ts'
import { maxOrgSlots, NO_ORG_SHARE } from '../domain/queue/lanes.ts'
import type { NodeLanes } from '../features/lanes/node-lanes.ts'
import { refreshOrgs } from './loops/changes.ts'
import type { NodeParts } from './node-parts.ts'

/** Limits each org to its share of a lane, as configured; a deployment with a single org has no limit. */
export function limitOrgs({ lanes, state, ctx }: NodeParts): void {
  lanes.limitOrgs(state.hasManyOrgs ? ctx.settings().lanes.maxOrgShare : NO_ORG_SHARE)
}

/** Applies changed settings to lanes and orgs. */
export function applyLaneSettings(parts: NodeParts): void {
  parts.lanes.resize(parts.ctx.settings().lanes.byName)
  limitOrgs(parts)
  refreshOrgs(parts)
}

interface OrgLimitView {
  readonly max_per_org: number | null
  readonly largest_org: { readonly org_id: OrgId; readonly held: number } | null
}

/** How orgs share a lane. For the operator (`orgId` null) it includes the org that holds the most slots. */
export function viewOrgLimit(
  lanes: Pick<NodeLanes, 'orgShare' | 'largestOrgIn'>,
  lane: { readonly name: LaneName; readonly size: number },
  orgId: OrgId | null,
): OrgLimitView {
  const share = lanes.orgShare()
  if (share >= NO_ORG_SHARE) return { max_per_org: null, largest_org: null }
  const largest = orgId === null ? lanes.largestOrgIn(lane.name) : null
  return {
    max_per_org: maxOrgSlots(lane.size, share),
    largest_org: largest === null ? null : { org_id: largest.orgId, held: largest.held },
  }
}

/** An org was created: this node limits the others at once, other nodes at their next check. */
export function handleNewOrg(parts: NodeParts): void {
  parts.state.hasManyOrgs = true
  limitOrgs(parts)
}
