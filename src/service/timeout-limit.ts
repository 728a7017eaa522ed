import { invalid } from '../api/refusals.ts'
import type { Flaw } from '../domain/input.ts'
import type { OrgRow } from '../features/access/orgs-store.ts'

/** What is wrong with a time limit that a request states: it is longer than the org allows. One that is stored stays. */
export function timeoutFlaws(
  given: { readonly timeout_seconds?: unknown },
  { maxTimeoutSeconds: max }: Pick<OrgRow, 'maxTimeoutSeconds'>,
): readonly Flaw[] {
  const { timeout_seconds: wanted } = given
  if (max === null || typeof wanted !== 'number' || wanted <= max) return []
  const message = `is above the limit of the org, max_timeout_seconds ${max}`
  return [{ field: 'timeout_seconds', value: wanted, message, allowed: `a whole number up to ${max}` }]
}

/** Refuses a request that states a longer time limit than its org allows. */
export function refuseLongTimeout(...of: Parameters<typeof timeoutFlaws>): void {
  const flaws = timeoutFlaws(...of)
  if (flaws.length > 0) throw invalid(flaws)
}
