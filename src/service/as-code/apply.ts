import type { ApplyFilter, AsCodeDocument, PlannedItem, PlanView } from '../../features/as-code/schema.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { AS_CODE_ACTIONS, AS_CODE_KINDS, KIND_FACTS, type AsCodeKind } from '../../core/as-code/kinds.ts'
import { ruleOf, TARGET_KIND_WORDS } from '../../core/delivery/target-kinds.ts'
import type { Permission } from '../../domain/access/access.ts'
import type { Flaw } from '../../domain/input.ts'
import { toPointer } from '../../core/pointer.ts'
import { loadSealingKey } from '../../store/sealed.ts'
import type { Caller } from '../caller.ts'
import { letOthers } from '../in-pieces.ts'
import type { Ports } from '../ports.ts'
import { itemsOf, placeOf, pointerOf, type Items } from './document.ts'
import { documentOf, readKinds } from './export.ts'
import { compare, type Asked } from './plan.ts'
import { leftOver, type Left } from './prune.ts'
import { digestOf, fingerprint, loadStored, type Stored } from '../../features/as-code/stored.ts'
import { together, type Outcome, type Piece } from './together.ts'
import { flawsOf, type Context, type Doing, type Wanted } from './wanted.ts'

/** Whether somebody may do something; whoever embeds us may do everything. */
export type May = (permission: Permission) => boolean

/** A document, how it is to be carried out, and what whoever brings it may do. */
export interface Applying extends ApplyFilter {
  readonly document: AsCodeDocument
  readonly may: May
}

/** What is stored, as a document. */
export async function exportDocument(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Pick<Caller, 'orgId'>,
  asked: { readonly kinds?: string | undefined; readonly may: May },
): Promise<AsCodeDocument> {
  const kinds = readKinds(asked.kinds)
  requireAll(
    asked.may,
    kinds.map((kind) => KIND_FACTS[kind].read),
    'to export these kinds; name others with kinds',
  )
  return documentOf(await loadStored(database, orgId), kinds)
}

/** What applying a document would change, and what stands in its way. Nothing is kept. */
export const planDocument = (ports: Ports, caller: Caller, applying: Applying): Promise<PlanView> =>
  carryOut(ports, caller, { applying, isTrial: true })

/** Makes what is stored what a document says: all of it, or nothing. */
export const applyDocument = (ports: Ports, caller: Caller, applying: Applying): Promise<PlanView> =>
  carryOut(ports, caller, { applying, isTrial: false })

interface Carrying {
  readonly applying: Applying
  readonly isTrial: boolean
}

/** How often everything is looked at anew because somebody was faster. */
const TRIES = 5

async function carryOut(ports: Ports, asking: Caller, { applying, isTrial }: Carrying): Promise<PlanView> {
  const items = itemsOf(applying.document)
  const named = AS_CODE_KINDS.filter((kind) => items[kind] !== undefined)
  requireAll(
    applying.may,
    named.map((kind) => KIND_FACTS[kind].read),
    'to compare the document with what is stored',
  )
  // Whether whoever applies it may set budgets is told by `permissions`, also to whoever may only look.
  const caller = { ...asking, once: undefined, ...(isTrial ? { writesBudgets: true } : {}) }
  const context = { ports: unsealing(ports), caller }
  if (isTrial) return tryUntilStill(context, items, { applying, isTrial })
  // The first key is made for what is kept and for nothing else, so it has to be known before whether anything is.
  const isFirst = isSealed(items) && (await loadSealingKey(ports.database)) === null
  const isSound = !isFirst || isFlawless(await tryUntilStill(context, items, { applying, isTrial: true }))
  return tryUntilStill(isSound ? { ports, caller } : context, items, { applying, isTrial })
}

/** Whether a target has an address that is kept sealed. */
const isSealed = ({ targets = [] }: Items): boolean =>
  TARGET_KIND_WORDS.some(
    (word) => ruleOf(word).hidesUrl === true && targets.some(({ fields }) => fields['kind'] === word),
  )

/** Nothing is sealed in a trial; what would be refused is. */
const unsealing = (ports: Ports): Ports => ({
  ...ports,
  vault: { ...ports.vault, seal: () => ports.vault.check().then(() => '') },
})

