import { z } from 'zod'
import { SCHEDULE_STATES } from '../../core/schedule/schedule-life.ts'
import { BULK_ACTIONS, type BulkAnswer, type BulkInput } from '../schedule-bulk.ts'
import { id } from './common.ts'
import { named, shaped } from './shaped.ts'

export const bulkInput: z.ZodType<BulkInput> = named(
  'BulkInput',
  shaped<BulkInput>()({ action: z.enum(BULK_ACTIONS), ids: z.array(id).min(1).max(100) }),
)

export const bulkAnswer: z.ZodType<BulkAnswer> = named(
  'BulkAnswer',
  shaped<BulkAnswer>()({
    items: z.array(
      z.strictObject({
        id: z.string(),
        ok: z.boolean(),
        state: z.enum(SCHEDULE_STATES).optional(),
        code: z.string().optional(),
        message: z.string().optional(),
      }),
    ),
    done: z.int(),
    refused: z.int(),
  }),
)
