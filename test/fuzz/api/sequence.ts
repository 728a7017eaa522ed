import type { OperationSpec } from '../../../src/api/operation.ts'
import { shapeOf } from '../../server/contract/arbitrary.ts'
import type { Drawn } from '../../server/contract/hostile.ts'
import type { Random } from '../../simulation/random.ts'
import { CALLED, type Borrow, type Step } from './step.ts'

type Called = readonly [string, OperationSpec]

const LISTS: readonly Called[] = CALLED.filter(
  ([, { query }]) => query !== undefined && shapeOf(query).properties?.['cursor'] !== undefined,
)
const NAMING: readonly Called[] = CALLED.filter(([, { path }]) => path.includes(':'))

/** What is made, by itself, under an id that the server chooses. */
const MADE = ['schedules', 'targets', 'budgets', 'channels', 'keys'] as const

/** First it is read, then changed, then acted upon, and at last deleted. */
const ORDER = ['GET', 'PATCH', 'PUT', 'POST', 'DELETE']

/** How a request of an operation is drawn that nothing was done to. */
export type DrawMeant = (called: Called, random: Random) => Drawn

/** The life of a thing, and what was told of it used where it does not belong: ids and cursors of other answers. */
export function drawSequence(random: Random, meant: DrawMeant): readonly Step[] {
  const tag = random.one(MADE)
  const create = CALLED.find(([id]) => id === `${tag}.create`)
  if (create === undefined) throw new Error(`${tag} cannot be made any more`)
  const steps: Step[] = []
  const add = (called: Called, more: Partial<Step> = {}): void => {
    steps.push({ operation: called[0], drawn: meant(called, random), ...more })
  }
  const borrow = (from: number, what: Borrow['what'], isForeign = false): Partial<Step> => ({
    borrow: { back: steps.length - from, what, ...(isForeign ? { isForeign } : {}) },
  })
  add(create)
  add(create, { as: 'stranger' })
  const list = random.one(LISTS)
  steps.push({ operation: list[0], drawn: { ...meant(list, random), query: [['limit', '1']] } })
  const own = NAMING.filter(([, spec]) => spec.tag === tag)
  const inOrder = own.toSorted(([, a], [, b]) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method))
  // Where no key is asked for, whoever signs is of the org of what is named.
  const asked = own.filter(([, spec]) => spec.permission !== 'none')
  add(random.one(asked), borrow(1, 'id', true))
  add(random.one(NAMING.filter(([, spec]) => spec.tag !== tag)), borrow(0, 'id'))
  add(random.one(LISTS), borrow(2, 'cursor'))
  for (const called of inOrder) if (random.chance(0.7)) add(called, borrow(0, 'id'))
  add(random.one(own), borrow(0, 'id'))
  return steps
}
