import { z } from 'zod'
import { DELIVERY_STATES } from '../../domain/delivery/delivery.ts'
import { TRY_ERRORS } from '../../domain/delivery/message.ts'
import { id, isoTime, pageOf, why, paging } from '../../api/common.ts'
import { named, type Shape } from '../../api/fields.ts'

const deliveryTry = named(
  'DeliveryTry',
  z.strictObject({
    number: z.int(),
    node_id: z.string(),
    started_at: isoTime,
    finished_at: isoTime,
    duration_ms: z.int(),
    delivered: z.boolean(),
    status_code: z.int().nullable(),
    error_code: z.enum(TRY_ERRORS).nullable(),
    message: z.string().nullable(),
  }),
  'One attempt to deliver a message.',
)
export type DeliveryTryView = Shape<typeof deliveryTry>

export const delivery = named(
  'Delivery',
  z.strictObject({
    id: z.string(),
    org_id: z.string(),
    run_id: z.string().nullable().describe('Null for alerts and digests.'),
    alert_id: z.string().nullable().describe('Alert that the delivery reports.'),
    digest_id: z
      .string()
      .nullable()
      .describe('Digest that the message is part of. The message is delivered when the digest is.'),
    digest: z.boolean().describe('Whether the delivery is a digest of messages held during quiet hours.'),
    kind: z.enum(['target', 'callback', 'session', 'channel']),
    to: z.string().nullable().describe('Session or channel recipient, if the delivery does not go to a target.'),
    target_id: z.string().nullable(),
    url: z.string().nullable().describe('URL of a callback.'),
    status: z.enum(DELIVERY_STATES),
    message_id: z.string().describe('Sent as `webhook-id` and `Idempotency-Key` with every attempt.'),
    next_try_at: isoTime.nullable(),
    why,
    sentence: z.string(),
    created_at: isoTime,
    finished_at: isoTime.nullable(),
    tries: z.array(deliveryTry),
  }),
  'The result of a run on its way to a receiver. Its status never changes the status of the run.',
)
export type DeliveryView = Shape<typeof delivery>

export const deliveryPage = pageOf('DeliveryPage', delivery)

/** Filters of a list of deliveries. */
export const deliveryFilter = z.strictObject({
  status: z.string().max(200).optional().describe('One or more states, separated by commas.'),
  run_id: id.optional().describe('Deliveries of this run.'),
  target_id: id.optional().describe('Deliveries to this target.'),
  ...paging,
})
export type DeliveryFilter = Shape<typeof deliveryFilter>
