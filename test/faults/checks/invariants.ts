import { demand as demandAny, type Demand } from '../../support/violation.ts'

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
  'memory_is_on_record',
  'attempts_are_real',
  'reports_are_fenced',
  'leases_are_kept',
  'ended_for_a_reason',
  'orgs_are_apart',
  'heard_once_in_order',
  'spent_once',
  'audit_is_whole',
  'alive_is_not_lost',
  'record_knows_attempts',
  'others_on_time',
  'starts_on_time',
  'answered_in_time',
  'changes_are_heard',
  'time_never_goes_back',
  'expired_never_starts',
  'transactions_are_bounded',
  'org_shares',
] as const
export type Invariant = (typeof INVARIANTS)[number]

/** Throws a violation of one of them unless it holds. */
export const demand: Demand<Invariant> = demandAny
