/** What must be true of every world, whatever goes wrong in it. */
export const INVARIANTS = [
  'one_run_per_occurrence',
  'every_occurrence_decided',
  'session_order',
  'limits',
  'settles_once',
  'nothing_lost',
  'nothing_doubled',
  'nothing_stuck',
  'history_without_gaps',
  'no_slot_leak',
  'memory_is_true',
  'attempts_are_real',
  'reports_are_fenced',
  'leases_are_kept',
  'ended_for_a_reason',
  'orgs_are_apart',
  'heard_once_in_order',
  'spent_once',
  'audit_is_whole',
] as const
export type Invariant = (typeof INVARIANTS)[number]

/** An invariant does not hold. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly invariant: Invariant
  constructor(invariant: Invariant, detail: string) {
    super(`${invariant}: ${detail}`)
    this.invariant = invariant
  }
}

/** Throws the violation unless it holds. */
export function demand(holds: boolean, invariant: Invariant, detail: () => string): void {
  if (!holds) throw new Violation(invariant, detail())
}
