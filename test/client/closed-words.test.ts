import { describe, expect, it } from 'vitest'
import { openApiOf } from '../../src/operations/openapi.ts'
import { OPERATIONS } from '../../src/operations/table.ts'

/** A JSON schema, as far as it is looked at here. */
interface Schema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
}

const { components, paths } = openApiOf(OPERATIONS, '1')
const schemas = components.schemas as Readonly<Record<string, Schema>>

/** Whether a field takes words of a closed list, or any text. */
function wordsOf(schema: Schema): readonly ('closed' | 'open')[] {
  if (schema.$ref !== undefined) return wordsOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (schema.enum !== undefined || schema.const !== undefined) return ['closed']
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(wordsOf)
  if (schema.items !== undefined) return wordsOf(schema.items)
  return schema.type === 'string' && schema.format === undefined ? ['open'] : []
}

/** Every named field inside of something, with where it stands. */
function fieldsIn(value: unknown, at: string): readonly (readonly [string, Schema, string])[] {
  if (typeof value !== 'object' || value === null) return []
  const { properties = {} } = value as Schema
  return [
    ...Object.entries(properties).map(([name, field]) => [name, field, at] as const),
    ...Object.values(value).flatMap((inner) => fieldsIn(inner, at)),
  ]
}

const FIELDS = [
  ...Object.entries(schemas).flatMap(([name, schema]) => fieldsIn(schema, name)),
  ...Object.entries(paths).flatMap(([path, operations]) =>
    Object.values(operations).flatMap((operation) => fieldsIn(operation, path)),
  ),
]

/** What people and programs call their own things; elsewhere the same name has a list. */
const ANYBODYS = new Set(['name', 'session'])

/** Fields that only share their name with one that has a list. */
const OPEN = [
  // The words of a person.
  ...['Approval.reason', 'RejectInput.reason'],
  // The address of a link in the API; a model has one of a few APIs.
  'ExplainLink.api',
  // The name of a fact that a decision rested on.
  'ExplainLink.role',
  // Whatever the runtime of an agent reports; codes that are not ours are shown beside ours.
  'ResultInput.error_code',
  // Whatever an agent can do.
  ...['Task.action', 'TaskInput.action', 'TaskItemInput.action'],
  // Our codes in small letters, and some that its clients know.
  'TaskError.code',
  // Of the program.
  'Version.version',
]

describe('a name that has a closed list of words', () => {
  it('has one wherever it stands', () => {
    const closed = new Set(FIELDS.flatMap(([name, field]) => (wordsOf(field).includes('closed') ? [name] : [])))
    const open = FIELDS.flatMap(([name, field, at]) =>
      closed.has(name) && !ANYBODYS.has(name) && wordsOf(field).includes('open') ? [`${at}.${name}`] : [],
    )
    expect([...new Set(open)].sort()).toEqual(OPEN.toSorted())
  })
})
