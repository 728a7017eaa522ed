import { z } from 'zod'
import { TARGET_KIND_WORDS } from '../core/delivery/target-kinds.ts'
import { TRY_ERRORS } from '../core/delivery/message.ts'
import { id, moment, pageOf, why } from './common.ts'
import { named, type Shape } from './shape.ts'

/** Where the results of a schedule go. */
export const scheduleDelivery = named(
  'ScheduleDelivery',
  z.strictObject({ target_id: id }),
  'Where the results of a schedule go.',
)
export type ScheduleDelivery = Shape<typeof scheduleDelivery>

const url = z.string().min(1).max(8_192)

const quietHours = named(
  'QuietHours',
  z.strictObject({
    start: z.string().describe('HH:MM, inside'),
    end: z.string().describe('HH:MM or 24:00, outside; before the start it is that of the next day'),
    timezone: z.string().describe('An IANA time zone'),
  }),
)

const settings = z.record(z.string(), z.unknown())

const changeable = {
  url: url.optional().describe('For kinds that are reached by an address.'),
  settings: settings
    .optional()
    .describe('What the kind needs to know: of `email` `{to, subject_prefix?}`. A change replaces it whole.'),
  quiet_hours: quietHours
    .nullable()
    .optional()
    .describe('What comes meanwhile is collected and sent as one digest at their end. Null, or left out: never quiet.'),
  alerts: z.boolean().optional().describe('Whether alerts of the org go to it; false unless given.'),
  enabled: z.boolean().optional().describe('True unless given. What goes to a target that is off is held.'),
}

/** Everything a target is made from. */
export const targetFields = {
  name: z.string().min(1).max(200),
  kind: z.enum(TARGET_KIND_WORDS).optional().describe('`webhook` unless given.'),
  ...changeable,
}

export const targetInput = named(
  'TargetInput',
  z.strictObject(targetFields),
  'A new target: where results are delivered.',
)
export type TargetInput = Shape<typeof targetInput>

export const targetPatch = named(
  'TargetPatch',
  z.strictObject({
    name: z.string().min(1).max(200).optional(),
    ...changeable,
  }),
  'What may change about a target.',
)
export type TargetPatch = Shape<typeof targetPatch>

const fields = {
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  kind: z.enum(TARGET_KIND_WORDS),
  url: z
    .string()
    .nullable()
    .describe('Null for kinds that have none; only its beginning where knowing it is enough to be let in.'),
  settings,
  quiet_hours: quietHours.nullable(),
  alerts: z.boolean(),
  enabled: z.boolean(),
  disabled_at: moment.nullable(),
  disabled_why: why.nullable().describe('Why it was switched off; null when a person did it.'),
  failures_in_a_row: z.int(),
  held: z.int().describe('Messages that wait for it to be enabled, or for the end of its quiet hours.'),
  last_delivered_at: moment.nullable(),
  last_failed_at: moment.nullable(),
  created_by: z.string().nullable(),
  created_at: moment,
  updated_at: moment,
}

export const target = named('Target', z.strictObject(fields), 'A target, and how it has fared.')
export type TargetView = Shape<typeof target>

export const targetPage = pageOf('TargetPage', target)

export const enabledTarget = named(
  'EnabledTarget',
  z.strictObject({ ...fields, released: z.int() }),
  'A target that was enabled, and how many messages are on their way again.',
)
export type EnabledTargetView = Shape<typeof enabledTarget>

export const targetTest = named(
  'TargetTest',
  z.strictObject({
    delivered: z.boolean(),
    message_id: z.string(),
    status_code: z.int().nullable(),
    duration_ms: z.int(),
    error_code: z.enum(TRY_ERRORS).nullable(),
    message: z.string().nullable(),
  }),
  'What came of a message that was sent to try a target out.',
)
export type TargetTestView = Shape<typeof targetTest>

export const signingSecret = named(
  'SigningSecret',
  z.strictObject({
    org_id: z.string(),
    secret: z.string(),
    created_at: moment,
    previous_until: moment
      .nullable()
      .describe('Until then the secret before this one signs too; null when there is none.'),
  }),
  'What webhooks of the org are signed with.',
)
export type SigningSecretView = Shape<typeof signingSecret>
