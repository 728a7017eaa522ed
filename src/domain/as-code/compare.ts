import type { Permission } from '../access/access.ts'
import { type JsonFields, isJsonFields, isSameJson } from '../json.ts'

/** The resource kinds of a document in creation order: referenced kinds come first. */
export const AS_CODE_KINDS = ['agents', 'targets', 'schedules', 'budgets'] as const
export type AsCodeKind = (typeof AS_CODE_KINDS)[number]

/** The singular of each kind. */
export const AS_CODE_RESOURCES = ['agent', 'target', 'schedule', 'budget'] as const
export type AsCodeResource = (typeof AS_CODE_RESOURCES)[number]

/** The planned actions. `unmanaged` means stored, but not in the document, and kept. */
export const AS_CODE_ACTIONS = ['create', 'update', 'delete', 'unchanged', 'unmanaged'] as const
export type AsCodeAction = (typeof AS_CODE_ACTIONS)[number]

/** The singular of a kind and the permissions to read, write and delete its resources. */
export const KIND_INFO: {
  readonly [Kind in AsCodeKind]: {
    readonly thing: AsCodeResource
    readonly read: Permission
    readonly write: Permission
    readonly remove: Permission
  }
} = {
  agents: { thing: 'agent', read: 'agents:read', write: 'agents:write', remove: 'agents:write' },
  targets: { thing: 'target', read: 'targets:read', write: 'targets:write', remove: 'targets:write' },
  schedules: { thing: 'schedule', read: 'schedules:read', write: 'schedules:write', remove: 'schedules:delete' },
  budgets: { thing: 'budget', read: 'budgets:read', write: 'budgets:write', remove: 'budgets:write' },
}

/** Field names of schedules that only the API accepts. A document has one name for each field. */
export const SCHEDULE_SYNONYMS = [
  'kind',
  'schedule_type',
  'cron_expr',
  'expr',
  'interval_seconds',
  'run_at',
  'atMs',
  'tz',
  'status',
] as const

/** A changed field with its old and new value; null if the field is missing. */
export interface Difference {
  /** The field path, such as `retry_policy.base_ms`. */
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** The fields that differ. If both values are objects, their fields are compared instead. */
export function differences(before: JsonFields, after: JsonFields, prefix = ''): readonly Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [oldValue, newValue] = [before[name] ?? null, after[name] ?? null]
    if (isSameJson(oldValue, newValue)) return []
    const field = `${prefix}${name}`
    return isJsonFields(oldValue) && isJsonFields(newValue)
      ? differences(oldValue, newValue, `${field}.`)
      : [{ field, before: oldValue, after: newValue }]
  })
}

/** The names of the fields that differ. */
export const changedNames = (before: JsonFields, after: JsonFields): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSameJson(before[name], after[name]))

/** The fields that differ from their defaults, also within nested objects. */
export function withoutDefaults(full: JsonFields, defaults: JsonFields): JsonFields {
  const found = Object.entries(full).flatMap(([name, value]): [string, unknown][] => {
    const other = defaults[name]
    if (isSameJson(value, other)) return []
    return [[name, isJsonFields(value) && isJsonFields(other) ? withoutDefaults(value, other) : value]]
  })
  return Object.fromEntries(found)
}

/** The id and name of a stored resource. */
export interface NamedResource {
  readonly id: string
  readonly name: string
}

/** The id and name of an item in a document. */
export interface DocumentItem {
  /** Null if the item has no id. */
  readonly id: string | null
  readonly name: string
}

/** The stored resource that an item refers to. */
export type ItemMatch =
  | { readonly kind: 'stored'; readonly id: string }
  | { readonly kind: 'new' }
  /** Several stored resources have this name. */
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }
  /** An earlier item refers to the same resource. */
  | { readonly kind: 'twice'; readonly by: 'id' | 'name'; readonly index: number }

/**
 * Matches items with stored resources: by id, otherwise by name among those that no other item has by id. An unknown id
 * creates a new resource, so that a document with ids can be applied to another org.
 */
export function matchItems(items: readonly DocumentItem[], stored: readonly NamedResource[]): readonly ItemMatch[] {
  const claimed = new Set(items.flatMap(({ id }) => (id === null ? [] : [id])))
  const known = new Set(stored.map(({ id }) => id))
  const free = new Map<string, string[]>()
  for (const { id, name } of stored) {
    if (claimed.has(id)) continue
    const others = free.get(name)
    if (others === undefined) free.set(name, [id])
    else others.push(id)
  }
  const seen = new Map<string, number>()
  return items.map((item, index): ItemMatch => {
    const key = item.id === null ? `name ${item.name}` : `id ${item.id}`
    const first = seen.get(key) ?? index
    seen.set(key, first)
    if (first < index) return { kind: 'twice', by: item.id === null ? 'name' : 'id', index: first }
    if (item.id !== null) return known.has(item.id) ? { kind: 'stored', id: item.id } : { kind: 'new' }
    const [id, ...others] = free.get(item.name) ?? []
    if (id === undefined) return { kind: 'new' }
    return others.length === 0 ? { kind: 'stored', id } : { kind: 'ambiguous', ids: [id, ...others] }
  })
}

/** The ids that a reference in a document resolves to: none, one or several. Names take precedence over ids. */
export function resolveReference(text: string, things: readonly NamedResource[]): readonly string[] {
  const named = things.filter(({ name }) => name === text).map(({ id }) => id)
  if (named.length > 0) return [...new Set(named)]
  return things.some(({ id }) => id === text) ? [text] : []
}

/** The unambiguous names by id. */
export function unambiguousNames(things: readonly NamedResource[]): ReadonlyMap<string, string> {
  const count = new Map<string, number>()
  for (const { name } of things) count.set(name, (count.get(name) ?? 0) + 1)
  return new Map(things.filter(({ name }) => count.get(name) === 1).map(({ id, name }) => [id, name]))
}
