import type { AlertKind, AlertSubject } from '../core/alerts.ts'
import type { Why } from '../core/reasons.ts'

/** Something somebody should look at. It clears itself when it is over. */
export interface AlertView {
  readonly id: string
  readonly org_id: string
  readonly kind: AlertKind
  readonly subject_kind: AlertSubject
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
  readonly kind?: AlertKind | undefined
  /** About this schedule, node or target. */
  readonly subject_id?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
