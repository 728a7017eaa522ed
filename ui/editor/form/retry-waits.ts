import { DEFAULT_RETRY_POLICY as RETRIES } from '../../../src/domain/run/retry-policy.ts'
import { EMPTY, type ScheduleForm } from './form.ts'
import type { Num } from './num.ts'

const MOST_SHOWN = 8

const typed = (value: Num): number | null => (value === '' ? null : value)

/** How long is waited before each retry, in milliseconds, as far as it is worth listing; empty when there is none. */
export function retryWaits(form: ScheduleForm): { readonly waits: readonly number[]; readonly isCut: boolean } {
  const policy = form.retry_as === 'usual' ? EMPTY : form
  const steps = form.ladder.split(/[\s,]+/).flatMap((step) => (/^\d+$/.test(step) ? [Number(step)] : []))
  const usualCount = policy.strategy === 'ladder' ? steps.length : RETRIES.maxRetries
  const count = form.retry_as === 'none' ? 0 : (typed(policy.max_retries) ?? usualCount)
  const base = (typed(policy.base_seconds) ?? RETRIES.baseMs / 1_000) * 1_000
  const longest = (typed(policy.max_seconds) ?? RETRIES.maxMs / 1_000) * 1_000
  const wait = (n: number): number => {
    if (policy.strategy === 'ladder') return (steps[Math.min(n, steps.length - 1)] ?? 0) * 1_000
    return policy.strategy === 'fixed' ? base : Math.min(base * 2 ** n, Math.max(base, longest))
  }
  const waits = Array.from({ length: Math.min(count, MOST_SHOWN) }, (_, n) => wait(n))
  return { waits, isCut: count > MOST_SHOWN }
}
