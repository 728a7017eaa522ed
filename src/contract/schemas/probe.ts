import { z } from 'zod'
import type { Health } from '../node.ts'
import { moment } from './common.ts'
import { named, shaped } from './shaped.ts'

/** The process lives; nothing more is said. */
export const alive = named('Alive', z.strictObject({ status: z.literal('ok') }))

export const health: z.ZodType<Health> = named(
  'Health',
  shaped<Health>()({
    ready: z.boolean(),
    database: z.enum(['up', 'away']),
    away_since: moment.nullable(),
    engine: z.enum(['up', 'stalled']),
    draining: z.boolean(),
    node_id: z.string(),
  }),
)

export const version = named('Version', z.strictObject({ name: z.literal('escapement'), version: z.string() }))

/** The document that describes this API. */
export const openApiDocument = z.looseObject({ openapi: z.string() })

/** The schema of the files that can be applied. */
export const fileSchema = z.looseObject({ $schema: z.string() })
