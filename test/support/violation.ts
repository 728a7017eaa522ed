/** An invariant does not hold. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly invariant: string
  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`)
    this.invariant = invariant
  }
}

/** Throws the violation unless it holds. */
export type Demand<Invariant extends string> = (holds: boolean, invariant: Invariant, detail: () => string) => void

/** For every list of invariants the same; its type knows the names of one. */
export const demand: Demand<string> = (holds, invariant, detail) => {
  if (!holds) throw new Violation(invariant, detail())
}
