import { flawed, parsed, type Parsed } from '../domain/input.ts'

/** Ids are named in session keys and in paths: letters, digits and a few signs that mean nothing there. */
export const AGENT_ID = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,199}$/u

/** Reads the id of a new agent. */
export function parseAgentId(field: string, value: unknown): Parsed<string> {
  return typeof value === 'string' && AGENT_ID.test(value)
    ? parsed(value)
    : flawed({ field, value, message: 'cannot be an id', allowed: '1 to 200 letters, digits, . _ @ -' })
}
