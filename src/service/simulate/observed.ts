import type { AssumptionInput } from '../../contract/simulation.ts'
import { amountsUsed } from '../../core/budget/amounts.ts'
import type { ErrorCode } from '../../core/run/error-codes.ts'
import type { PastRun } from '../../store/simulation-reads.ts'

const MICROS = 1e6

/** What runs on record say about how such runs go, and how many they are. */
export interface Observed {
  readonly runs: number
  readonly assume: AssumptionInput
}

/**
 * Runs that ended by themselves; how long a run takes that was ended says nothing. A run whose probe said no started no
 * agent, and how often that happens is a rate of its own.
 */
const speaks = ({ state, startedAt, finishedAt, isProbedOut }: PastRun): boolean =>
  !isProbedOut &&
  (state === 'success' || state === 'failed' || state === 'timeout') &&
  startedAt !== null &&
  finishedAt !== null

/** How runs of a schedule may be assumed to go, from those that ended by themselves. */
export function observe(runs: readonly PastRun[]): Observed {
  const told = runs.filter(speaks)
  if (told.length === 0) return { runs: 0, assume: {} }
  const attempts = told.reduce((sum, { attempt, firstAttempt }) => sum + attempt - firstAttempt + 1, 0)
  const successes = told.filter(({ state }) => state === 'success').length
  const timeouts = told.filter(({ state }) => state === 'timeout').length
  const durations = told
    .filter(({ state }) => state !== 'timeout')
    .map(({ startedAt, finishedAt }) => Math.max(0, (finishedAt ?? 0) - (startedAt ?? 0)))
  const code = usualCode(told)
  return {
    runs: told.length,
    assume: {
      ...(durations.length === 0 ? {} : { duration_ms: durations }),
      failure_rate: (attempts - successes - timeouts) / attempts,
      timeout_rate: timeouts / attempts,
      ...(code === null ? {} : { error_code: code }),
      ...usageOf(told, attempts),
    },
  }
}

function usualCode(runs: readonly PastRun[]): ErrorCode | null {
  const counts = new Map<ErrorCode, number>()
  for (const { errorCode } of runs)
    if (errorCode !== null && errorCode !== 'timeout') counts.set(errorCode, (counts.get(errorCode) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null
}

/** A run says what all its attempts have used together. */
function usageOf(runs: readonly PastRun[], attempts: number): Pick<AssumptionInput, 'tokens' | 'cost'> {
  const used = runs.map(({ usage }) => amountsUsed(usage))
  const mean = (unit: 'tokens' | 'money'): number => used.reduce((sum, one) => sum + (one[unit] ?? 0), 0) / attempts
  const [tokens, money] = [Math.round(mean('tokens')), mean('money')]
  return { ...(tokens > 0 ? { tokens } : {}), ...(money > 0 ? { cost: money / MICROS } : {}) }
}
