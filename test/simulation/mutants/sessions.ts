import type { decideAdmission } from '../../../src/domain/admission/admission.ts'
import { mutant, type Mutant } from './mutant.ts'

/** A verdict that nothing is done about. */
const LOST = { kind: 'lost' } as unknown as ReturnType<typeof decideAdmission>

/** Mistakes in admission, /stopall and reset. */
export const SESSION_MUTANTS: readonly Mutant[] = [
  mutant('the cap of a session is off by one', 'limits', {
    decideAdmission: (right) => (arrival, facts) =>
      right(arrival, {
        ...facts,
        session:
          facts.session === null
            ? null
            : { ...facts.session, rules: { ...facts.session.rules, cap: facts.session.rules.cap + 1 } },
      }),
  }),
  mutant('the queue of tasks has no limit', 'limits', {
    decideAdmission: (right) => (arrival, facts) =>
      right(arrival, { ...facts, limits: { ...facts.limits, tasks: null } }),
  }),
  mutant('what should be dropped stays', 'limits', {
    decideAdmission: (right) => (arrival, facts) => {
      const verdict = right(arrival, facts)
      return verdict.kind === 'enter' ? { ...verdict, dropped: null } : verdict
    },
  }),
  mutant('a rejected message is lost without a record', 'settles_once', {
    decideAdmission: (right) => (arrival, facts) => {
      const verdict = right(arrival, facts)
      return verdict.kind === 'reject' ? LOST : verdict
    },
  }),
  mutant('the cutoff of /stopall is forgotten', 'stopped_stays_stopped', {
    decideAdmission: (right) => (arrival, facts) =>
      right(arrival, {
        ...facts,
        session: facts.session === null ? null : { ...facts.session, cutoff: null },
      }),
  }),
  mutant('an interrupting message leaves what is active alone', 'stopped_stays_stopped', {
    decideAdmission: (right) => (arrival, facts) => {
      const verdict = right(arrival, facts)
      return verdict.kind === 'enter' ? { ...verdict, interrupted: [] } : verdict
    },
  }),
  mutant('/stopall forgets what waits', 'stopped_stays_stopped', {
    planStopAll: (right) => (runs, stop) => ({ ...right(runs, stop), drained: [] }),
  }),
  mutant('/stopall forgets what debounces', 'stopped_stays_stopped', {
    planStopAll: (right) => (runs, stop) =>
      right(
        runs.filter((run) => run.seq !== null),
        stop,
      ),
  }),
  mutant('a reset clears nothing that waits', 'stopped_stays_stopped', {
    planReset: (right) => (session, stop) => ({ ...right(session, stop), cleared: [] }),
  }),
]
