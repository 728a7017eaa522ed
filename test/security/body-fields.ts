import { z } from 'zod'
import type { OperationSpec } from '../../src/api/operation.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { TOOLS } from '../../src/server/mcp/tools/tools.ts'
import { RPC_METHODS, type RpcMethodSpec } from '../../src/server/rpc/methods.ts'

/** A JSON schema, as far as it is looked at here. */
interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
}

interface Walk {
  readonly defs: Readonly<Record<string, Schema>>
  readonly found: Set<string>
  readonly depth: number
}

const MAX_DEPTH = 12

/** Collects every place of a schema at which any text, or anything at all, can stand. */
function walk(schema: Schema, path: string, at: Walk): void {
  if (at.depth > MAX_DEPTH) return
  const below = { ...at, depth: at.depth + 1 }
  const { $ref, properties, additionalProperties, items } = schema
  if ($ref !== undefined) {
    walk(at.defs[$ref.split('/').at(-1) ?? ''] ?? {}, path, below)
    return
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (choices !== undefined) for (const choice of choices) walk(choice, path, below)
  for (const [name, field] of Object.entries(properties ?? {}))
    walk(field, path === '' ? name : `${path}.${name}`, below)
  if (typeof additionalProperties === 'object') walk(additionalProperties, `${path}.*`, below)
  if (items !== undefined) walk(items, `${path}[]`, below)
  if (choices === undefined && properties === undefined && items === undefined && isOpen(schema)) at.found.add(path)
}

/** Whether it takes texts that the schema does not list. */
function isOpen({ type, enum: words, const: word, format, additionalProperties }: Schema): boolean {
  if (words !== undefined || word !== undefined || format === 'date-time') return false
  if (type === undefined) return true
  const types = typeof type === 'string' ? [type] : type
  return types.includes('string') || (types.includes('object') && additionalProperties === true)
}

function fieldsOf(schema: z.ZodType | undefined): readonly string[] {
  if (schema === undefined) return []
  const described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  const found = new Set<string>()
  walk(described, '', { defs: described.$defs ?? {}, found, depth: 0 })
  return [...found]
}

/** Every field that a restricted key can fill in with a text of its own, with the doors that take it. */
export function openFields(): ReadonlyMap<string, readonly string[]> {
  const doors = new Map<string, string[]>()
  const add = (door: string, schema: z.ZodType | undefined): void => {
    for (const field of fieldsOf(schema)) doors.set(field, [...(doors.get(field) ?? []), door])
  }
  for (const [id, spec] of Object.entries(OPERATIONS as Readonly<Record<string, OperationSpec>>))
    if (spec.restrictedAccess !== undefined && spec.permission !== 'none')
      for (const part of ['params', 'query', 'body'] as const) add(`${id} ${part}`, spec[part])
  for (const [name, spec] of Object.entries(RPC_METHODS as Readonly<Record<string, RpcMethodSpec>>))
    if (spec.restrictedAccess !== undefined) add(`rpc ${name}`, spec.params)
  for (const [name, { input }] of Object.entries(TOOLS as Readonly<Record<string, { readonly input: z.ZodType }>>))
    add(`mcp ${name}`, input)
  return doors
}
