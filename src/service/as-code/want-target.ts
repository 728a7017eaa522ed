import { readShape } from '../../contract/read-shape.ts'
import { schemaReader } from '../../api/read-input.ts'
import { targetInput, targetPatch } from '../../features/targets/schema.ts'
import { changedNames } from '../../core/as-code/compare.ts'
import { pick, type Fields } from '../../core/as-code/same.ts'
import { shownSettings, shownUrl } from '../../core/delivery/target-kinds.ts'
import type { Flaw } from '../../domain/input.ts'
import type { TargetRow } from '../../store/targets.ts'
import { addressOfTarget } from '../target/address.ts'
import { decideTarget, type DecidedTarget } from '../target/decided.ts'
import { targetChange, targetCreation } from '../target/targets.ts'
import { shownTarget, targetFields } from './target-fields.ts'
import { madeOf, shownChanges, type Context, type Place, type Wanted } from './wanted.ts'

/** What an item asks of a target. */
export async function wantTarget(context: Context, { item, id, known }: Place<TargetRow>): Promise<Wanted> {
  const name = typeof item.fields['name'] === 'string' ? item.fields['name'] : id
  const base = { item, name, id, isNew: known === null, permissions: [] }
  return known === null ? made(context, base) : changed(context, base, known)
}

type Base = Pick<Wanted, 'item' | 'name' | 'id' | 'isNew' | 'permissions'>

const refused = (base: Base, flaws: readonly Flaw[]): Wanted => ({ ...base, changes: [], flaws, doing: null })

const shownRead = ({ quietHours, url, settings, kind, ...rest }: DecidedTarget): Fields => ({
  ...{ ...rest, kind, quiet_hours: quietHours },
  ...{ url: url === '' ? null : shownUrl(kind, url), settings: shownSettings(kind, settings) },
})

function made({ ports, caller }: Context, base: Base): Wanted {
  const { fields } = base.item
  const input = readShape(targetInput, fields)
  const read = input.ok ? decideTarget(input.value, null) : input
  if (!input.ok || !read.ok) return refused(base, read.ok ? [] : read.flaws)
  return {
    ...{ ...base, flaws: [], changes: madeOf(pick(shownRead(read.value), Object.keys(fields))) },
    doing: () => targetCreation(ports, caller, { input: input.value, id: base.id }),
  }
}

async function changed({ ports, caller }: Context, base: Base, known: TargetRow): Promise<Wanted> {
  const { fields } = base.item
  const url = await keptUrl(ports, fields['url'], known)
  const input = readShape(targetInput, url === undefined ? fields : { ...fields, url })
  const read = input.ok ? decideTarget(input.value, null) : input
  if (!read.ok) return refused(base, read.flaws)
  if (read.value.kind !== known.kind)
    return refused(base, [
      {
        field: 'kind',
        value: read.value.kind,
        message: `never changes, and is ${known.kind}`,
        allowed: 'another name',
      },
    ])
  const { quietHours, ...rest } = read.value
  // What the engine has switched off because nothing arrived stays so until somebody switches it on.
  const enabled = known.disabledWhy === null ? rest.enabled : true
  const after: Fields = { ...rest, enabled, quiet_hours: quietHours, url: rest.url === '' ? null : rest.url }
  const real = { before: targetFields(known), after }
  const names = changedNames(real.before, real.after)
  const shown = { before: shownTarget(known), after: { ...shownRead(read.value), enabled } }
  return {
    ...{ ...base, flaws: [], changes: shownChanges(real, shown) },
    doing:
      names.length === 0
        ? null
        : async () =>
            targetChange(ports, caller, { id: known.id, change: schemaReader(targetPatch)(pick(after, names)) }),
  }
}

/** The address as it is kept where the item says the same one, or says none of one that is hidden. */
async function keptUrl(ports: Context['ports'], given: unknown, known: TargetRow): Promise<string | undefined> {
  if (known.sealedUrl === null) return undefined
  if (given === undefined || given === known.url) return known.url
  return given === (await addressOfTarget(ports, known)) ? known.url : undefined
}
