import { invalid } from '../api/refusals.ts'

/** Refuses what is no function; programs in JavaScript have no compiler that would have said so. */
export function requireFunction(field: string, value: unknown, allowed = 'a function'): void {
  if (typeof value !== 'function') throw invalid([{ field, value, message: 'must be a function', allowed }])
}

/** Refuses what is no object with fields; `allowed` is what there should have been. */
export function requireObject(field: string, value: unknown, allowed: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid([{ field, value, message: 'must be an object', allowed }])
}
