import type { TryError } from '../core/delivery/message.ts'
import type { Why } from '../core/reasons.ts'

/** A new target: where results are delivered. */
export interface TargetInput {
  readonly name: string
  /** `webhook`, which is the only kind so far. */
  readonly kind?: 'webhook' | undefined
  readonly url: string
  /** True unless given. What goes to a target that is off is held. */
  readonly enabled?: boolean | undefined
}

/** What may change about a target. */
export type TargetPatch = { readonly [Name in 'name' | 'url' | 'enabled']?: TargetInput[Name] | undefined }

/** A target, and how it has fared. */
export interface TargetView {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly kind: 'webhook'
  readonly url: string
  readonly enabled: boolean
  readonly disabled_at: string | null
  /** Why it was switched off; null when a person did it. */
  readonly disabled_why: Why | null
  readonly failures_in_a_row: number
  /** Messages that wait for it to be enabled. */
  readonly held: number
  readonly last_delivered_at: string | null
  readonly last_failed_at: string | null
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** A target that was enabled, and how many messages are on their way again. */
export interface EnabledTargetView extends TargetView {
  readonly released: number
}

/** What came of a message that was sent to try a target out. */
export interface TargetTestView {
  readonly delivered: boolean
  readonly message_id: string
  readonly status_code: number | null
  readonly duration_ms: number
  readonly error_code: TryError | null
  readonly message: string | null
}

/** What webhooks of the org are signed with. */
export interface SigningSecretView {
  readonly org_id: string
  readonly secret: string
  readonly created_at: string
  /** Until then the secret before this one signs too; null when there is none. */
  readonly previous_until: string | null
}

/** Where the results of a schedule go. */
export interface ScheduleDelivery {
  readonly target_id: string
}
