import { z } from 'zod'
import { DELIVERY_STATES } from '../../core/delivery/delivery-states.ts'
import { TRY_ERRORS } from '../../core/delivery/message.ts'
import { ALERT_KINDS, ALERT_SUBJECTS } from '../../core/alerts.ts'
import type { AlertFilter, AlertView } from '../alert.ts'
import type { DeliveryFilter, DeliveryTryView, DeliveryView } from '../delivery.ts'
import { id, moment, pageOf, paging, why } from './common.ts'
import { named, shaped } from './shaped.ts'

const deliveryTry: z.ZodType<DeliveryTryView> = named(
  'DeliveryTry',
  shaped<DeliveryTryView>()({
    number: z.int(),
    node_id: z.string(),
    started_at: moment,
    finished_at: moment,
    duration_ms: z.int(),
    delivered: z.boolean(),
    status_code: z.int().nullable(),
    error_code: z.enum(TRY_ERRORS).nullable(),
    message: z.string().nullable(),
  }),
)

export const delivery: z.ZodType<DeliveryView> = named(
  'Delivery',
  shaped<DeliveryView>()({
    id: z.string(),
    org_id: z.string(),
    run_id: z.string().nullable(),
    alert_id: z.string().nullable(),
    digest_id: z.string().nullable(),
    digest: z.boolean(),
    kind: z.enum(['target', 'callback', 'session', 'channel']),
    to: z.string().nullable(),
    target_id: z.string().nullable(),
    url: z.string().nullable(),
    status: z.enum(DELIVERY_STATES),
    message_id: z.string(),
    next_try_at: moment.nullable(),
    why,
    sentence: z.string(),
    created_at: moment,
    finished_at: moment.nullable(),
    tries: z.array(deliveryTry),
  }),
  'The result of a run on its way to a receiver. Its status never changes the status of the run.',
)

export const deliveryPage = pageOf('DeliveryPage', delivery)

export const deliveryFilter = shaped<DeliveryFilter>()({
  status: z.string().max(200).optional(),
  run_id: id.optional(),
  target_id: id.optional(),
  ...paging,
})

const alert: z.ZodType<AlertView> = named(
  'Alert',
  shaped<AlertView>()({
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
)

export const alertPage = pageOf('AlertPage', alert)

export const alertFilter = shaped<AlertFilter>()({
  status: z.enum(['open', 'cleared']).optional(),
  kind: z.enum(ALERT_KINDS).optional(),
  subject_id: id.optional(),
  ...paging,
})
