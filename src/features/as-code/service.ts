import { invalid, Refusal } from '../../api/refusals.ts'
import type { Permission } from '../../domain/access/access.ts'
import { AS_CODE_ACTIONS, AS_CODE_KINDS, type AsCodeKind, KIND_INFO } from '../../domain/as-code/compare.ts'
import { targetKindRule, TARGET_KIND_NAMES } from '../../domain/delivery/target-kinds.ts'
import type { OrgId, ScheduleId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import { toJsonPointer } from '../../domain/json.ts'
import type { Command } from '../../engine/commands-port.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import type { TransactionReads } from '../../engine/transaction/reads.ts'
import type { Caller } from '../access/caller.ts'
import { type Items, itemsOf, yieldToEventLoop, fieldPathOf, pointerOf } from './document.ts'
import { type RequestedObjects, compareDocument } from './plan.ts'
import { documentOf, type UnlistedObject, findUnlisted, readKinds } from './prune.ts'
import type { ApplyFilter, AsCodeDocument, PlannedItem, PlanView } from './schema.ts'
import { digestOf, fingerprint, loadStoredObjects, type StoredObjects } from './stored.ts'
import { type AnyCommand, type PlanContext, type CommandFactory, flawsOf, type PlannedObject } from './wanted.ts'
import { loadSealingKey } from '../secrets/store.ts'
import { rollBackToSavepoint, releaseSavepoint, setSavepoint } from '../../platform/db/advisory-locks.ts'
import type { Transaction } from '../../platform/db/database.ts'

/** One of several commands of a combined command, and the object it is for. */
interface CommandPart {
  readonly key: string
  readonly command: AnyCommand
}

/** The result: the flaws of each part, and whether the stored objects changed in the meantime. */
interface Outcome {
  readonly moved: boolean
  readonly flaws: ReadonlyMap<string, readonly Flaw[]>
}

interface CommandParts {
  readonly orgId: OrgId
  readonly parts: readonly CommandPart[]
  /** Dry run: all writes are rolled back. */
  readonly isTrial: boolean
  /** Checked under the lock: whether the stored objects are unchanged since the commands were created. */
  readonly isStill: (tx: Transaction) => Promise<boolean>
}

interface PreparedParts extends Outcome {
  /** The prepared value of each part; null: nothing is applied. */
  readonly done: readonly unknown[] | null
}

/**
 * Combines several commands into one that is executed completely or not at all. All parts are prepared before any is
 * applied, so a refusal rolls back all writes before the org state is changed. Every part is prepared even after
 * another was refused, so that all flaws are reported together.
 */
function combineCommands({ orgId, parts, isTrial, isStill }: CommandParts): Command<Outcome> {
  let answers: readonly unknown[] = []
  return {
    orgId,
    needs: {
      schedules: isTrial ? [] : parts.flatMap(({ command }): readonly ScheduleId[] => command.needs?.schedules ?? []),
    },
    prepare: async (tx, now, reads): Promise<PreparedParts> => {
      if (!(await isStill(tx))) return { moved: true, flaws: NO_FLAWS, done: null }
      setSavepoint(tx, 'whole')
      const { flaws, done } = await prepareAll(tx, parts, { now, reads })
      if (flaws.size === 0 && !isTrial) {
        releaseSavepoint(tx, 'whole')
        return { moved: false, flaws, done }
      }
      await rollBackToSavepoint(tx, 'whole')
      return { moved: false, flaws, done: null }
    },
    apply: (state, prepared) => {
      const { done, ...outcome } = prepared as PreparedParts
      answers = done === null ? [] : applyAll(state, parts, done)
      return outcome
    },
    afterApply: async (tx, _outcome, now) => {
      for (const [at, answer] of answers.entries()) await parts[at]?.command.afterApply?.(tx, answer as never, now)
    },
  }
}

const NO_FLAWS: Outcome['flaws'] = new Map()

async function prepareAll(
  tx: Transaction,
  parts: readonly CommandPart[],
  { now, reads }: { readonly now: Instant; readonly reads: TransactionReads },
): Promise<{ readonly flaws: Map<string, readonly Flaw[]>; readonly done: readonly unknown[] }> {
  const flaws = new Map<string, readonly Flaw[]>()
  const done: unknown[] = []
  for (const { key: of, command } of parts) {
    setSavepoint(tx, 'piece')
    try {
      done.push(await (command.prepare?.(tx, now, reads) ?? command.load?.(reads, now)))
      releaseSavepoint(tx, 'piece')
    } catch (error) {
      flaws.set(of, flawsOf(error))
      await rollBackToSavepoint(tx, 'piece')
    }
  }
  return { flaws, done }
}

/** A prepared command must not be refused any more. If it is, the whole transaction fails. */
const applyAll = (state: OrgState, parts: readonly CommandPart[], done: readonly unknown[]): readonly unknown[] =>
  parts.map(({ key: of, command }, at): unknown => {
    try {
      return command.apply(state, done[at])
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw new Error(`${of} was refused after it was prepared: ${error.message}`, { cause: error })
    }
  })

/** Whether the caller has a permission; the embedding program has all. */
export type PermissionCheck = (permission: Permission) => boolean

/** A document, the options of applying it, and the permissions of the caller. */
export interface ApplyRequest extends ApplyFilter {
  readonly document: AsCodeDocument
  readonly may: PermissionCheck
}

/** Exports the stored objects as a document. */
export async function exportDocument(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Pick<Caller, 'orgId'>,
  requested: { readonly kinds?: string | undefined; readonly may: PermissionCheck },
): Promise<AsCodeDocument> {
  const kinds = readKinds(requested.kinds)
  requireAll(
    requested.may,
    kinds.map((kind) => KIND_INFO[kind].read),
    'to export these kinds; select others with `kinds`',
  )
  return documentOf(await loadStoredObjects(database, orgId), kinds)
}

/** The plan of applying a document. Nothing is saved. */
export const planDocument = (ports: Ports, caller: Caller, applying: ApplyRequest): Promise<PlanView> =>
  planOrApply(ports, caller, { applying, isTrial: true })

/** Applies a document completely or not at all. */
export const applyDocument = (ports: Ports, caller: Caller, applying: ApplyRequest): Promise<PlanView> =>
  planOrApply(ports, caller, { applying, isTrial: false })

interface ApplyMode {
  readonly applying: ApplyRequest
  readonly isTrial: boolean
}

/** The number of attempts if other changes come in between. */
const MAX_TRIES = 5

async function planOrApply(ports: Ports, asking: Caller, { applying, isTrial }: ApplyMode): Promise<PlanView> {
  const items = itemsOf(applying.document)
  const named = AS_CODE_KINDS.filter((kind) => items[kind] !== undefined)
  requireAll(
    applying.may,
    named.map((kind) => KIND_INFO[kind].read),
    'to compare the document with the stored objects',
  )
  // In a dry run, a missing permission to set budgets is reported in `permissions` instead of being refused.
  const caller = { ...asking, once: undefined, ...(isTrial ? { writesBudgets: true } : {}) }
  const context = { ports: withoutSealing(ports), caller }
  if (isTrial) return applyWithRetries(context, items, { applying, isTrial })
  // The first sealing key must only be created if something is saved, so a dry run decides that first.
  const isFirst = isSealed(items) && (await loadSealingKey(ports.database)) === null
  const isSound = !isFirst || isFlawless(await applyWithRetries(context, items, { applying, isTrial: true }))
  return applyWithRetries(isSound ? { ports, caller } : context, items, { applying, isTrial })
}

/** Whether a target has a URL that is stored sealed. */
const isSealed = ({ targets = [] }: Items): boolean =>
  TARGET_KIND_NAMES.some(
    (word) => targetKindRule(word).hidesUrl === true && targets.some(({ fields }) => fields['kind'] === word),
  )

/** Seals nothing in a dry run, but still refuses a missing encryption key. */
const withoutSealing = (ports: Ports): Ports => ({
  ...ports,
  vault: { ...ports.vault, seal: () => ports.vault.check().then(() => '') },
})

const isFlawless = ({ items }: PlanView): boolean => items.every(({ flaws }) => flaws.length === 0)

async function applyWithRetries(
  of: Pick<PlanContext, 'ports' | 'caller'>,
  items: Items,
  how: ApplyMode,
): Promise<PlanView> {
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const done = await applyOnce(of, items, how)
    if (done !== null) return done
  }
  throw new Refusal('CONFLICT', `The stored objects changed during ${MAX_TRIES} attempts in a row; try again later`)
}

