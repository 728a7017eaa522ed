import type { DeliveryState } from '../core/delivery/delivery-states.ts'
import type { TryError } from '../core/delivery/message.ts'
import type { Why } from '../core/reasons.ts'

/** One try to send a message. */
export interface DeliveryTryView {
  readonly number: number
  readonly node_id: string
  readonly started_at: string
  readonly finished_at: string
  readonly duration_ms: number
  readonly delivered: boolean
  readonly status_code: number | null
  readonly error_code: TryError | null
  readonly message: string | null
}

/** A result on its way to a receiver, or there. */
export interface DeliveryView {
  readonly id: string
  readonly org_id: string
  /** Null for what is no result of a run: an alert, or a digest. */
  readonly run_id: string | null
  /** The alert it tells of. */
  readonly alert_id: string | null
  /** The digest it is part of; it has arrived when that has. */
  readonly digest_id: string | null
  /** Whether it is a digest of what came in quiet hours. */
  readonly digest: boolean
  readonly kind: 'target' | 'callback' | 'session' | 'channel'
  /** Which conversation or whom in a channel it goes to, when that is no target. */
  readonly to: string | null
  readonly target_id: string | null
  /** Of a callback; a target has its own. */
  readonly url: string | null
  readonly status: DeliveryState
  /** The `webhook-id` and `Idempotency-Key` of every try. */
  readonly message_id: string
  readonly next_try_at: string | null
  readonly why: Why
  readonly sentence: string
  readonly created_at: string
  readonly finished_at: string | null
  readonly tries: readonly DeliveryTryView[]
}

/** Which deliveries are wanted. */
export interface DeliveryFilter {
  /** One or more, with commas between them. */
  readonly status?: string | undefined
  readonly run_id?: string | undefined
  readonly target_id?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
