import { z } from 'zod'
import { SCHEDULE_STATES } from '../domain/schedule/lifecycle.ts'
import { id } from '../api/common.ts'
import { refusalCode } from '../api/problem.ts'
import { named, type Shape } from './shape.ts'

/** What can be done to many schedules at once. */
export const BULK_ACTIONS = ['enable', 'disable', 'delete'] as const

export type BulkAction = (typeof BULK_ACTIONS)[number]

export const bulkInput = named(
  'BulkInput',
  z.strictObject({ action: z.enum(BULK_ACTIONS), ids: z.array(id).min(1).max(100) }),
  'One action on many schedules.',
)
export type BulkInput = Shape<typeof bulkInput>

export const bulkAnswer = named(
  'BulkAnswer',
  z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        ok: z.boolean(),
        state: z
          .enum(SCHEDULE_STATES)
          .optional()
          .describe('State of the schedule now. Omitted if it is gone or nothing was done.'),
        code: refusalCode.optional(),
        message: z.string().optional(),
      }),
    ),
    done: z.int(),
    refused: z.int(),
  }),
  'The outcome for each schedule, in the order of the request.',
)
export type BulkAnswer = Shape<typeof bulkAnswer>
