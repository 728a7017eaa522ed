import { REAL_CORE } from '../core.ts'
import { mutant, type Mutant } from './mutant.ts'

const { decideAdmission, planStopAll, planReset } = REAL_CORE

/** A verdict that nothing is done about. */
const LOST = { kind: 'lost' } as unknown as ReturnType<typeof decideAdmission>

/** Mistakes in admission, /stopall and reset. */
export const SESSION_MUTANTS: readonly Mutant[] = [
  mutant('the cap of a session is off by one', 'limits', {
    decideAdmission: (arrival, facts) =>
      decideAdmission(arrival, {
        ...facts,
        session:
          facts.session === null
            ? null
            : { ...facts.session, rules: { ...facts.session.rules, cap: facts.session.rules.cap + 1 } },
      }),
  }),
  mutant('the queue of tasks has no limit', 'limits', {
    decideAdmission: (arrival, facts) =>
      decideAdmission(arrival, { ...facts, limits: { ...facts.limits, tasks: null } }),
  }),
  mutant('what should be dropped stays', 'limits', {
    decideAdmission: (arrival, facts) => {
      const verdict = decideAdmission(arrival, facts)
      return verdict.kind === 'enter' ? { ...verdict, dropped: null } : verdict
    },
  }),
  mutant('a rejected message is lost without a record', 'settles_once', {
    decideAdmission: (arrival, facts) => {
      const verdict = decideAdmission(arrival, facts)
      return verdict.kind === 'reject' ? LOST : verdict
    },
  }),
  mutant('the cutoff of /stopall is forgotten', 'stopped_stays_stopped', {
    decideAdmission: (arrival, facts) =>
      decideAdmission(arrival, {
        ...facts,
        session: facts.session === null ? null : { ...facts.session, cutoff: null },
      }),
  }),
  mutant('an interrupting message leaves what is active alone', 'stopped_stays_stopped', {
    decideAdmission: (arrival, facts) => {
      const verdict = decideAdmission(arrival, facts)
      return verdict.kind === 'enter' ? { ...verdict, interrupted: [] } : verdict
    },
  }),
  mutant('/stopall forgets what waits', 'stopped_stays_stopped', {
    planStopAll: (runs, stop) => ({ ...planStopAll(runs, stop), drained: [] }),
  }),
  mutant('/stopall forgets what debounces', 'stopped_stays_stopped', {
    planStopAll: (runs, stop) =>
      planStopAll(
        runs.filter((run) => run.seq !== null),
        stop,
      ),
  }),
  mutant('a reset clears nothing that waits', 'stopped_stays_stopped', {
    planReset: (session, stop) => ({ ...planReset(session, stop), cleared: [] }),
  }),
]
