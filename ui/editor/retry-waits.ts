import type { ScheduleForm } from './form.ts'

const MOST_SHOWN = 8

/** How long is waited before each retry, in milliseconds, as far as it is worth listing; empty when there is none. */
export function retryWaits(form: ScheduleForm): { readonly waits: readonly number[]; readonly isCut: boolean } {
  const usual = { strategy: 'exponential', max_retries: 3, base_seconds: 2, max_seconds: 30 } as const
  const policy = form.retry_as === 'usual' ? usual : form
  const steps = form.ladder.split(/[\s,]+/).flatMap((step) => (/^\d+$/.test(step) ? [Number(step)] : []))
  const given = policy.max_retries
  const count = form.retry_as === 'none' ? 0 : given === '' ? (policy.strategy === 'ladder' ? steps.length : 3) : given
  const wait = (n: number): number => {
    if (policy.strategy === 'ladder') return (steps[Math.min(n, steps.length - 1)] ?? 0) * 1_000
    const base = (policy.base_seconds === '' ? 2 : policy.base_seconds) * 1_000
    if (policy.strategy === 'fixed') return base
    return Math.min(base * 2 ** n, Math.max(base, (policy.max_seconds === '' ? 30 : policy.max_seconds) * 1_000))
  }
  const waits = Array.from({ length: Math.min(count, MOST_SHOWN) }, (_, n) => wait(n))
  return { waits, isCut: count > MOST_SHOWN }
}
