import { z } from 'zod'
import { PERMISSIONS, ROLES, type Permission, type Role } from '../domain/access/access.ts'
import { REASONS, type Reason } from '../domain/reasons.ts'
import { named, type Shape } from '../contract/shape.ts'

/** A moment as we write it: RFC 3339 in UTC. */
export const moment = z.iso.datetime()

/** A moment as it may be given: RFC 3339 with any offset, or milliseconds since 1970. */
export const givenMoment = z.union([z.iso.datetime({ offset: true }), z.int().min(0).max(253_402_300_799_999)])

/** Anything JSON can hold. */
export const anyJson = z.unknown()

/** An object whose fields are the caller's own business. */
export const anyObject = z.record(z.string(), z.unknown())

/** The name of a permission. */
export const permission = z.enum(Object.keys(PERMISSIONS) as readonly Permission[])

/** The name of a role. */
export const role = z.enum(Object.keys(ROLES) as readonly Role[])

export const id = z.string().min(1).max(512)

/** The fields of a reason. */
export const whyFields = {
  reason: named('Reason', z.enum(Object.keys(REASONS) as readonly Reason[]), 'The code of a reason.'),
  rule: z.string().describe('The rule as the docs write it: `overlap_action=SKIP`, `session.cap`, `gate:agent_limit`.'),
  evidence: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
}

export const why = named(
  'Why',
  z.strictObject(whyFields),
  'Why something was decided: a code, the rule that spoke, and the facts it looked at.',
)

/** Who created a run or a schedule, if it is restricted. */
export const owner = z.string().nullable().describe('The restricted key or the agent (`agent:<id>`) that created it.')

/** Why a run was held. */
export const heldDecision = why.nullable().describe('Why it was held before `decision`. Null: it never was.')

type PageShape<Item extends z.ZodType> = z.ZodObject<
  { items: z.ZodArray<Item>; next_cursor: z.ZodNullable<z.ZodString> },
  z.core.$strict
>

/** A page of a list of these. */
export const pageOf = <Item extends z.ZodType>(name: string, item: Item): PageShape<Item> =>
  named(name, z.strictObject({ items: z.array(item), next_cursor: z.string().nullable() }))

/** What stands beside a payload, null, that is too large for a list. */
export const omittedPayload = {
  payload_omitted: z
    .literal(true)
    .optional()
    .describe('In lists: the payload is larger than 16 KiB and left out. Get the item to see it.'),
  payload_bytes: z.int().optional().describe('Size of the payload that was left out.'),
}
export type OmittedPayload = Shape<z.ZodObject<typeof omittedPayload>>

/** How long a page is to be, and where it goes on; part of the query of every list. */
export const paging = {
  limit: z.int().min(1).max(200).optional(),
  cursor: z.string().max(4_096).optional(),
}

/** The query of a list that has no filters of its own. */
export const pageFilter = z.strictObject(paging)
export type PageFilter = Shape<typeof pageFilter>
