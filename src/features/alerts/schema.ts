import { z } from 'zod'
import { ALERT_KINDS, ALERT_SUBJECTS } from '../../domain/alerts.ts'
import { id, isoTime, pageOf, why, paging } from '../../api/common.ts'
import { named, type Shape } from '../../api/fields.ts'

const alert = named(
  'Alert',
  z.strictObject({
    id: z.string(),
    org_id: z.string(),
    kind: z.enum(ALERT_KINDS),
    subject_kind: z.enum(ALERT_SUBJECTS),
    subject_id: z.string(),
    status: z.enum(['open', 'cleared']),
    why,
    sentence: z.string(),
    raised_at: isoTime,
    cleared_at: isoTime.nullable(),
    cleared_why: why.nullable(),
  }),
  'Something that needs attention. It clears itself when the cause is gone.',
)
export type AlertView = Shape<typeof alert>

export const alertPage = pageOf('AlertPage', alert)

/** Filters of a list of alerts. */
export const alertFilter = z.strictObject({
  status: z.enum(['open', 'cleared']).optional().describe('Status of the alert. Default: both.'),
  kind: z.enum(ALERT_KINDS).optional().describe('Kind of alert.'),
  subject_id: id.optional().describe('The schedule, node or target the alert is about.'),
  ...paging,
})
export type AlertFilter = Shape<typeof alertFilter>
