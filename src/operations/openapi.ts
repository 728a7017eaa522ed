import { z } from 'zod'
import type { MediaAnswer, OperationSpec, OperationTable } from '../api/operation.ts'
import { REFUSAL_CODES, REFUSAL_TITLES, type RefusalCode } from '../api/refusals.ts'
import { problem } from '../api/problem.ts'
import { isBlankable } from '../api/fields.ts'
import { taskError } from '../features/tasks/schema.ts'
import { NAMED_SHAPES, type ShapeName } from '../contract/shape.ts'

type Json = Readonly<Record<string, unknown>>

/** The API as an OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly [field: string]: unknown
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Json; readonly securitySchemes: Json }
}

const TAGS: Readonly<Record<string, string>> = {
  probes: 'How the process is, and what it speaks',
  schedules: 'Rules that make runs',
  import: 'Schedules from the files of other schedulers',
  'as-code': 'The configuration of an org as one document',
  backfills: 'Past moments of schedules that are made into runs',
  runs: 'Work on its way through, whatever woke it',
  explain: 'Why something happened, or nothing did',
  callbacks: 'Results that come later',
  sessions: 'Conversations whose work keeps its order',
  agents: 'What does the work',
  workers: 'Programs elsewhere that perform the work of agents',
  budgets: 'What runs may use',
  providers: 'What several agents call, with quotas they share',
  targets: 'Where results are delivered',
  channels: 'Where messages come from besides the API',
  secrets: 'Values that agents may send and nobody can read',
  deliveries: 'Results on their way',
  alerts: 'What somebody should look at',
  lanes: 'Named pools of execution slots',
  nodes: 'The server processes of the deployment',
  stats: 'How work went, and what waits',
  metrics: 'Numbers that can be watched',
  config: 'The settings of the deployment',
  keys: 'What programs sign in with',
  orgs: 'The tenants of the deployment',
  members: 'People, and how they get in',
  'sign-in': 'How a browser gets in and out, and who somebody is',
  audit: 'Who has changed what',
  events: 'What happens, as it happens',
  tasks: "Tasks, as clients of PinchTab's scheduler know them",
}

/** Describes the operations. Everything comes from the table; nothing is written twice. */
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
        'The scheduling control plane for AI agents.\n\nWords of closed lists may be given in any case. ' +
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

/** The shapes by name, and of each operation what has none. */
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
  const made = z.toJSONSchema(all, {
    uri: (id) => REFERENCE + id,
    unrepresentable: 'any',
    metadata: all,
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (isBlankable(zodSchema)) addBlank(jsonSchema)
      // What a field is for stands on the field itself; the names of shapes are in a registry of their own.
      Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
    },
  })
  const described = new Map(Object.entries(made.schemas).map(([id, schema]) => [id, withoutFrame(schema as Json)]))
  const named = [...NAMED_SHAPES.values()].map(({ id }) => id).toSorted()
  return {
    named: Object.fromEntries(named.map((id) => [id, described.get(id)])),
    of: (schema) => {
      const id = names.get(schema)?.id ?? ''
      return NAMED_SHAPES.has(schema) ? { $ref: REFERENCE + id } : (described.get(id) ?? {})
    },
  }
}

/** What counts as left out is accepted, whatever the field holds. */
function addBlank(schema: z.core.JSONSchema.BaseSchema): void {
  const { description: _description, $ref, ...given } = schema
  for (const name of Object.keys(schema)) if (name !== 'description') Reflect.deleteProperty(schema, name)
  schema.anyOf = [$ref === undefined ? given : { $ref }, { type: 'null' }, { type: 'string', pattern: '^\\s*$' }]
}

function withoutFrame({ $schema: _schema, $id: _id, id: _own, ...schema }: Json): Json {
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
    ...(spec.body === undefined ? {} : { requestBody: bodyOf(spec, spec.body, schemas) }),
    responses: { ...answersOf(spec, schemas), ...refusalsOf(spec, schemas) },
  }
}

function permissionText({ permission, operatorOnly }: OperationSpec): string {
  if (permission === 'none') return 'Needs no key.'
  if (permission === 'any') return 'Needs a key or a session, and no permission.'
  const names =
    typeof permission === 'string' ? `\`${permission}\`` : permission.map((one) => `\`${one}\``).join(' or ')
  return `Needs ${names}${operatorOnly === true ? ", and to be the operator's owner or admin" : ''}.`
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
    ...(creates === true ? [header('Idempotency-Key', 'Done at most once for a key, for 24 hours')] : []),
    ...(changes ? [header('If-Match', 'The ETag of the version that is to be changed')] : []),
    ...(etag === true && method === 'GET' ? [header('If-None-Match', 'The ETag that is there already')] : []),
  ]
}

function bodyOf({ bodyOptional, examples }: OperationSpec, body: z.ZodType, schemas: Schemas): Json {
  const example = examples?.body === undefined ? {} : { example: examples.body }
  return { required: bodyOptional !== true, content: { 'application/json': { schema: schemas.of(body), ...example } } }
}

function answersOf({ answers, examples, etag }: OperationSpec, schemas: Schemas): Json {
  const example = examples?.answer === undefined ? {} : { example: examples.answer }
  const headers = etag === true ? { headers: { ETag: { description: 'The version', schema: { type: 'string' } } } } : {}
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      if (answer === null) return [status, { description: 'Done; there is nothing to say' }]
      if ('contentType' in answer)
        return [
          status,
          { description: answer.description, content: { [answer.contentType]: mediaOf(answer, schemas) } },
        ]
      const content = { 'application/json': { schema: schemas.of(answer), ...(Number(status) < 300 ? example : {}) } }
      return [status, { description: Number(status) < 300 ? 'Done' : 'Not now', ...headers, content }]
    }),
  )
}

/** OpenAPI 3.1 has no word for a stream; where there is one, the schema is that of each thing in it. */
const mediaOf = ({ each }: MediaAnswer, schemas: Schemas): Json =>
  each === undefined ? {} : { schema: schemas.of(each) }

const ALWAYS: readonly RefusalCode[] = ['VALIDATION', 'MISDIRECTED', 'INTERNAL', 'DATABASE_AWAY']
const WITH_KEY: readonly RefusalCode[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'GUARD_RAIL', 'RATE_LIMITED']
const WITH_BODY: readonly RefusalCode[] = ['MALFORMED', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']

/** What keys with guard rails are refused with where something is made or woken. */
const UNDER_RAILS: readonly RefusalCode[] = ['GUARD_RAIL_RATE', 'LINEAGE_DEPTH', 'LINEAGE_LOOP']

/** Every code that an operation may be refused with. */
export function codesOf(spec: OperationSpec): readonly RefusalCode[] {
  return [
    ...(spec.refusals ?? []),
    ...(spec.creates === true ? (['IDEMPOTENCY_MISMATCH'] as const) : []),
    ...(spec.newWork === true ? (['DRAINING'] as const) : []),
    ...(spec.rails !== undefined && spec.creates === true ? UNDER_RAILS : []),
    ...(spec.method === 'GET' ? [] : WITH_BODY),
    ...(spec.permission === 'none' ? [] : WITH_KEY),
    ...ALWAYS,
  ]
}

function refusalsOf(spec: OperationSpec, schemas: Schemas): Json {
  const byStatus = new Map<number, RefusalCode[]>()
  for (const code of new Set(codesOf(spec))) {
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
