import { Refusal } from '../../api/refusals.ts'
import { changedNames, differences, type Difference } from '../../core/as-code/compare.ts'
import { isFields, type Fields } from '../../core/as-code/same.ts'
import type { Permission } from '../../domain/access/access.ts'
import { MASK } from '../../core/executor/masked.ts'
import type { Flaw } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Caller } from '../caller.ts'
import type { Desk } from '../desk/desk.ts'
import type { Ports } from '../ports.ts'
import type { Work } from '../turn-port.ts'
import type { Item } from './document.ts'
import type { Stored } from '../../features/as-code/stored.ts'

/** What a document is compared with, and on whose behalf. */
export interface Context {
  readonly ports: Ports
  readonly caller: Caller
  readonly now: Instant
  readonly stored: Stored
}

/** Work whose answer nobody looks at but itself. */
export type AnyWork = Omit<Work<never>, 'apply'> & { readonly apply: (desk: Desk, prepared: unknown) => unknown }

/** How something is made, changed or deleted, once it is known that it is to be. */
export type Doing = () => AnyWork | Promise<AnyWork>

/** What an item of a document asks for. */
export interface Wanted {
  readonly item: Item
  readonly name: string
  /** The id of what is stored, or the one that it will have. */
  readonly id: string
  readonly isNew: boolean
  readonly changes: readonly Difference[]
  /** What is wrong with the item; its fields are those of the item. */
  readonly flaws: readonly Flaw[]
  /** What is needed beside the right to write things of its kind. */
  readonly permissions: readonly Permission[]
  /** Null: there is nothing to do, or it cannot be done. */
  readonly doing: Doing | null
}

/** Which stored thing an item means, if any, and the id it has or will have. */
export interface Place<Row> {
  readonly item: Item
  readonly id: string
  readonly known: Row | null
}

/** Both sides of a comparison: as they are, and as they may be shown. */
export interface Sides {
  readonly before: Fields
  readonly after: Fields
}

/** What is to change, as it may be shown. What is hidden and changes is told without its values. */
export function shownChanges(real: Sides, shown: Sides): readonly Difference[] {
  const told = differences(shown.before, shown.after)
  const silent = changedNames(real.before, real.after).filter(
    (name) => !told.some(({ field }) => field === name || field.startsWith(`${name}.`)),
  )
  return [...told, ...silent.map((field) => ({ field, before: MASK, after: MASK }))]
}

/** What a new thing is made of, as changes from nothing. */
export const madeOf = (written: Fields): readonly Difference[] =>
  Object.entries(written).map(([field, value]) => ({ field, before: null, after: value ?? null }))

/** What was refused as flaws of the item it was refused for. */
export function flawsOf(error: unknown): readonly Flaw[] {
  if (!(error instanceof Refusal)) throw error
  return error.flaws.length > 0 ? error.flaws : [{ field: '', value: undefined, message: error.message }]
}

const HIDDEN = 'is hidden: write its value, or name a secret as {{secret:NAME}}'

/** Values that are still hidden: they stand for something that is stored nowhere. */
export function hiddenFlaws(field: string, value: unknown): readonly Flaw[] {
  if (!isFields(value)) return []
  return ['headers', 'env'].flatMap((part) => {
    const inner = value[part]
    if (!isFields(inner)) return []
    return Object.entries(inner).flatMap(([name, text]) =>
      text === MASK ? [{ field: `${field}.${part}.${name}`, value: MASK, message: HIDDEN }] : [],
    )
  })
}
