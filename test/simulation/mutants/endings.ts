import { isTerminal } from '../../../src/domain/run/run-machine.ts'
import { later } from '../../../src/domain/instant.ts'
import { mutant, type Mutant } from './mutant.ts'

/** Mistakes in how attempts and runs end. */
export const ENDING_MUTANTS: readonly Mutant[] = [
  mutant('a late report counts', 'settles_once', {
    decideReport: () => () => ({ kind: 'apply' }),
    nextState: (right) => (from, event) => (isTerminal(from) && event === 'succeed' ? 'success' : right(from, event)),
  }),
  mutant('a run that was asked to stop may still succeed', 'settles_once', {
    nextState: (right) => (from, event) =>
      from === 'stopping' && event === 'succeed' ? 'success' : right(from, event),
  }),
  mutant('one retry too many', 'attempts_counted', {
    settleAttempt: (right) => (outcome, attempt, facts) =>
      right(outcome, attempt, { ...facts, policy: { ...facts.policy, maxRetries: facts.policy.maxRetries + 1 } }),
  }),
  mutant('runs retry by themselves under failure action RETRY', 'attempts_counted', {
    settleAttempt: (right) => (outcome, attempt, facts) =>
      right(outcome, attempt, { ...facts, failureActionRetries: false }),
  }),
  mutant('a retry is planned for never', 'nothing_stuck', {
    settleAttempt: (right) => (outcome, attempt, facts) => ({ ...right(outcome, attempt, facts), retryAt: null }),
  }),
  mutant('the answer of an executor is thrown away', 'nothing_stuck', {
    decideReport: (right) => (run, reported) =>
      run.state === 'stopping' ? right(run, reported) : right({ ...run, attemptId: null }, reported),
    attemptEndsBy: () => (startedAt) => later(startedAt, Infinity),
  }),
  mutant('a stop that nobody confirms waits for ever', 'nothing_stuck', { isAbandoned: () => () => false }),
  mutant('waiting work never expires', 'deadlines', { isExpired: () => () => false }),
  mutant('work expires when it would have been its turn to wait longer', 'deadlines', {
    isExpired: () => (run, now) => run.deadline !== null && now >= run.deadline + 500,
  }),
]