async function applyOnce(
  { ports, caller }: Pick<PlanContext, 'ports' | 'caller'>,
  items: Items,
  { applying, isTrial }: ApplyMode,
): Promise<PlanView | null> {
  const stored = await loadStoredObjects(ports.database, caller.orgId)
  const before = fingerprint(stored)
  await yieldToEventLoop()
  const prune = applying.prune === true
  const planId = digestOf([caller.orgId, items, prune, before])
  refuseStale(applying.expect, planId)
  const context = { ports, caller, now: ports.clock.now(), stored }
  await yieldToEventLoop()
  const requested = await compareDocument(context, items)
  await yieldToEventLoop()
  const unlisted = findUnlisted(context, requested, prune)
  const permissions = permissionsFor(requested, unlisted)
  if (!isTrial) requireAll(applying.may, permissions, 'to apply this document')
  const { pieces: parts, flaws } = await commandPartsOf(requested, unlisted)
  scheduleLimitFlaws(stored, { asked: requested, left: unlisted }, flaws)
  const outcome =
    parts.length === 0
      ? EMPTY_OUTCOME
      : await ports.commands.execute(
          combineCommands({
            ...{ orgId: caller.orgId, parts, isTrial: isTrial || hasFlaws(requested, unlisted, flaws) },
            isStill: async (tx) => fingerprint(await loadStoredObjects(tx, caller.orgId)) === before,
          }),
        )
  if (outcome.moved) return null
  for (const [of, more] of outcome.flaws) flaws.set(of, [...(flaws.get(of) ?? []), ...more])
  const shown = [...plannedItemsOf(requested, flaws), ...unlisted.map((one) => plannedUnlisted(one, { prune, flaws }))]
  if (!isTrial) refuseFlawed([...allFlaws(requested, unlisted, flaws)])
  return { plan_id: planId, applied: !isTrial, prune, items: shown, counts: countsOf(shown), permissions }
}

