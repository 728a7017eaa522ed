import { EscapementError } from '../../src/client/errors.ts'
import type { Say } from '../texts/fill.ts'

/** Whether the server refused because the session is missing or has expired. */
export const isSignedOut = (error: unknown): boolean => error instanceof EscapementError && error.status === 401

/** Whether there is no such thing, or none that this person may know of. */
export const isGone = (error: unknown): boolean => error instanceof EscapementError && error.status === 404

/** Whether nothing answered. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof EscapementError && (error.code === 'UNREACHABLE' || error.code === 'BAD_ANSWER')

/** What went wrong, as one sentence for the person. */
export function messageOf(error: unknown, say: Say): string {
  if (isUnreachable(error)) return say('error.unreachable')
  if (error instanceof EscapementError && error.errors.length > 0)
    return error.errors.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/**
 * What is wrong with each field, by its path with dots (`retry_policy.max_retries`), for the forms that show it beside
 * the field. Errors of other fields are left out; the form shows the whole error above.
 */
export function fieldErrorsOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof EscapementError)) return {}
  const fields: Record<string, string> = {}
  for (const { pointer, message, allowed } of error.errors) {
    const field = pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
    const hint = typeof allowed === 'string' ? ` (${allowed})` : ''
    fields[field] ??= message + hint
  }
  return fields
}
