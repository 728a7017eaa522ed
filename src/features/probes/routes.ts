import { asCodeSchema } from '../as-code/schema.ts'
import { alive, fileSchema, health, openApiDocument, version } from '../nodes/schema.ts'
import { openApiOf } from '../../operations/openapi.ts'
import { answer, operation } from '../../operations/handler.ts'

let document: ReturnType<typeof openApiOf> | null = null
let schema: ReturnType<typeof asCodeSchema> | null = null

/** Operations on the server process: its health, its version and the documents that describe it. */
export const probeOperations = {
  'probes.health': operation({
    ...{ method: 'GET', path: '/health', tag: 'probes', permission: 'none' },
    summary: 'Check that the process is alive',
    answers: { 200: alive },
    examples: { answer: { status: 'ok' } },
  }).by(() => ({ status: 'ok' })),
  'probes.ready': operation({
    ...{ method: 'GET', path: '/ready', tag: 'probes', permission: 'none' },
    summary: 'Check whether this node accepts work',
    description: '503 without the database, with a stalled engine, or while the node drains.',
    answers: { 200: health, 503: health },
  }).by(({ ctx }) => {
    const health = ctx.health()
    return health.ready ? answer(200, health) : answer(503, health)
  }),
  'probes.version': operation({
    ...{ method: 'GET', path: '/api/v1/version', tag: 'probes', permission: 'none' },
    summary: 'Get the version of the server',
    answers: { 200: version },
    examples: { answer: { name: 'escapement', version: '0.1.0' } },
  }).by(({ ctx }) => ({ name: 'escapement', version: ctx.version })),
  'probes.openapi': operation({
    ...{ method: 'GET', path: '/openapi.json', tag: 'probes', permission: 'none' },
    serverOnly: true,
    summary: 'Get this API as an OpenAPI 3.1 document',
    answers: { 200: openApiDocument },
  }).by(
    // It never changes while the process runs, and creating it takes a while.
    ({ ctx }) => (document ??= openApiOf(ctx.operations, ctx.version)),
  ),
  'probes.fileSchema': operation({
    ...{ method: 'GET', path: '/schema/escapement.schema.json', tag: 'probes', permission: 'none' },
    serverOnly: true,
    summary: 'Get the JSON Schema of schedules as code, for editors',
    answers: { 200: fileSchema },
  }).by(() => (schema ??= asCodeSchema())),
}
