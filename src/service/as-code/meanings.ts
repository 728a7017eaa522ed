import { meaningsOf, type Called, type Meaning, type Sought } from '../../core/as-code/match.ts'
import { KIND_FACTS } from '../../core/as-code/kinds.ts'
import type { Flaw } from '../../domain/input.ts'
import { idTimeOf, ID_PREFIXES, type IdKind } from '../../engine/ids.ts'
import { pointerOf, type Item } from './document.ts'
import type { Context } from './wanted.ts'

/** An item, the id of what it means or will be, and whether that is stored. */
export interface Placed {
  readonly item: Item
  readonly name: string
  readonly id: string
  readonly isStored: boolean
  readonly flaws: readonly Flaw[]
}

/** An item and the name it is known by; null: it has none that could be told. */
export interface NamedItem {
  readonly item: Item
  readonly name: string | null
}

/** Finds out which stored thing each item of a kind means, and gives those that are new their ids. */
export function place(
  { ports, now }: Pick<Context, 'ports' | 'now'>,
  named: readonly NamedItem[],
  stored: readonly Called[],
): readonly Placed[] {
  const items = named.map(({ item, name }): Sought => ({ id: item.id, name: name ?? `\u0000${item.index}` }))
  return meaningsOf(items, stored).map((meaning, at): Placed => {
    const { item, name } = named[at] as NamedItem
    const kind = KIND_FACTS[item.kind].thing
    const id = meaning.kind === 'stored' ? meaning.id : (item.id ?? ports.newId(kind, now))
    const flaws = [...meaningFlaws(item, meaning), ...(meaning.kind === 'new' ? idFlaws(item, kind) : [])]
    return { item, name: name ?? id, id, isStored: meaning.kind === 'stored', flaws }
  })
}

function meaningFlaws(item: Item, meaning: Meaning): readonly Flaw[] {
  const { thing } = KIND_FACTS[item.kind]
  const field = item.id !== null ? 'id' : item.kind === 'budgets' || item.fields['name'] === undefined ? '' : 'name'
  const value = field === '' ? undefined : (item.id ?? item.fields['name'])
  if (meaning.kind === 'ambiguous') {
    const ids = meaning.ids.join(', ')
    return [{ field, value, message: `means ${meaning.ids.length} stored ${item.kind}: ${ids}`, allowed: 'an id' }]
  }
  if (meaning.kind !== 'twice') return []
  const other = pointerOf({ kind: item.kind, index: meaning.index })
  const message =
    meaning.by === 'id'
      ? `is the id of ${other} too`
      : `means the same ${thing} as ${other}: give each its own name, or its id`
  return [{ field, value, message }]
}

/** Agents may have ids that somebody chose; all others are made here, and only carried over. */
function idFlaws({ id }: Item, kind: IdKind): readonly Flaw[] {
  if (id === null || kind === 'agent' || (id.startsWith(ID_PREFIXES[kind]) && idTimeOf(id) !== null)) return []
  const allowed = `${ID_PREFIXES[kind]} and 26 characters, as an export writes it, or none`
  return [{ field: 'id', value: id, message: `is not the id of a ${kind}`, allowed }]
}
