import type { BackfillInput } from '../../../../src/features/backfill/schema.ts'
import { momentOf, wallTime } from '../../../time/wall.ts'

const DAY = 86_400_000

/** Ranges that most people mean, in days up to now. */
const RANGES = { day: 1, week: 7, month: 30 } as const
export type Range = keyof typeof RANGES | 'other'

/** What a person has chosen, as it stands in the fields. */
export interface BackfillForm {
  readonly range: Range
  /** Wall clock of the schedule's zone. */
  readonly from: string
  readonly to: string
  readonly which: 'missing' | 'failed' | 'all'
  readonly order: 'oldest' | 'newest'
  readonly policy: 'wait' | 'beside'
  readonly maxActive: number
  readonly spacingSeconds: number
  readonly stopOn: number | null
  readonly deliver: boolean
}

/** The form as it is first seen: the last week, what is missing, one at a time. */
export const firstForm = (now: number, zone: string): BackfillForm => ({
  ...{ range: 'week', from: wallOf(now - 7 * DAY, zone), to: wallOf(now, zone) },
  ...{ which: 'missing', order: 'oldest', policy: 'wait', maxActive: 1, spacingSeconds: 0, stopOn: 5, deliver: true },
})

const wallOf = (at: number, zone: string): string => wallTime(at, zone).slice(0, 16)

/** The request to the server; null while a time of the range cannot be read. */
export function inputOf(form: BackfillForm, at: { readonly now: number; readonly zone: string }): BackfillInput | null {
  const { range } = form
  const from = range === 'other' ? momentOf(form.from, at.zone) : at.now - RANGES[range] * DAY
  const to = range === 'other' ? momentOf(form.to, at.zone) : undefined
  if (from === null || to === null) return null
  return {
    ...{ from: Math.floor(from), which: form.which, order: form.order, policy: form.policy },
    ...(to === undefined ? {} : { to }),
    ...{ max_active: form.maxActive, spacing_ms: form.spacingSeconds * 1_000 },
    ...{ stop_on_failures: form.stopOn, deliver: form.deliver },
  }
}
