import type { Post } from '../core/delivery/message.ts'
import type { Purpose } from '../core/outbound/guard.ts'

/** The way to the outside. */
export interface OutboundPort {
  /** What is wrong with an address that somebody wants called, or null. */
  readonly check: (url: string, purpose: Purpose) => Promise<string | null>
  readonly post: Post
  /** Why no mail can be sent from here, or null. Left out: it can. */
  readonly mailFlaw?: () => string | null
}
