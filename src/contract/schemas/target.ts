import { z } from 'zod'
import type { StoredQuietHours } from '../../core/delivery/quiet-hours.ts'
import { TARGET_KIND_WORDS } from '../../core/delivery/target-kinds.ts'
import { TRY_ERRORS } from '../../core/delivery/message.ts'
import type {
  EnabledTargetView,
  ScheduleDelivery,
  SigningSecretView,
  TargetInput,
  TargetPatch,
  TargetTestView,
  TargetView,
} from '../target.ts'
import { id, moment, pageOf, why } from './common.ts'
import { named, shaped } from './shaped.ts'

/** Where the results of a schedule go. */
export const scheduleDelivery: z.ZodType<ScheduleDelivery> = named(
  'ScheduleDelivery',
  shaped<ScheduleDelivery>()({ target_id: id }),
)

const url = z.string().min(1).max(8_192)

const quietHours: z.ZodType<StoredQuietHours> = named(
  'QuietHours',
  shaped<StoredQuietHours>()({
    start: z.string().describe('HH:MM, inside'),
    end: z.string().describe('HH:MM or 24:00, outside; before the start it is that of the next day'),
    timezone: z.string().describe('An IANA time zone'),
  }),
)

const settings = z.record(z.string(), z.unknown())

const changeable = {
  url: url.optional(),
  settings: settings.optional(),
  quiet_hours: quietHours.nullable().optional(),
  alerts: z.boolean().optional(),
  enabled: z.boolean().optional(),
}

/** Everything a target is made from. */
export const targetFields = {
  name: z.string().min(1).max(200),
  kind: z.enum(TARGET_KIND_WORDS).optional(),
  ...changeable,
}

export const targetInput: z.ZodType<TargetInput> = named('TargetInput', shaped<TargetInput>()(targetFields))

export const targetPatch: z.ZodType<TargetPatch> = named(
  'TargetPatch',
  shaped<TargetPatch>()({
    name: z.string().min(1).max(200).optional(),
    ...changeable,
  }),
)

const fields = {
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  kind: z.enum(TARGET_KIND_WORDS),
  url: z.string().nullable(),
  settings,
  quiet_hours: quietHours.nullable(),
  alerts: z.boolean(),
  enabled: z.boolean(),
  disabled_at: moment.nullable(),
  disabled_why: why.nullable(),
  failures_in_a_row: z.int(),
  held: z.int(),
  last_delivered_at: moment.nullable(),
  last_failed_at: moment.nullable(),
  created_by: z.string().nullable(),
  created_at: moment,
  updated_at: moment,
}

export const target: z.ZodType<TargetView> = named('Target', shaped<TargetView>()(fields))

export const targetPage = pageOf('TargetPage', target)

export const enabledTarget: z.ZodType<EnabledTargetView> = named(
  'EnabledTarget',
  shaped<EnabledTargetView>()({ ...fields, released: z.int() }),
)

export const targetTest: z.ZodType<TargetTestView> = named(
  'TargetTest',
  shaped<TargetTestView>()({
    delivered: z.boolean(),
    message_id: z.string(),
    status_code: z.int().nullable(),
    duration_ms: z.int(),
    error_code: z.enum(TRY_ERRORS).nullable(),
    message: z.string().nullable(),
  }),
)

export const signingSecret: z.ZodType<SigningSecretView> = named(
  'SigningSecret',
  shaped<SigningSecretView>()({
    org_id: z.string(),
    secret: z.string(),
    created_at: moment,
    previous_until: moment.nullable(),
  }),
)
