/** A server process, as the others see it. */
export interface NodeView {
  readonly id: string
  readonly started_at: string
  readonly lease_until: string
  readonly alive: boolean
  readonly draining: boolean
  /** What it can execute. */
  readonly executors: readonly string[]
}

/** How this node is. */
export interface Health {
  readonly ready: boolean
  readonly database: 'up' | 'away'
  /** Since when it is away; null while it is up. */
  readonly away_since: string | null
  readonly draining: boolean
  readonly node_id: string
}
