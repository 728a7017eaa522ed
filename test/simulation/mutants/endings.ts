import { isTerminal } from '../../../src/core/run/run-machine.ts'
import { later } from '../../../src/core/instant.ts'
import { REAL_CORE } from '../core.ts'
import { mutant, type Mutant } from './mutant.ts'

const { settle, nextState, decideReport } = REAL_CORE

/** Mistakes in how attempts and runs end. */
export const ENDING_MUTANTS: readonly Mutant[] = [
  mutant('a late report counts', 'settles_once', {
    decideReport: () => ({ kind: 'apply' }),
    nextState: (from, event) => (isTerminal(from) && event === 'succeed' ? 'success' : nextState(from, event)),
  }),
  mutant('a run that was asked to stop may still succeed', 'settles_once', {
    nextState: (from, event) => (from === 'stopping' && event === 'succeed' ? 'success' : nextState(from, event)),
  }),
  mutant('one retry too many', 'attempts_counted', {
    settle: (outcome, attempt, facts) =>
      settle(outcome, attempt, { ...facts, policy: { ...facts.policy, maxRetries: facts.policy.maxRetries + 1 } }),
  }),
  mutant('runs retry by themselves under failure action RETRY', 'attempts_counted', {
    settle: (outcome, attempt, facts) => settle(outcome, attempt, { ...facts, failureActionRetries: false }),
  }),
  mutant('a retry is planned for never', 'nothing_stuck', {
    settle: (outcome, attempt, facts) => ({ ...settle(outcome, attempt, facts), retryAt: null }),
  }),
  {
    ...mutant('the answer of an executor is thrown away', 'nothing_stuck', {
      decideReport: (run, reported) =>
        run.state === 'stopping' ? decideReport(run, reported) : decideReport({ ...run, attemptId: null }, reported),
      attemptEndsBy: (startedAt) => later(startedAt, 1e12),
    }),
    seed: 353,
  },
  mutant('a stop that nobody confirms waits for ever', 'nothing_stuck', { isAbandoned: () => false }),
  mutant('waiting work never expires', 'deadlines', { isExpired: () => false }),
  mutant('work expires when it would have been its turn to wait longer', 'deadlines', {
    isExpired: (run, now) => run.deadline !== null && now >= run.deadline + 500,
  }),
]
