import { z } from 'zod'
import type { MediaAnswer, OperationSpec, OperationTable } from '../api/operation.ts'
import { REFUSAL_CODES, REFUSAL_TITLES, type RefusalCode } from '../api/refusals.ts'
import { problem } from '../api/problem.ts'
import { isBlankable, NAMED_SHAPES, type ShapeName } from '../api/fields.ts'
import { taskError } from '../features/tasks/schema.ts'

type Json = Readonly<Record<string, unknown>>

/** The API as an OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly [field: string]: unknown
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Json; readonly securitySchemes: Json }
}

const TAGS: Readonly<Record<string, string>> = {
  probes: 'Health, readiness and version of the server',
  schedules: 'Rules that create runs',
  import: 'Import schedules from the files of other schedulers',
  'as-code': 'Export and apply the configuration of an org as one document',
  backfills: 'Runs for past occurrences of schedules',
  runs: 'Pieces of work and their states, whatever triggered them',
  explain: 'Why something ran, or did not run',
  callbacks: 'Results that are reported later',
  sessions: 'Conversations whose runs execute in order',
  agents: 'Agents and their executors',
  workers: 'Remote programs that run the attempts of agents',
  budgets: 'Limits on the tokens and money that runs may use',
  providers: 'Services that several agents call, with shared quotas',
  targets: 'Where results are delivered',
  channels: 'Where messages come from, besides the API',
  secrets: 'Values that agents can use and the API never returns',
  deliveries: 'Deliveries of results to targets',
  alerts: 'Problems that need attention',
  lanes: 'Named pools of execution slots',
  nodes: 'The server processes of the deployment',
  stats: 'Outcomes of runs, and current load',
  metrics: 'Metrics in the Prometheus format',
  config: 'The settings of the deployment',
  keys: 'API keys',
  orgs: 'The tenants of the deployment',
  members: 'Members of an org, and their sign-in links',
  'sign-in': 'Sign in and out of the console, and the current user',
  audit: 'The log of who changed what',
  events: 'The live stream of events',
  tasks: "Tasks, compatible with clients of PinchTab's scheduler",
}

/** Builds the OpenAPI document from the operation table. */
export function openApiOf(table: OperationTable, version: string): OpenApiDocument {
  const schemas = describeSchemas(table)
  const paths: Record<string, Record<string, Json>> = {}
  for (const [id, spec] of Object.entries(table)) {
    const path = (paths[spec.path.replace(/:(\w+)/g, '{$1}')] ??= {})
    path[spec.method.toLowerCase()] = describeOperation(id, spec, schemas)
  }
  const tags = [...new Set(Object.values(table).map(({ tag }) => tag))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Escapement',
      version,
      description:
        'The scheduling control plane for AI agents.\n\nEnum values may be given in any letter case. ' +
        'The length of a text is its number of UTF-16 code units.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    security: [{ key: [] }],
    tags: tags.map((name) => ({ name, description: TAGS[name] ?? name })),
    paths,
    components: {
      schemas: schemas.named,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key' },
        console: { type: 'apiKey', in: 'cookie', name: 'escapement_session', description: 'A signed-in console' },
      },
    },
  }
}

/** The named shapes, and the JSON schema of any schema in the table. */
interface Schemas {
  readonly named: Json
  readonly of: (schema: z.ZodType) => Json
}

const REFERENCE = '#/components/schemas/'

function describeSchemas(table: OperationTable): Schemas {
  const all = z.registry<ShapeName>()
  const names = new Map<z.ZodType, ShapeName>(NAMED_SHAPES)
  for (const schema of Object.values(table).flatMap(schemasOf))
    if (!names.has(schema)) names.set(schema, { id: `anonymous.${names.size}` })
  for (const [schema, name] of names) all.add(schema, name)
  const generated = z.toJSONSchema(all, {
    uri: (id) => REFERENCE + id,
    unrepresentable: 'any',
    metadata: all,
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (isBlankable(zodSchema)) addBlank(jsonSchema)
      // Descriptions of fields are in zod's registry, names of shapes in a registry of their own.
      Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
    },
  })
  const described = new Map(
    Object.entries(generated.schemas).map(([id, schema]) => [id, withoutSchemaIds(schema as Json)]),
  )
  const named = [...NAMED_SHAPES.values()].map(({ id }) => id).toSorted()
  return {
    named: Object.fromEntries(named.map((id) => [id, described.get(id)])),
    of: (schema) => {
      const id = names.get(schema)?.id ?? ''
      return NAMED_SHAPES.has(schema) ? { $ref: REFERENCE + id } : (described.get(id) ?? {})
    },
  }
}

/** Adds the blank values that count as omitted. */
function addBlank(schema: z.core.JSONSchema.BaseSchema): void {
  const { description: _description, $ref, ...given } = schema
  for (const name of Object.keys(schema)) if (name !== 'description') Reflect.deleteProperty(schema, name)
  schema.anyOf = [$ref === undefined ? given : { $ref }, { type: 'null' }, { type: 'string', pattern: '^\\s*$' }]
}

function withoutSchemaIds({ $schema: _schema, $id: _id, id: _own, ...schema }: Json): Json {
  return schema
}

function schemasOf(spec: OperationSpec): readonly z.ZodType[] {
  const answers = Object.values(spec.answers).map((one) => (one !== null && 'contentType' in one ? one.each : one))
  return [spec.params, spec.query, spec.body, problem, taskError, ...answers].filter(
    (one) => one !== undefined && one !== null,
  )
}

