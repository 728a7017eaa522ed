import { addAll } from '../../domain/long-lists.ts'
import { resolve, type Called } from '../../core/as-code/match.ts'
import { isFields, pick, type Fields } from '../../core/as-code/same.ts'
import type { Flaw } from '../../domain/input.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { everyField } from '../schedule-timing.ts'
import { unknownFields } from '../../domain/input-fields.ts'
import type { Item } from './document.ts'
import { DOCUMENT_FIELDS } from './schedule-fields.ts'

/** How everything will be called once a document is applied: what it names, and what is stored beside it. */
export interface Names {
  readonly agents: readonly Called[]
  readonly targets: readonly Called[]
  readonly schedules: readonly Called[]
}

/** An item whose references are ids, and what is wrong with those it has. */
export interface Resolved {
  readonly item: Item
  readonly flaws: readonly Flaw[]
}

interface Reference {
  /** The field that holds a name, and the one that holds an id instead. */
  readonly by: string
  readonly byId: string
  readonly thing: string
  readonly things: readonly Called[]
}

/** Puts the id in place of the name. */
function resolved(fields: Fields, { by, byId, thing, things }: Reference, flaws: Flaw[]): Fields {
  const { [by]: name, ...others } = fields
  if (name === undefined || name === null) return others
  const refuse = (message: string, allowed?: string): Fields => {
    flaws.push({ field: by, value: name, message, ...(allowed === undefined ? {} : { allowed }) })
    return others
  }
  if (typeof name !== 'string') return refuse('must be a text', `the name of ${thing}, or its id`)
  if (others[byId] !== undefined && others[byId] !== null) return refuse(`cannot be given together with ${byId}`)
  const [id, ...more] = resolve(name, things)
  if (id === undefined) {
    const near = nearestWord(
      name,
      things.map((one) => one.name),
    )
    return refuse(
      `names no ${thing} of the document or of the org${near === null ? '' : `; did you mean ${near}?`}`,
      `the name of ${thing} or its id`,
    )
  }
  if (more.length > 0) return refuse(`is the name of ${more.length + 1}: ${[id, ...more].join(', ')}`, byId)
  return { ...others, [byId]: id }
}

/** A schedule with ids in place of names, and one name for each field. */
export function resolveSchedule(item: Item, names: Names, defaultAgent: string | null): Resolved {
  const flaws: Flaw[] = [...unknownFields('', item.fields, DOCUMENT_FIELDS)]
  const known = inSeconds(pick(item.fields, DOCUMENT_FIELDS))
  const fields = resolved(known, { by: 'agent', byId: 'agent_id', thing: 'agent', things: names.agents }, flaws)
  const brings = [fields['agent_id'], fields['executor'], known['agent']].some(
    (one) => one !== undefined && one !== null,
  )
  const { delivery: given, ...others } = fields
  const delivery = resolvedDelivery(given, names, flaws)
  return {
    item: {
      ...item,
      fields: {
        ...others,
        ...(delivery === undefined ? {} : { delivery }),
        ...(brings || defaultAgent === null ? {} : { agent_id: defaultAgent }),
      },
    },
    flaws,
  }
}

/** An interval has one name; which one it is depends on how long it is. */
function inSeconds(fields: Fields): Fields {
  const { everyMs, ...others } = fields
  return typeof everyMs === 'number' && others['every_seconds'] === undefined
    ? { ...others, ...everyField(everyMs) }
    : fields
}

function resolvedDelivery(delivery: unknown, { targets }: Names, flaws: Flaw[]): unknown {
  if (!isFields(delivery)) return delivery
  const inner: Flaw[] = []
  const found = resolved(delivery, { by: 'target', byId: 'target_id', thing: 'target', things: targets }, inner)
  addAll(
    flaws,
    inner.map((flaw) => ({ ...flaw, field: `delivery.${flaw.field}` })),
  )
  return inner.length > 0 ? undefined : found
}

/** A budget with ids in place of names. */
export function resolveBudget(item: Item, { agents, schedules }: Names): Resolved {
  const flaws: Flaw[] = []
  const first = resolved(item.fields, { by: 'agent', byId: 'agent_id', thing: 'agent', things: agents }, flaws)
  const things = { by: 'schedule', byId: 'schedule_id', thing: 'schedule', things: schedules }
  return { item: { ...item, fields: resolved(first, things, flaws) }, flaws }
}

/** Flaws of what an item became, in the names that the item has. */
export const inNamesOf = ({ fields }: Item, flaws: readonly Flaw[]): readonly Flaw[] =>
  flaws.map((flaw) => {
    const delivery = fields['delivery']
    if (flaw.field === 'agent_id' && fields['agent'] !== undefined) return { ...flaw, field: 'agent' }
    if (flaw.field === 'schedule_id' && fields['schedule'] !== undefined) return { ...flaw, field: 'schedule' }
    if (flaw.field === 'delivery.target_id' && isFields(delivery) && delivery['target'] !== undefined)
      return { ...flaw, field: 'delivery.target' }
    return flaw
  })
