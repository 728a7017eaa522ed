/** A server process, as the others see it. */
export interface NodeView {
  readonly id: string
  readonly started_at: string
  readonly lease_until: string
  readonly alive: boolean
  readonly draining: boolean
  /** What it can execute. */
  readonly executors: readonly string[]
  /** When it last looked at what is due; null when it does not say. */
  readonly scanned_at: string | null
}

/** How this node is. */
export interface Health {
  readonly ready: boolean
  readonly database: 'up' | 'away'
  /** Since when it is away; null while it is up. */
  readonly away_since: string | null
  /** Whether it looks at what is due, or stands still. */
  readonly engine: 'up' | 'stalled'
  readonly draining: boolean
  readonly node_id: string
}
