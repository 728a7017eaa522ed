import { Refusal } from '../../contract/refusals.ts'

/** Enough requests of the org wait already. */
export const computeBusy = (waiting: number): Refusal =>
  new Refusal('COMPUTE_BUSY', `${waiting} previews and forecasts of this org wait already; try again in a moment`, {
    retryAfterMs: 1_000,
    details: { waiting },
  })

const LESS = 'ask for fewer days or occurrences, or make the rule simpler'

/** It takes longer than a thread is given. */
export const computeTooLong = (limitMs: number): Refusal =>
  new Refusal('RULE_TOO_DENSE', `This takes longer than ${limitMs / 1_000} seconds to work out; ${LESS}`, {
    details: { limit_ms: limitMs },
  })

/** It takes more memory than a thread has. */
export const computeTooLarge = (): Refusal =>
  new Refusal('RULE_TOO_DENSE', `This takes more memory to work out than it may; ${LESS}`)
