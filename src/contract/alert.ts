import type { Why } from '../core/reasons.ts'

/** What alerts are about. */
export const ALERT_KINDS = ['delivery_disabled'] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** Something somebody should look at. It clears itself when it is over. */
export interface AlertView {
  readonly id: string
  readonly org_id: string
  readonly kind: AlertKind
  readonly subject_kind: 'target'
  readonly subject_id: string
  readonly status: 'open' | 'cleared'
  readonly why: Why
  readonly sentence: string
  readonly raised_at: string
  readonly cleared_at: string | null
  readonly cleared_why: Why | null
}

/** Which alerts are wanted. */
export interface AlertFilter {
  readonly status?: 'open' | 'cleared' | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
