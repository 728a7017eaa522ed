import fc from 'fast-check'
import { z } from 'zod'
import { PERMISSIONS } from '../../../src/domain/access/access.ts'

/** As much of JSON Schema as our contract uses. */
export interface Shape {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Shape | boolean
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** The shape behind a schema of the contract. */
export const shapeOf = (schema: z.ZodType): Shape =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as Shape

const word = fc.stringMatching(/^[a-z][a-z0-9-]{2,11}$/)
const sentence = fc.oneof(
  fc.constantFrom('Look at the inbox', 'Grüße, 你好 👋🏽', 'a\nb\tc', "Robert'); drop table run;--", '‮abc‬', 'e\u0301'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== ''),
)
const coming = fc.integer({ min: 1, max: 5_000 }).map((hours) => new Date(Date.UTC(2026, 1, 1, hours)).toISOString())
const crons = fc.constantFrom(
  '* * * * *',
  '*/30 8-18 * * MON-FRI',
  '0 9 1,15 * *',
  '@daily',
  '0 0 29 2 *',
  '5 4 * * SUN',
)
const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe')
const session = fc.constantFrom('agent:writer:main', 'mail', 'team/ü', 'agent:reader:x:y')

/** What a field of this name holds when somebody means it, where its shape alone does not say. */
const MEANT: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  name: sentence,
  text: sentence,
  description: sentence,
  id: word,
  cron: crons,
  cron_expr: crons,
  expr: crons,
  rrule: fc.constantFrom('FREQ=DAILY;COUNT=5', 'FREQ=WEEKLY;BYDAY=MO,WE', 'FREQ=MONTHLY;BYMONTHDAY=-1'),
  timezone: zones,
  tz: zones,
  default_timezone: zones,
  agent_id: fc.constantFrom('writer', 'reader'),
  agents: fc.constant(['MAKE:workers.agent']),
  default_agent_id: fc.constant(null),
  session,
  default_session: session,
  lane: fc.constantFrom('main', 'cron'),
  executor: fc.constant({ kind: 'echo' }),
  scopes: fc.subarray(Object.keys(PERMISSIONS), { minLength: 1, maxLength: 4 }),
  email: word.map((name) => `${name}@example.com`),
  at: coming,
  run_at: coming,
  expires_at: coming,
  deadline: coming,
  not_before: coming,
  from: coming,
  to: coming,
  exclude: fc.constant(['2026-12-24']),
  payload: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
  wait: fc.constantFrom(0, 0.001),
  status: fc.constantFrom('queued', 'success,failed', 'CANCELED', 'FAILED_TIMEOUT', 'scheduled'),
  token: fc.constant('MAKE:auth.token'),
  schedule_id: fc.constant('MAKE:schedules.id'),
  target_id: fc.constant('MAKE:targets.id'),
  parent_run_id: fc.constant('MAKE:runs.id'),
  hosts: fc.constantFrom(['api.example.com'], ['a.example.com', 'b.example.com:8443']),
  value: fc.string({ minLength: 8, maxLength: 40 }),
  ids: fc.constantFrom(['MAKE:bulk.ids'], ['MAKE:bulk.ids', 'nobody']),
  kinds: fc.constantFrom('run.changed', 'run.changed,schedule.changed'),
}

/** Where a name is more than a sentence. */
const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/

/** Fields that only fit together with others, or name what has to be there: left out unless the shape demands them. */
const SELDOM: ReadonlySet<string> = new Set([
  ...['parent_run_id', 'schedule_id', 'cursor', 'job_run_id', 'attempt_id', 'anchor', 'day_match', 'jitter_ms'],
  ...['starts_at', 'ends_at', 'max_ms', 'base_ms', 'last_event_id', 'message_id', 'sent_at', 'max_parallel'],
  'worker_id',
])

/** Values that fit a shape, and mostly mean something. */
export function fitting(shape: Shape, name = ''): fc.Arbitrary<unknown> {
  const meant = MEANT[name]
  if (shape.pattern === SECRET_NAME.source) return word
  if (meant !== undefined) return meant
  if (shape.anyOf !== undefined) return fc.oneof(...shape.anyOf.map((one) => fitting(one)))
  const { type } = shape
  if (typeof type === 'object') return fc.oneof(...type.map((one) => fitting({ ...shape, type: one })))
  if (shape.const !== undefined) return fc.constant(shape.const)
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum)
  switch (type ?? 'anything') {
    case 'object':
      return fittingObject(shape)
    case 'array':
      return fc.array(fitting(shape.items ?? {}), { minLength: shape.minItems ?? 0, maxLength: 3 })
    case 'string':
      return shape.format === 'date-time' ? coming : textBetween(shape)
    case 'integer':
      return fc.integer({
        min: shape.minimum ?? 0,
        max: Math.min(shape.maximum ?? 1_000, (shape.minimum ?? 0) + 5_000),
      })
    case 'number':
      return fc.integer({
        min: Math.max(shape.minimum ?? 0, shape.exclusiveMinimum === undefined ? 0 : 1),
        max: Math.min(shape.maximum ?? 1_000, 1_000),
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.oneof(sentence, fc.integer(), fc.constant({ some: ['thing'] }))
  }
}

const textBetween = ({ minLength = 0, maxLength = 24 }: Shape): fc.Arbitrary<string> =>
  minLength > 12 ? fc.string({ minLength, maxLength }) : word.map((text) => text.slice(0, maxLength))

/** An object with what it must have, and some of what it may. */
export function fittingObject({
  properties = {},
  required = [],
  additionalProperties,
}: Shape): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(properties)
  if (names.length === 0 && typeof additionalProperties === 'object')
    return fc.dictionary(word, fitting(additionalProperties), { maxKeys: 2 })
  const must = names.filter((name) => required.includes(name))
  const may = names.filter((name) => !required.includes(name) && !SELDOM.has(name))
  const seldom = names.filter((name) => !required.includes(name) && SELDOM.has(name))
  const some = fc.tuple(
    fc.subarray(may, { maxLength: Math.min(may.length, 4) }),
    fc.oneof(
      { weight: 15, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.subarray(seldom, { maxLength: Math.min(seldom.length, 1) }) },
    ),
  )
  return some.chain(([chosen, odd]) => {
    const fields = [...must, ...chosen, ...odd].map((name) => [name, fitting(properties[name] ?? {}, name)] as const)
    return fc.record(Object.fromEntries(fields))
  })
}

