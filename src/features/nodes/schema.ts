import { z } from 'zod'
import { isoTime, pageOf } from '../../api/common.ts'
import { named, type Shape } from '../../api/fields.ts'

const node = named(
  'Node',
  z.strictObject({
    id: z.string(),
    started_at: isoTime,
    lease_until: isoTime,
    alive: z.boolean(),
    draining: z.boolean(),
    executors: z.array(z.string()).describe('Executor kinds it can run.'),
    scanned_at: isoTime.nullable().describe('When it last scanned for due work. Null: unknown.'),
  }),
  'A server process.',
)
export type NodeView = Shape<typeof node>

export const nodePage = pageOf('NodePage', node)

/** The response of the liveness check. */
export const alive = named('Alive', z.strictObject({ status: z.literal('ok') }))

export const health = named(
  'Health',
  z.strictObject({
    ready: z.boolean(),
    database: z.enum(['up', 'away']),
    away_since: isoTime.nullable().describe('Since when the database is unreachable. Null while it is up.'),
    engine: z.enum(['up', 'stalled']).describe('Whether the engine keeps scanning for due work.'),
    draining: z.boolean(),
    node_id: z.string(),
  }),
  'The health of this node.',
)
export type Health = Shape<typeof health>

export const version = named('Version', z.strictObject({ name: z.literal('escapement'), version: z.string() }))

/** The OpenAPI document of this API. */
export const openApiDocument = z.looseObject({ openapi: z.string() })

/** The JSON Schema of schedules as code. */
export const fileSchema = z.looseObject({ $schema: z.string() })
