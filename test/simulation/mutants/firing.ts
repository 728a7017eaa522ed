import { earlier } from '../../../src/core/instant.ts'
import { REAL_CORE } from '../core.ts'
import { mutant, type Mutant } from './mutant.ts'

const { planOccurrences, grantSlots } = REAL_CORE

/** Mistakes in deciding occurrences and handing out schedule slots. */
export const FIRING_MUTANTS: readonly Mutant[] = [
  mutant('the watermark is taken as not yet decided', 'one_run_per_occurrence', {
    planOccurrences: (schedule, planning) =>
      planOccurrences(schedule, {
        ...planning,
        due: { ...planning.due, watermark: earlier(planning.due.watermark, 1_000) },
      }),
  }),
  mutant('skipped occurrences leave no record', 'every_occurrence_decided', {
    planOccurrences: (schedule, planning) => {
      const plan = planOccurrences(schedule, planning)
      return { ...plan, decisions: plan.decisions.filter((decision) => decision.kind === 'run') }
    },
  }),
  mutant('a long gap is forgotten instead of recorded as a range', 'every_occurrence_decided', {
    planOccurrences: (schedule, planning) => ({ ...planOccurrences(schedule, planning), skippedRange: null }),
  }),
  mutant('one more run than the schedule has slots', 'limits', {
    planOccurrences: (schedule, planning) =>
      planOccurrences(
        { ...schedule, rules: { ...schedule.rules, maxConcurrency: schedule.rules.maxConcurrency + 1 } },
        planning,
      ),
  }),
  mutant('runs are made while they should be parked', 'limits', {
    planOccurrences: (schedule, planning) => {
      const plan = planOccurrences(schedule, planning)
      return {
        ...plan,
        decisions: plan.decisions.map((decision) =>
          decision.kind === 'run' ? { ...decision, slot: 'held' } : decision,
        ),
      }
    },
  }),
  mutant('a superseded run goes on', 'stopped_stays_stopped', { cancelSuperseded: () => [] }),
  mutant('a freed slot is given to nobody', 'no_slot_leak', { grantSlots: () => [] }),
  mutant('a freed slot is given to everybody', 'limits', {
    grantSlots: (pending) => pending.filter((run) => run.slot === 'parked').map((run) => run.id),
  }),
  mutant('a freed slot is given to one too few', 'no_slot_leak', {
    grantSlots: (pending, maxConcurrency) => grantSlots(pending, maxConcurrency - 1),
  }),
]
