import { Refusal } from '../../api/refusals.ts'
import { changedNames, differences, type Difference } from '../../domain/as-code/compare.ts'
import { isJsonFields, type JsonFields } from '../../domain/json.ts'
import type { Permission } from '../../domain/access/access.ts'
import { MASK } from '../../domain/secret/mask.ts'
import type { Flaw } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Caller } from '../access/caller.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Command } from '../../engine/commands-port.ts'
import type { Item } from './document.ts'
import type { StoredObjects } from './stored.ts'

/** The state that a document is compared with, and the caller. */
export interface PlanContext {
  readonly ports: Ports
  readonly caller: Caller
  readonly now: Instant
  readonly stored: StoredObjects
}

/** A command whose result is used only by itself. */
export type AnyCommand = Omit<Command<never>, 'apply'> & {
  readonly apply: (state: OrgState, prepared: unknown) => unknown
}

/** Creates the command of a planned change. */
export type CommandFactory = () => AnyCommand | Promise<AnyCommand>

/** The planned change of an item. */
export interface PlannedObject {
  readonly item: Item
  readonly name: string
  /** The id of the stored object, or of the new one. */
  readonly id: string
  readonly isNew: boolean
  readonly changes: readonly Difference[]
  /** What is wrong with the item, with the item's field names. */
  readonly flaws: readonly Flaw[]
  /** Required permissions besides writing objects of its kind. */
  readonly permissions: readonly Permission[]
  /** Null: there is nothing to do, or it is not possible. */
  readonly doing: CommandFactory | null
}

/** An item with the id of its object and the stored row, if any. */
export interface ItemMatch<Row> {
  readonly item: Item
  readonly id: string
  readonly known: Row | null
}

/** The fields before and after a change. */
export interface Sides {
  readonly before: JsonFields
  readonly after: JsonFields
}

/** The changes to show. Of hidden values that change, only the names are shown. */
export function shownChanges(real: Sides, shown: Sides): readonly Difference[] {
  const visibleChanges = differences(shown.before, shown.after)
  const hiddenNames = changedNames(real.before, real.after).filter(
    (name) => !visibleChanges.some(({ field }) => field === name || field.startsWith(`${name}.`)),
  )
  return [...visibleChanges, ...hiddenNames.map((field) => ({ field, before: MASK, after: MASK }))]
}

/** The fields of a new object as changes from null. */
export const creationChanges = (written: JsonFields): readonly Difference[] =>
  Object.entries(written).map(([field, value]) => ({ field, before: null, after: value ?? null }))

/** A refusal as flaws of its item. */
export function flawsOf(error: unknown): readonly Flaw[] {
  if (!(error instanceof Refusal)) throw error
  return error.flaws.length > 0 ? error.flaws : [{ field: '', value: undefined, message: error.message }]
}

const HIDDEN = 'is hidden; set its value, or reference a secret as {{secret:NAME}}'

/** Masked values that could not be restored. */
export function hiddenFlaws(field: string, value: unknown): readonly Flaw[] {
  if (!isJsonFields(value)) return []
  return ['headers', 'env'].flatMap((part) => {
    const inner = value[part]
    if (!isJsonFields(inner)) return []
    return Object.entries(inner).flatMap(([name, text]) =>
      text === MASK ? [{ field: `${field}.${part}.${name}`, value: MASK, message: HIDDEN }] : [],
    )
  })
}