function describeOperation(id: string, spec: OperationSpec, schemas: Schemas): Json {
  return {
    operationId: id,
    tags: [spec.tag],
    summary: spec.summary,
    description: [spec.description, permissionText(spec)].filter((text) => text !== undefined).join('\n\n'),
    ...(spec.permission === 'none' ? { security: [] } : { security: [{ key: [] }, { console: [] }] }),
    parameters: [
      ...parametersOf(spec.params, { place: 'path', schemas }),
      ...parametersOf(spec.query, { place: 'query', schemas }),
      ...headersOf(spec),
    ],
    ...(spec.body === undefined ? {} : { requestBody: requestBodyOf(spec, spec.body, schemas) }),
    responses: { ...responsesOf(spec, schemas), ...errorResponsesOf(spec, schemas) },
  }
}

function permissionText({ permission, operatorOnly }: OperationSpec): string {
  if (permission === 'none') return 'Needs no key.'
  if (permission === 'any') return 'Needs a key or a session, but no permission.'
  const names =
    typeof permission === 'string' ? `\`${permission}\`` : permission.map((one) => `\`${one}\``).join(' or ')
  return `Needs ${names}${operatorOnly === true ? " as an owner or admin of the operator's org" : ''}.`
}

function parametersOf(
  schema: z.ZodType | undefined,
  { place, schemas }: { readonly place: 'path' | 'query'; readonly schemas: Schemas },
): readonly Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemas.of(schema) as {
    readonly properties?: Readonly<Record<string, Json>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...described }]) => ({
    ...{ name, in: place, required: required.includes(name), schema: described },
    ...(description === undefined ? {} : { description }),
  }))
}

function headersOf({ creates, etag, method }: OperationSpec): readonly Json[] {
  const header = (name: string, description: string): Json => ({
    ...{ name, in: 'header', required: false, description, schema: { type: 'string' } },
  })
  const changes = etag === true && creates !== true && method !== 'GET'
  return [
    ...(creates === true
      ? [header('Idempotency-Key', 'The request is executed at most once per key within 24 hours')]
      : []),
    ...(changes ? [header('If-Match', 'The ETag of the version to change')] : []),
    ...(etag === true && method === 'GET' ? [header('If-None-Match', 'The ETag of the cached version')] : []),
  ]
}

function requestBodyOf({ bodyOptional, examples }: OperationSpec, body: z.ZodType, schemas: Schemas): Json {
  const example = examples?.body === undefined ? {} : { example: examples.body }
  return { required: bodyOptional !== true, content: { 'application/json': { schema: schemas.of(body), ...example } } }
}

function responsesOf({ answers, examples, etag }: OperationSpec, schemas: Schemas): Json {
  const example = examples?.answer === undefined ? {} : { example: examples.answer }
  const headers = etag === true ? { headers: { ETag: { description: 'The version', schema: { type: 'string' } } } } : {}
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      if (answer === null) return [status, { description: 'Success, without a body' }]
      if ('contentType' in answer)
        return [
          status,
          { description: answer.description, content: { [answer.contentType]: mediaTypeOf(answer, schemas) } },
        ]
      const content = { 'application/json': { schema: schemas.of(answer), ...(Number(status) < 300 ? example : {}) } }
      return [status, { description: Number(status) < 300 ? 'Success' : 'Not ready', ...headers, content }]
    }),
  )
}

/** OpenAPI 3.1 cannot describe a stream, so the schema is that of each item. */
const mediaTypeOf = ({ each }: MediaAnswer, schemas: Schemas): Json =>
  each === undefined ? {} : { schema: schemas.of(each) }

const COMMON_ERRORS: readonly RefusalCode[] = ['VALIDATION', 'MISDIRECTED', 'INTERNAL', 'DATABASE_AWAY']
const KEY_ERRORS: readonly RefusalCode[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'GUARD_RAIL', 'RATE_LIMITED']
const BODY_ERRORS: readonly RefusalCode[] = ['MALFORMED', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']

/** Error codes of restricted keys in operations that create or trigger something. */
const RESTRICTED_KEY_ERRORS: readonly RefusalCode[] = ['GUARD_RAIL_RATE', 'LINEAGE_DEPTH', 'LINEAGE_LOOP']

/** Every error code of an operation. */
export function errorCodesOf(spec: OperationSpec): readonly RefusalCode[] {
  return [
    ...(spec.refusals ?? []),
    ...(spec.creates === true ? (['IDEMPOTENCY_MISMATCH'] as const) : []),
    ...(spec.newWork === true ? (['DRAINING'] as const) : []),
    ...(spec.restrictedAccess !== undefined && spec.creates === true ? RESTRICTED_KEY_ERRORS : []),
    ...(spec.method === 'GET' ? [] : BODY_ERRORS),
    ...(spec.permission === 'none' ? [] : KEY_ERRORS),
    ...COMMON_ERRORS,
  ]
}

function errorResponsesOf(spec: OperationSpec, schemas: Schemas): Json {
  const byStatus = new Map<number, RefusalCode[]>()
  for (const code of new Set(errorCodesOf(spec))) {
    const status = REFUSAL_CODES[code]
    if (Object.hasOwn(spec.answers, status)) continue
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const content =
    spec.facade === true
      ? { 'application/json': { schema: schemas.of(taskError) } }
      : { 'application/problem+json': { schema: schemas.of(problem) } }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.map((code) => `${code}: ${REFUSAL_TITLES[code]}`).join('. '), content },
    ]),
  )
}
