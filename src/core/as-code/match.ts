/** Something that is stored, as people and programs call it. */
export interface Called {
  readonly id: string
  readonly name: string
}

/** An item of a document, as far as it says which stored thing it means. */
export interface Sought {
  /** Null: it says none. */
  readonly id: string | null
  readonly name: string
}

/** What an item means. */
export type Meaning =
  | { readonly kind: 'stored'; readonly id: string }
  | { readonly kind: 'new' }
  /** Several are stored that it could mean. */
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }
  /** Another item before it means the same. */
  | { readonly kind: 'twice'; readonly by: 'id' | 'name'; readonly index: number }

/**
 * Which stored thing each item means: the one of its id, else the one of its name that no other item has claimed by id.
 * An id that is not stored makes something new, so that a document with ids can be carried elsewhere.
 */
export function meaningsOf(items: readonly Sought[], stored: readonly Called[]): readonly Meaning[] {
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
  return items.map((item, index): Meaning => {
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

/** What a name in a document leads to: one thing, none, or several. A name comes before an id that is spelt the same. */
export function resolve(text: string, things: readonly Called[]): readonly string[] {
  const named = things.filter(({ name }) => name === text).map(({ id }) => id)
  if (named.length > 0) return [...new Set(named)]
  return things.some(({ id }) => id === text) ? [text] : []
}

/** The names that lead to exactly one of these things, by its id. */
export function clearNames(things: readonly Called[]): ReadonlyMap<string, string> {
  const count = new Map<string, number>()
  for (const { name } of things) count.set(name, (count.get(name) ?? 0) + 1)
  return new Map(things.filter(({ name }) => count.get(name) === 1).map(({ id, name }) => [id, name]))
}
