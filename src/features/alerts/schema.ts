import { z } from 'zod'
import { ALERT_KINDS, ALERT_SUBJECTS } from '../../domain/alerts.ts'
import { id, isoTime, pageOf, why, paging } from '../../api/common.ts'
import { instantInput, named, type Shape } from '../../api/fields.ts'

export const alert = named(
  'Alert',
  z.strictObject({
    id: z.string(),
    org_id: z.string(),
    kind: z.enum(ALERT_KINDS),
    subject_kind: z.enum(ALERT_SUBJECTS),
    subject_id: z.string(),
    subject_name: z.string().describe('Name of the subject, or its id if the subject has no name or was deleted.'),
    status: z.enum(['open', 'cleared']),
    why,
    sentence: z.string(),
    raised_at: isoTime,
    cleared_at: isoTime.nullable(),
    cleared_why: why.nullable(),
    streak: z
      .int()
      .nullable()
      .describe('Current number of consecutive failures. Null: not counted, or the alert is cleared.'),
    last_error: z.string().nullable().describe('The error of the latest failure. Null: none is known.'),
    agent_id: z.string().nullable().describe('Agent whose runs the alert is about. Null: the alert is not about runs.'),
    acknowledged_at: isoTime.nullable().describe('When the alert was acknowledged.'),
    acknowledged_by: z.string().nullable().describe('The principal that acknowledged the alert.'),
    snoozed_until: isoTime.nullable().describe('Until this time, the alert does not need attention.'),
  }),
  'Something that needs attention. It clears itself when the cause is gone.',
)
export type AlertView = Shape<typeof alert>

/** Acknowledges an alert, or takes that back. */
export const acknowledgeInput = named(
  'AlertAcknowledgement',
  z.strictObject({ acknowledged: z.boolean().optional().describe('False: undo the acknowledgement. Default: true.') }),
  'Whether the alert is acknowledged.',
)
export type AcknowledgeInput = Shape<typeof acknowledgeInput>

export const snoozeInput = named(
  'AlertSnooze',
  z.strictObject({ until: instantInput.nullable().describe('A future time. Null: end the snooze.') }),
  'Until when the alert is snoozed.',
)
export type SnoozeInput = Shape<typeof snoozeInput>

export const alertRetry = named(
  'AlertRetry',
  z.strictObject({
    retried: z.int().describe('The number of runs that were retried.'),
    run_ids: z.array(z.string()).describe('The new runs, in the order of the failed ones.'),
    left: z.int().describe('Failed runs of the streak that were not retried.'),
    refused: z.string().nullable().describe('Why the first of those was refused. Null: the limit of 100 per request.'),
  }),
  'The result of retrying the failed runs behind an alert.',
)
export type AlertRetry = Shape<typeof alertRetry>

export const alertPage = pageOf('AlertPage', alert)

/** Filters of a list of alerts. */
export const alertFilter = z.strictObject({
  status: z.enum(['open', 'cleared']).optional().describe('Status of the alert. Default: both.'),
  attention: z.boolean().optional().describe('Only open alerts that are neither acknowledged nor snoozed.'),
  kind: z.enum(ALERT_KINDS).optional().describe('Kind of alert.'),
  subject_id: id.optional().describe('The schedule, node or target the alert is about.'),
  ...paging,
})
export type AlertFilter = Shape<typeof alertFilter>
