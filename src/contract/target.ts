import type { TryError } from '../core/delivery/message.ts'
import type { StoredQuietHours } from '../core/delivery/quiet-hours.ts'
import type { TargetKind } from '../core/delivery/target-kinds.ts'
import type { Why } from '../core/reasons.ts'

/** A new target: where results are delivered. */
export interface TargetInput {
  readonly name: string
  /** `webhook` unless given. */
  readonly kind?: TargetKind | undefined
  /** For kinds that are reached by an address. */
  readonly url?: string | undefined
  /** What the kind needs to know: of `email` `{to, subject_prefix?}`. A change replaces it whole. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  /** What comes meanwhile is collected and sent as one digest at their end. Null, or left out: never quiet. */
  readonly quiet_hours?: StoredQuietHours | null | undefined
  /** Whether alerts of the org go to it; false unless given. */
  readonly alerts?: boolean | undefined
  /** True unless given. What goes to a target that is off is held. */
  readonly enabled?: boolean | undefined
}

/** What may change about a target. */
export type TargetPatch = {
  readonly [Name in Exclude<keyof TargetInput, 'kind'>]?: TargetInput[Name] | undefined
}

/** A target, and how it has fared. */
export interface TargetView {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly kind: TargetKind
  /** Null for kinds that have none; only its beginning where knowing it is enough to be let in. */
  readonly url: string | null
  readonly settings: Readonly<Record<string, unknown>>
  readonly quiet_hours: StoredQuietHours | null
  readonly alerts: boolean
  readonly enabled: boolean
  readonly disabled_at: string | null
  /** Why it was switched off; null when a person did it. */
  readonly disabled_why: Why | null
  readonly failures_in_a_row: number
  /** Messages that wait for it to be enabled, or for the end of its quiet hours. */
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