/** A body of a channel: what there is depends on its kind, and so do the secrets. */
export const fittingChannel = (): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      fc.uuid().map((id) => ({ name: `c-${id}`, agent_id: 'writer' })),
      fc.constantFrom(
        { kind: 'telegram', token: '4711:AAH-made', allowed_users: [1_001], mode: 'webhook' },
        { kind: 'slack', token: 'xoxb-made', signing_secret: 'made-for-a-test', open: true },
        { kind: 'hook', signing_secret: `whsec_${'c2VjcmV0'.repeat(5)}`, session: '{{body.x}}', lane: 'main' },
      ),
    )
    .map(([named, rest]) => ({ ...named, ...rest }))

const TIMINGS = fc.oneof(
  coming.map((at) => ({ at })),
  fc.integer({ min: 60, max: 90_000 }).map((every_seconds) => ({ every_seconds })),
  fc
    .integer({ min: 60, max: 90_000 })
    .map((every_seconds) => ({ every_seconds, cadence: { min_seconds: 30, max_seconds: every_seconds * 2 } })),
  crons.map((cron) => ({ cron })),
  crons.map((cron_expr) => ({ schedule_type: 'cron', cron_expr })),
  fc.constant({ kind: 'interval', everyMs: 60_000 }),
  fc.constant({ rrule: 'FREQ=DAILY;COUNT=5' }),
)
const TIMING_FIELDS: ReadonlySet<string> = new Set([
  ...[
    'at',
    'every_seconds',
    'anchor',
    'cron',
    'rrule',
    'kind',
    'schedule_type',
    'cron_expr',
    'expr',
    'day_match',
    'dst',
  ],
  ...[
    'interval_seconds',
    'everyMs',
    'run_at',
    'atMs',
    'tz',
    'starts_at',
    'ends_at',
    'exclude',
    'jitter_ms',
    'max_fires',
    'cadence',
  ],
])

/** A body of a schedule: exactly one way of saying when, and some of the rest. */
export function fittingSchedule({ properties = {} }: Shape): fc.Arbitrary<Record<string, unknown>> {
  const rest = Object.fromEntries(Object.entries(properties).filter(([name]) => !TIMING_FIELDS.has(name)))
  return fc.tuple(TIMINGS, fittingObject({ properties: rest })).map(([timing, more]) => ({ ...more, ...timing }))
}

/** What is to be simulated: some schedules, over a window that is soon over. */
export function fittingSimulation({ properties = {} }: Shape): fc.Arbitrary<Record<string, unknown>> {
  const schedules = fc.array(fittingSchedule(properties['schedules']?.items ?? {}), { minLength: 1, maxLength: 2 })
  const which = fc.oneof(
    schedules.map((given) => ({ schedules: given })),
    fc.constantFrom({ ids: ['MAKE:schedules.id'] }, { all: true }, { all: true, agent_id: 'writer' }),
    fc.constant({ ids: ['MAKE:schedules.id'], replay: true, window_seconds: 600 }),
  )
  const changes = fc.constantFrom([], [{ set: { overlap_action: 'SKIP' } }], [{ set: { max_concurrency: 2 } }])
  const rest = fc.record(
    {
      window_seconds: fc.integer({ min: 1, max: 7_200 }),
      seed: fc.nat(1_000),
      max_rows: fc.nat(100),
      observed: fc.boolean(),
      budgets: fc.boolean(),
      assume: fc.constantFrom({}, { duration_ms: { min: 10, max: 90_000 } }, { failure_rate: 0.5, tokens: 10 }),
      ...{ changes, against: changes },
    },
    { requiredKeys: [] },
  )
  return fc.tuple(rest, which).map(([more, chosen]) => ({ ...more, ...chosen }))
}

/** A range that is over, and some of the rest. */
export function fittingBackfill({ properties = {} }: Shape): fc.Arbitrary<Record<string, unknown>> {
  const { from: _from, to: _to, ...rest } = properties
  const range = fc.tuple(fc.integer({ min: 1, max: 14 }), fc.boolean()).map(([day, isOpen]) => ({
    from: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
    ...(isOpen ? {} : { to: '2026-01-15T00:00:00Z' }),
  }))
  return fc.tuple(fittingObject({ properties: rest }), range).map(([more, chosen]) => ({ ...more, ...chosen }))
}
