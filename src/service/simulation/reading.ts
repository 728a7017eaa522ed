import { orgId } from '../../core/ids.ts'
import type { Parsed } from '../../core/input.ts'
import type { Instant } from '../../core/instant.ts'

/** The org of whatever is only thought of. */
export const NOBODYS_ORG = orgId('simulation')

/** The same, with its flaws told where they are. */
export const under = <T>(place: string, read: Parsed<T>): Parsed<T> =>
  read.ok ? read : { ok: false, flaws: read.flaws.map((flaw) => ({ ...flaw, field: `${place}.${flaw.field}` })) }

/** A moment that somebody else has read and written. */
export const momentOf = (text: string): Instant => Date.parse(text) as Instant