const EMPTY_OUTCOME: Outcome = { moved: false, flaws: new Map() }

type Flaws = Map<string, readonly Flaw[]>

const unlistedKey = ({ kind, id }: UnlistedObject): string => `${kind}:${id}`

function refuseStale(expect: string | undefined, planId: string): void {
  if (expect === undefined || expect === planId) return
  throw new Refusal(
    'STALE_VERSION',
    'The reviewed plan is out of date, because the document or the stored objects have changed; plan it again',
    { details: { plan_id: planId } },
  )
}

function requireAll(may: PermissionCheck, permissions: readonly Permission[], what: string): void {
  const missing = [...new Set(permissions)].filter((permission) => !may(permission))
  if (missing.length === 0) return
  throw new Refusal('FORBIDDEN', `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required ${what}`, {
    details: { permissions: missing },
  })
}

const requestedItems = (requested: RequestedObjects): readonly PlannedObject[] =>
  AS_CODE_KINDS.flatMap((kind): readonly PlannedObject[] => requested[kind] ?? [])

function permissionsFor(requested: RequestedObjects, unlisted: readonly UnlistedObject[]): readonly Permission[] {
  const writing = requestedItems(requested).flatMap(({ item, isNew, changes, permissions }) =>
    isNew || changes.length > 0 ? [KIND_INFO[item.kind].write, ...permissions] : [],
  )
  const removing = unlisted.flatMap(({ kind, createCommand }) =>
    createCommand === null ? [] : [KIND_INFO[kind].remove],
  )
  return [...new Set([...writing, ...removing])]
}

/** Budgets are deleted before the schedules they limit, so that no budget refers to a deleted schedule. */
const REMOVAL_ORDER: readonly AsCodeKind[] = ['budgets', 'targets', 'agents', 'schedules']

/** The commands in the order of execution. Refusals that need no transaction become flaws. */
async function commandPartsOf(
  requested: RequestedObjects,
  unlisted: readonly UnlistedObject[],
): Promise<{ readonly pieces: readonly CommandPart[]; readonly flaws: Flaws }> {
  const flaws: Flaws = new Map()
  const parts: CommandPart[] = []
  const add = async (of: string, createCommand: CommandFactory | null): Promise<void> => {
    if (createCommand === null) return
    try {
      parts.push({ key: of, command: await createCommand() })
    } catch (error) {
      flaws.set(of, flawsOf(error))
    }
  }
  for (const { item, doing: createCommand } of requestedItems(requested)) await add(fieldPathOf(item), createCommand)
  for (const kind of REMOVAL_ORDER)
    for (const one of unlisted) if (one.kind === kind) await add(unlistedKey(one), one.createCommand)
  return { pieces: parts, flaws }
}

