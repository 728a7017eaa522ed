import { Refusal } from '../../api/refusals.ts'
import type { RailBreach } from '../../core/rails/breach.ts'

/** What somebody is told whose rails do not let them. */
export const railRefusal = ({ code, rail, message, facts, retryAfterMs }: RailBreach): Refusal =>
  new Refusal(code, message, { details: { rail, ...facts }, retryAfterMs })

/** Refuses where a rail is in the way. */
export function refuse(breach: RailBreach | null): void {
  if (breach !== null) throw railRefusal(breach)
}
