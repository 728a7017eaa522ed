import { z } from 'zod'
import { TRY_ERRORS } from '../../domain/delivery/message.ts'
import { parseQuietHours } from '../../domain/delivery/quiet-hours.ts'
import {
  DEFAULT_TARGET_KIND,
  parseTargetKind,
  parseTargetSettings,
  TARGET_KIND_NAMES,
  targetUrlFlaws,
} from '../../domain/delivery/target-kinds.ts'
import type { Flaw } from '../../domain/input.ts'
import { isoTime, pageOf, why } from '../../api/common.ts'
import { fieldsRule, named, readWith, rule, type Shape, text, withFixed, zoneName } from '../../api/fields.ts'

/** The delivery of a schedule. */
export const scheduleDelivery = named(
  'ScheduleDelivery',
  z.strictObject({ target_id: text(1, 512) }),
  'The target for the results of a schedule.',
)
export type ScheduleDelivery = Shape<typeof scheduleDelivery>

const quietHours = named(
  'QuietHours',
  z
    .strictObject({
      start: z
        .string()
        .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/)
        .describe('Start, HH:MM.'),
      end: z
        .string()
        .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/)
        .describe('End, HH:MM or 24:00. Before the start: on the next day.'),
      timezone: zoneName.describe('IANA time zone.'),
    })
    .check(rule(parseQuietHours)),
)

const settings = z.record(z.string(), z.unknown())

const changeable = {
  url: text(1, 8_192).optional().describe('URL that messages are sent to, for kinds that have one.'),
  settings: settings
    .optional()
    .describe('Kind-specific settings; for `email`: `{to, subject_prefix?}`. A change replaces all of them.'),
  quiet_hours: quietHours
    .nullable()
    .optional()
    .describe('Messages during quiet hours are collected and sent as one digest at their end. Null or omitted: none.'),
  alerts: z.boolean().optional().describe("Whether the target receives the org's alerts. Default: false."),
  enabled: z.boolean().optional().describe('Default: true. Messages to a disabled target are held.'),
}

/** The fields of a new target. */
export const targetFields = {
  name: text(1, 200).describe('Name of the target.'),
  kind: z
    .enum(TARGET_KIND_NAMES)
    .check(readWith(parseTargetKind))
    .optional()
    .describe('How the target is reached. Default: `webhook`. It cannot be changed.'),
  ...changeable,
}

/** Checks URL and settings, which depend on the kind. */
function kindFlaws(given: Readonly<Partial<Record<keyof typeof targetFields, unknown>>>): readonly Flaw[] {
  const kind = parseTargetKind('kind', given.kind ?? DEFAULT_TARGET_KIND)
  if (!kind.ok) return []
  const read = parseTargetSettings(kind.value, given.settings)
  return [...targetUrlFlaws(kind.value, given.url, true), ...(read.ok ? [] : read.flaws)]
}

export const targetInput = named(
  'TargetInput',
  z.strictObject(targetFields).check(fieldsRule((given) => kindFlaws(given))),
  'A new target for results.',
)
export type TargetInput = Shape<typeof targetInput>

export const targetPatch = named(
  'TargetPatch',
  withFixed(z.strictObject({ name: targetFields.name.optional(), ...changeable }), {
    names: ['kind'],
    allowed: 'a new target',
  }),
  'A change of a target.',
)
export type TargetPatch = Shape<typeof targetPatch>

const fields = {
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  kind: z.enum(TARGET_KIND_NAMES),
  url: z.string().nullable().describe('Null for kinds without one; truncated if the URL is a secret.'),
  settings,
  quiet_hours: quietHours.nullable(),
  alerts: z.boolean(),
  enabled: z.boolean(),
  disabled_at: isoTime.nullable(),
  disabled_why: why.nullable().describe('Why the target was disabled. Null: by a user.'),
  failures_in_a_row: z.int(),
  held: z.int().describe('Messages held until it is enabled, or until its quiet hours end.'),
  last_delivered_at: isoTime.nullable(),
  last_failed_at: isoTime.nullable(),
  created_by: z.string().nullable(),
  created_at: isoTime,
  updated_at: isoTime,
}

export const target = named('Target', z.strictObject(fields), 'A target and its state.')
export type TargetView = Shape<typeof target>

export const targetPage = pageOf('TargetPage', target)

export const enabledTarget = named(
  'EnabledTarget',
  z.strictObject({ ...fields, released: z.int() }),
  'An enabled target, and the number of messages that were released.',
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
  'Result of a test message.',
)
export type TargetTestView = Shape<typeof targetTest>

export const signingSecret = named(
  'SigningSecret',
  z.strictObject({
    org_id: z.string(),
    secret: z.string(),
    created_at: isoTime,
    previous_until: isoTime.nullable().describe('Until when the previous secret also signs. Null: there is none.'),
  }),
  "The secret that signs the org's webhooks.",
)
export type SigningSecretView = Shape<typeof signingSecret>
