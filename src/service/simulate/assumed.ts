import type { AssumptionInput } from '../../contract/simulation.ts'
import type { ReadSimulation } from './input.ts'

/** What was observed, under what is said of all, under what is said of it by name. */
export function assumedFor(
  { assume, assumeFor }: Pick<ReadSimulation, 'assume' | 'assumeFor'>,
  observed: AssumptionInput,
  names: readonly (string | null)[],
): { readonly assume?: AssumptionInput } {
  const own = assumeFor.filter(({ schedules }) => schedules.some((name) => names.includes(name)))
  const layers = [assume, ...own.map((one) => one.assume)]
  const merged = layers.reduce(over, observed)
  return Object.keys(merged).length === 0 ? {} : { assume: merged }
}

/** Rates and a list of outcomes say the same in two ways: the later word stands. */
function over(below: AssumptionInput, above: AssumptionInput): AssumptionInput {
  const { failure_rate: fails, timeout_rate: hangs, outcomes, ...rest } = below
  if (above.outcomes !== undefined) return { ...rest, ...above }
  const isRated = above.failure_rate !== undefined || above.timeout_rate !== undefined
  if (isRated) return { ...rest, ...above }
  return {
    ...rest,
    ...(fails === undefined ? {} : { failure_rate: fails }),
    ...(hangs === undefined ? {} : { timeout_rate: hangs }),
    ...(outcomes === undefined ? {} : { outcomes }),
    ...above,
  }
}
