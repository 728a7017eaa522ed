import { alive, fileSchema, health, openApiDocument, version } from '../contract/node.ts'
import { operation } from '../contract/operation.ts'

/** How the process is, and what it speaks. */
export const probeOperations = {
  'probes.health': operation({
    ...{ method: 'GET', path: '/health', tag: 'probes', permission: 'none' },
    summary: 'Says that the process lives',
    answers: { 200: alive },
    examples: { answer: { status: 'ok' } },
  }),
  'probes.ready': operation({
    ...{ method: 'GET', path: '/ready', tag: 'probes', permission: 'none' },
    summary: 'Says whether this node can take work',
    description: '503 without the database, with a stalled engine, or while the node goes down.',
    answers: { 200: health, 503: health },
  }),
  'probes.version': operation({
    ...{ method: 'GET', path: '/api/v1/version', tag: 'probes', permission: 'none' },
    summary: 'Says which version answers',
    answers: { 200: version },
    examples: { answer: { name: 'escapement', version: '0.1.0' } },
  }),
  'probes.openapi': operation({
    ...{ method: 'GET', path: '/openapi.json', tag: 'probes', permission: 'none' },
    summary: 'Describes this API as OpenAPI 3.1',
    answers: { 200: openApiDocument },
  }),
  'probes.fileSchema': operation({
    ...{ method: 'GET', path: '/schema/escapement.schema.json', tag: 'probes', permission: 'none' },
    summary: 'Describes the files of schedules as code as a JSON schema, for editors',
    answers: { 200: fileSchema },
  }),
}
