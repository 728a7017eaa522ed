import { z } from 'zod'
import { REASONS, type Reason, type Why } from '../../core/reasons.ts'
import type { Page, PageFilter } from '../page.ts'
import { named, shaped } from './shaped.ts'

/** A moment as we write it: RFC 3339 in UTC. */
export const moment = z.iso.datetime()

/** A moment as it may be given: RFC 3339 with any offset, or milliseconds since 1970. */
export const givenMoment = z.union([z.iso.datetime({ offset: true }), z.int().min(0).max(253_402_300_799_999)])

/** One of a list of words that is known only as a list of texts. */
export const oneOf = <Word extends string>(words: readonly Word[]): z.ZodType<Word> =>
  z.enum(words as readonly [Word, ...Word[]])

/** Anything JSON can hold. */
export const anyJson: z.ZodType = z.unknown()

/** An object whose fields are the caller's own business. */
export const anyObject = z.record(z.string(), z.unknown())

export const id = z.string().min(1).max(512)

/** The fields of a reason. */
export const whyFields = {
  reason: oneOf(Object.keys(REASONS) as readonly Reason[]),
  rule: z.string(),
  evidence: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
}

export const why: z.ZodType<Why> = named(
  'Why',
  shaped<Why>()(whyFields),
  'Why something was decided: a code, the rule that spoke, and the facts it looked at.',
)

/** A page of a list of these. */
export const pageOf = <Item>(name: string, item: z.ZodType<Item>): z.ZodType<Page<Item>> =>
  named(name, shaped<Page<Item>>()({ items: z.array(item), next_cursor: z.string().nullable() }))

/** What stands beside a payload, null, that is too large for a list. */
export const omittedPayload = {
  payload_omitted: z
    .literal(true)
    .optional()
    .describe('In a list: the payload is above 16 KiB and left out; what is asked for alone has it.'),
  payload_bytes: z.int().optional().describe('How large a payload is that was left out.'),
}

/** How long a page is to be, and where it goes on; part of the query of every list. */
export const paging = {
  limit: z.int().min(1).max(200).optional(),
  cursor: z.string().max(4_096).optional(),
}

/** The query of a list that has no filters of its own. */
export const pageFilter = shaped<PageFilter>()(paging)
