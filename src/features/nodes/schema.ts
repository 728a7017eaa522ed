import { z } from 'zod'
import { moment, pageOf } from '../../api/common.ts'
import { named, type Shape } from '../../contract/shape.ts'

const node = named(
  'Node',
  z.strictObject({
    id: z.string(),
    started_at: moment,
    lease_until: moment,
    alive: z.boolean(),
    draining: z.boolean(),
    executors: z.array(z.string()).describe('Executor kinds it can run.'),
    scanned_at: moment.nullable().describe('When it last looked for due work. Null: unknown.'),
  }),
  'A server process.',
)
export type NodeView = Shape<typeof node>

export const nodePage = pageOf('NodePage', node)

/** The process lives; nothing more is said. */
export const alive = named('Alive', z.strictObject({ status: z.literal('ok') }))

export const health = named(
  'Health',
  z.strictObject({
    ready: z.boolean(),
    database: z.enum(['up', 'away']),
    away_since: moment.nullable().describe('Since when the database is unreachable. Null while it is up.'),
    engine: z.enum(['up', 'stalled']).describe('Whether it keeps looking for due work.'),
    draining: z.boolean(),
    node_id: z.string(),
  }),
  'The health of this node.',
)
export type Health = Shape<typeof health>

export const version = named('Version', z.strictObject({ name: z.literal('escapement'), version: z.string() }))

/** The document that describes this API. */
export const openApiDocument = z.looseObject({ openapi: z.string() })

/** The schema of the files that can be applied. */
export const fileSchema = z.looseObject({ $schema: z.string() })