const isFlawless = ({ items }: PlanView): boolean => items.every(({ flaws }) => flaws.length === 0)

async function tryUntilStill(of: Pick<Context, 'ports' | 'caller'>, items: Items, how: Carrying): Promise<PlanView> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const done = await tryOnce(of, items, how)
    if (done !== null) return done
  }
  throw new Refusal('CONFLICT', 'What is stored changes all the time; try again later')
}

async function tryOnce(
  { ports, caller }: Pick<Context, 'ports' | 'caller'>,
  items: Items,
  { applying, isTrial }: Carrying,
): Promise<PlanView | null> {
  const stored = await loadStored(ports.database, caller.orgId)
  const before = fingerprint(stored)
  await letOthers()
  const prune = applying.prune === true
  const planId = digestOf([caller.orgId, items, prune, before])
  refuseStale(applying.expect, planId)
  const context = { ports, caller, now: ports.clock.now(), stored }
  await letOthers()
  const asked = await compare(context, items)
  await letOthers()
  const left = leftOver(context, asked, prune)
  const permissions = neededFor(asked, left)
  if (!isTrial) requireAll(applying.may, permissions, 'to apply this document')
  const { pieces, flaws } = await piecesOf(asked, left)
  roomFlaws(stored, { asked, left }, flaws)
  const outcome =
    pieces.length === 0
      ? NOTHING
      : await ports.turns.take(
          together({
            ...{ orgId: caller.orgId, pieces, isTrial: isTrial || hasFlaws(asked, left, flaws) },
            isStill: async (tx) => fingerprint(await loadStored(tx, caller.orgId)) === before,
          }),
        )
  if (outcome.moved) return null
  for (const [of, more] of outcome.flaws) flaws.set(of, [...(flaws.get(of) ?? []), ...more])
  const shown = [...shownWanted(asked, flaws), ...left.map((one) => shownLeft(one, { prune, flaws }))]
  if (!isTrial) refuseFlawed([...allFlaws(asked, left, flaws)])
  return { plan_id: planId, applied: !isTrial, prune, items: shown, counts: countsOf(shown), permissions }
}

const NOTHING: Outcome = { moved: false, flaws: new Map() }

type Flaws = Map<string, readonly Flaw[]>

const keyOfLeft = ({ kind, id }: Left): string => `${kind}:${id}`

function refuseStale(expect: string | undefined, planId: string): void {
  if (expect === undefined || expect === planId) return
  throw new Refusal(
    'STALE_VERSION',
    'The plan that was seen is not what would be done now: the document or what is stored has changed; plan it again',
    { details: { plan_id: planId } },
  )
}

function requireAll(may: May, permissions: readonly Permission[], what: string): void {
  const missing = [...new Set(permissions)].filter((permission) => !may(permission))
  if (missing.length === 0) return
  throw new Refusal('FORBIDDEN', `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} needed ${what}`, {
    details: { permissions: missing },
  })
}

const wantedOf = (asked: Asked): readonly Wanted[] =>
  AS_CODE_KINDS.flatMap((kind): readonly Wanted[] => asked[kind] ?? [])

function neededFor(asked: Asked, left: readonly Left[]): readonly Permission[] {
  const writing = wantedOf(asked).flatMap(({ item, isNew, changes, permissions }) =>
    isNew || changes.length > 0 ? [KIND_FACTS[item.kind].write, ...permissions] : [],
  )
  const removing = left.flatMap(({ kind, doing }) => (doing === null ? [] : [KIND_FACTS[kind].remove]))
  return [...new Set([...writing, ...removing])]
}

/** Deleted last is what others are counted by: by then nothing names it any more. */
const REMOVAL_ORDER: readonly AsCodeKind[] = ['budgets', 'targets', 'agents', 'schedules']

