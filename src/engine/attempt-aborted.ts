/** Why an attempt is told to end. */
export type AbortReason =
  | 'stopped'
  | 'stopped_all'
  | 'interrupted'
  | 'cancelled'
  | 'superseded'
  | 'lane_cleared'
  | 'timeout'
  | 'shutdown'
  | 'lease_lost'
  | (string & {})

/** What every abort of an attempt carries as its reason. */
export class AttemptAborted extends Error {
  readonly reason: AbortReason

  constructor(reason: AbortReason) {
    super(`the attempt was told to end: ${reason}`)
    this.name = 'AbortError'
    this.reason = reason
  }
}
