import { z } from 'zod'
import { PERMISSIONS, ROLES, type Permission, type Role } from '../domain/access/access.ts'
import { REASONS, type Reason } from '../domain/reasons.ts'
import { named, type Shape } from './fields.ts'

/** A time in responses: RFC 3339 in UTC. */
export const isoTime = z.iso.datetime()

/** A time in requests: RFC 3339 with any offset, or Unix time in milliseconds. */
export const plainTimeInput = z.union([z.iso.datetime({ offset: true }), z.int().min(0).max(253_402_300_799_999)])

/** Any JSON value. */
export const anyJson = z.unknown()

/** An object with arbitrary fields. */
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
  'Why something was decided: the reason code, the rule that decided, and its evidence.',
)

/** Who created a run or a schedule, if it is restricted. */
export const owner = z.string().nullable().describe('The restricted key or the agent (`agent:<id>`) that created it.')

/** Why a run was held. */
export const heldDecision = why
  .nullable()
  .describe('Why the run was held before `decision`. Null if it was never held.')

type PageShape<Item extends z.ZodType> = z.ZodObject<
  { items: z.ZodArray<Item>; next_cursor: z.ZodNullable<z.ZodString> },
  z.core.$strict
>

/** The schema of one page of a list. */
export const pageOf = <Item extends z.ZodType>(name: string, item: Item): PageShape<Item> =>
  named(name, z.strictObject({ items: z.array(item), next_cursor: z.string().nullable() }))

/** The fields beside a payload that is null because it is too large for a list. */
export const omittedPayload = {
  payload_omitted: z
    .literal(true)
    .optional()
    .describe('In lists: the payload is larger than 16 KiB and omitted. Get the item to see it.'),
  payload_bytes: z.int().optional().describe('Size of the omitted payload in bytes.'),
}
export type OmittedPayload = Shape<z.ZodObject<typeof omittedPayload>>

/** Page size and position; part of the query of every list. */
export const paging = {
  limit: z.int().min(1).max(200).optional(),
  cursor: z.string().max(4_096).optional(),
}

/** The query of a list that has no filters of its own. */
export const pageFilter = z.strictObject(paging)
export type PageFilter = Shape<typeof pageFilter>
