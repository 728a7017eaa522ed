import { z } from 'zod'
import { ALERT_KINDS, ALERT_SUBJECTS } from '../core/alerts.ts'
import { id, moment, pageOf, why, paging } from './common.ts'
import { named, type Shape } from './shape.ts'

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
    raised_at: moment,
    cleared_at: moment.nullable(),
    cleared_why: why.nullable(),
  }),
  'Something somebody should look at. It clears itself when it is over.',
)
export type AlertView = Shape<typeof alert>

export const alertPage = pageOf('AlertPage', alert)

/** Which alerts are wanted. */
export const alertFilter = z.strictObject({
  status: z.enum(['open', 'cleared']).optional(),
  kind: z.enum(ALERT_KINDS).optional(),
  subject_id: id.optional().describe('About this schedule, node or target.'),
  ...paging,
})
export type AlertFilter = Shape<typeof alertFilter>
