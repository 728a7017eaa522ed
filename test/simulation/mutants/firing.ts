import { earlier } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { decideRelease } from '../../../src/domain/schedule/occurrences.ts'
import { mutant, type Mutant } from './mutant.ts'

/** Mistakes in deciding occurrences and handing out schedule slots. */
export const FIRING_MUTANTS: readonly Mutant[] = [
  mutant('the watermark is taken as not yet decided', 'one_run_per_occurrence', {
    planOccurrences: (right) => (schedule, planning) =>
      right(schedule, {
        ...planning,
        due: { ...planning.due, watermark: earlier(planning.due.watermark, 1_000) },
      }),
  }),
  mutant('skipped occurrences leave no record', 'every_occurrence_decided', {
    planOccurrences: (right) => (schedule, planning) => {
      const plan = right(schedule, planning)
      return { ...plan, decisions: plan.decisions.filter((decision) => decision.kind !== 'skip') }
    },
  }),
  mutant('a long gap is forgotten instead of recorded as a range', 'every_occurrence_decided', {
    planOccurrences: (right) => (schedule, planning) => ({ ...right(schedule, planning), skippedRange: null }),
  }),
  mutant('one more run than the schedule has slots', 'limits', {
    planOccurrences: (right) => (schedule, planning) =>
      right({ ...schedule, rules: { ...schedule.rules, maxConcurrency: schedule.rules.maxConcurrency + 1 } }, planning),
  }),
  mutant('runs are made while they should be parked', 'limits', {
    planOccurrences: (right) => (schedule, planning) => {
      const plan = right(schedule, planning)
      return {
        ...plan,
        decisions: plan.decisions.map((decision) =>
          decision.kind === 'run' ? { ...decision, slot: 'held' } : decision,
        ),
      }
    },
  }),
  mutant('policies are asked when an occurrence is held, not when it is released', 'held_apart', {
    planOccurrences: (right) => (schedule, planning) => {
      const plan = right(schedule, planning)
      const { seen, jitterSeed } = planning.due
      let { history } = plan
      const decisions = plan.decisions.map((decision) => {
        if (decision.kind !== 'hold') return decision
        const step = decideRelease({ ...schedule, history }, { ...decision, seen, now: seen, jitterSeed })
        ;({ history } = step)
        return step.decision
      })
      return { ...plan, decisions, history }
    },
  }),
  mutant('a held occurrence is the previous run of others', 'held_apart', {
    holdOccurrence: (right) => (desk, made, held) => {
      right(desk, made, held)
      const row =
        made.scheduleId === undefined || made.scheduleId === null ? undefined : desk.schedules.get(made.scheduleId)
      if (row !== undefined) row.previousRunId = made.id
    },
  }),
  mutant('a held occurrence takes the place of a later one', 'held_apart', {
    decideRelease: (right) => (schedule, held) => {
      const pending = schedule.history.pending.map(({ id, slot }) => ({ id, slot }))
      return right({ ...schedule, history: { ...schedule.history, pending } }, held)
    },
  }),
  mutant('queue_depth cuts what is made up for', 'held_apart', {
    decideRelease: (right) => (schedule, held) => {
      const step = right(schedule, held)
      const { decision } = step
      const parked = schedule.history.pending.filter(({ slot }) => slot === 'parked').length
      if (decision.kind === 'skip' || decision.slot === 'held' || parked < schedule.rules.queueDepth) return step
      const why = because('queue_full', 'queue_depth', { parked, queue_depth: schedule.rules.queueDepth })
      return { decision: { kind: 'skip', nominal: decision.nominal, why }, history: schedule.history }
    },
  }),
  mutant('a superseded run goes on', 'stopped_stays_stopped', { cancelSuperseded: () => () => [] }),
  mutant('a freed slot is given to nobody', 'no_slot_leak', { grantSlots: () => () => [] }),
  mutant('a freed slot is given to everybody', 'limits', {
    grantSlots: () => (pending) => pending.filter((run) => run.slot === 'parked').map((run) => run.id),
  }),
  mutant('a freed slot is given to one too few', 'no_slot_leak', {
    grantSlots: (right) => (pending, maxConcurrency) => right(pending, maxConcurrency - 1),
  }),
]
