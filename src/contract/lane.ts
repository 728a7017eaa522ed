/** A lane of this node. */
export interface LaneView {
  readonly name: string
  readonly concurrency: number
  /** Slots held. */
  readonly active: number
  /** Runs queued for this lane. */
  readonly pending: number
  /** Slots that one org may hold on a node; null: all of them, because there is one org or `lanes.max_org_share` is 1. */
  readonly max_per_org: number | null
  /** The org that holds the most slots on the node that answers. Only shown to the operator where orgs share lanes. */
  readonly largest_org: { readonly org_id: string; readonly held: number } | null
}