/** What is to be done, in the order in which it is. What is refused before it is handed in is a flaw like any other. */
async function piecesOf(
  asked: Asked,
  left: readonly Left[],
): Promise<{ readonly pieces: readonly Piece[]; readonly flaws: Flaws }> {
  const flaws: Flaws = new Map()
  const pieces: Piece[] = []
  const add = async (of: string, doing: Doing | null): Promise<void> => {
    if (doing === null) return
    try {
      pieces.push({ of, work: await doing() })
    } catch (error) {
      flaws.set(of, flawsOf(error))
    }
  }
  for (const { item, doing } of wantedOf(asked)) await add(placeOf(item), doing)
  for (const kind of REMOVAL_ORDER) for (const one of left) if (one.kind === kind) await add(keyOfLeft(one), one.doing)
  return { pieces, flaws }
}

/** An org may have only so many schedules; those that go in the same breath make room. */
function roomFlaws(
  { org, schedules, owned }: Stored,
  { asked, left }: { readonly asked: Asked; readonly left: readonly Left[] },
  flaws: Flaws,
): void {
  const coming = (asked.schedules ?? []).filter(({ isNew }) => isNew)
  const going = left.filter(({ kind, doing }) => kind === 'schedules' && doing !== null)
  const will = schedules.length + owned.length + coming.length - going.length
  const [last] = coming.slice(-1)
  if (org.maxSchedules === null || will <= org.maxSchedules || last === undefined) return
  const message = `would be one too many: the org may have ${org.maxSchedules} schedules and would have ${will}`
  flaws.set(placeOf(last.item), [{ field: '', value: undefined, message }])
}

const hasFlaws = (asked: Asked, left: readonly Left[], flaws: Flaws): boolean =>
  flaws.size > 0 || [...wantedOf(asked), ...left].some((one) => one.flaws.length > 0)

/** Every flaw with its place in the document. */
function* allFlaws(asked: Asked, left: readonly Left[], flaws: Flaws): Generator<Flaw> {
  for (const wanted of wantedOf(asked)) yield* flawsIn(wanted, flaws)
  for (const one of left) yield* [...one.flaws, ...(flaws.get(keyOfLeft(one)) ?? [])].map((flaw) => leftFlaw(one, flaw))
}

const flawsIn = ({ item, flaws: own }: Wanted, flaws: Flaws): readonly Flaw[] =>
  [...own, ...(flaws.get(placeOf(item)) ?? [])].map((flaw) => ({
    ...flaw,
    field: flaw.field === '' ? placeOf(item) : `${placeOf(item)}.${flaw.field}`,
  }))

/** What is not in the document has no place there but its kind. */
const leftFlaw = ({ kind, name, id }: Left, { message }: Flaw): Flaw => ({
  ...{ field: kind, value: undefined, message: `${KIND_FACTS[kind].thing} ${name} (${id}) ${message}` },
})

function refuseFlawed(flaws: readonly Flaw[]): void {
  if (flaws.length > 0) throw invalid(flaws)
}

const errorOf = ({ field, message, allowed, position }: Flaw): PlannedItem['flaws'][number] => ({
  pointer: toPointer(field.split('.')),
  message: position === undefined ? message : `${message} at position ${position + 1}`,
  ...(allowed === undefined ? {} : { allowed }),
})

const shownWanted = (asked: Asked, flaws: Flaws): readonly PlannedItem[] =>
  wantedOf(asked).map((wanted) => {
    const { item, name, id, isNew, changes } = wanted
    return {
      ...{ kind: KIND_FACTS[item.kind].thing, name, id: isNew && item.id === null ? null : id },
      action: isNew ? 'create' : changes.length > 0 ? 'update' : 'unchanged',
      pointer: pointerOf(item),
      changes,
      flaws: flawsIn(wanted, flaws).map(errorOf),
    }
  })

function shownLeft(left: Left, { prune, flaws }: { readonly prune: boolean; readonly flaws: Flaws }): PlannedItem {
  const { kind, name, id, doing } = left
  const all = [...left.flaws, ...(flaws.get(keyOfLeft(left)) ?? [])]
  return {
    ...{ kind: KIND_FACTS[kind].thing, name, id, pointer: null, changes: [] },
    action: prune && (doing !== null || all.length > 0) ? 'delete' : 'unmanaged',
    flaws: all.map((flaw) => errorOf(leftFlaw(left, flaw))),
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