/** Checks the org's limit of schedules, counting those that the same document deletes. */
function scheduleLimitFlaws(
  { org, schedules, owned }: StoredObjects,
  { asked: requested, left: unlisted }: { readonly asked: RequestedObjects; readonly left: readonly UnlistedObject[] },
  flaws: Flaws,
): void {
  const newSchedules = (requested.schedules ?? []).filter(({ isNew }) => isNew)
  const deletedSchedules = unlisted.filter(({ kind, createCommand }) => kind === 'schedules' && createCommand !== null)
  const will = schedules.length + owned.length + newSchedules.length - deletedSchedules.length
  const [last] = newSchedules.slice(-1)
  if (org.maxSchedules === null || will <= org.maxSchedules || last === undefined) return
  const message = `exceeds the limit of the org: it may have ${org.maxSchedules} schedules and would have ${will}`
  flaws.set(fieldPathOf(last.item), [{ field: '', value: undefined, message }])
}

const hasFlaws = (requested: RequestedObjects, unlisted: readonly UnlistedObject[], flaws: Flaws): boolean =>
  flaws.size > 0 || [...requestedItems(requested), ...unlisted].some((one) => one.flaws.length > 0)

/** All flaws with their position in the document. */
function* allFlaws(requested: RequestedObjects, unlisted: readonly UnlistedObject[], flaws: Flaws): Generator<Flaw> {
  for (const wanted of requestedItems(requested)) yield* flawsIn(wanted, flaws)
  for (const one of unlisted)
    yield* [...one.flaws, ...(flaws.get(unlistedKey(one)) ?? [])].map((flaw) => unlistedFlaw(one, flaw))
}

const flawsIn = ({ item, flaws: own }: PlannedObject, flaws: Flaws): readonly Flaw[] =>
  [...own, ...(flaws.get(fieldPathOf(item)) ?? [])].map((flaw) => ({
    ...flaw,
    field: flaw.field === '' ? fieldPathOf(item) : `${fieldPathOf(item)}.${flaw.field}`,
  }))

/** An object that is not in the document has no position there, so its kind is used. */
const unlistedFlaw = ({ kind, name, id }: UnlistedObject, { message }: Flaw): Flaw => ({
  ...{ field: kind, value: undefined, message: `${KIND_INFO[kind].thing} ${name} (${id}) ${message}` },
})

function refuseFlawed(flaws: readonly Flaw[]): void {
  if (flaws.length > 0) throw invalid(flaws)
}

const errorOf = ({ field, message, allowed, position }: Flaw): PlannedItem['flaws'][number] => ({
  pointer: toJsonPointer(field.split('.')),
  message: position === undefined ? message : `${message} at position ${position + 1}`,
  ...(allowed === undefined ? {} : { allowed }),
})

const plannedItemsOf = (requested: RequestedObjects, flaws: Flaws): readonly PlannedItem[] =>
  requestedItems(requested).map((wanted) => {
    const { item, name, id, isNew, changes } = wanted
    return {
      ...{ kind: KIND_INFO[item.kind].thing, name, id: isNew && item.id === null ? null : id },
      action: isNew ? 'create' : changes.length > 0 ? 'update' : 'unchanged',
      pointer: pointerOf(item),
      changes,
      flaws: flawsIn(wanted, flaws).map(errorOf),
    }
  })

function plannedUnlisted(
  unlisted: UnlistedObject,
  { prune, flaws }: { readonly prune: boolean; readonly flaws: Flaws },
): PlannedItem {
  const { kind, name, id, createCommand } = unlisted
  const all = [...unlisted.flaws, ...(flaws.get(unlistedKey(unlisted)) ?? [])]
  return {
    ...{ kind: KIND_INFO[kind].thing, name, id, pointer: null, changes: [] },
    action: prune && (createCommand !== null || all.length > 0) ? 'delete' : 'unmanaged',
    flaws: all.map((flaw) => errorOf(unlistedFlaw(unlisted, flaw))),
  }
}

function countsOf(items: readonly PlannedItem[]): PlanView['counts'] {
  const counts = AS_CODE_ACTIONS.map(
    (action) => [action, items.filter((item) => item.action === action).length] as const,
  )
  return {
    ...(Object.fromEntries(counts) as Omit<PlanView['counts'], 'flawed'>),
    flawed: items.filter(({ flaws }) => flaws.length > 0).length,
  }
}
