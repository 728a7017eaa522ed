/** A lane of this node. */
export interface LaneView {
  readonly name: string
  readonly concurrency: number
  /** Slots held. */
  readonly active: number
  /** Runs queued for this lane. */
  readonly pending: number
}
