import { z } from 'zod'
import {
  AS_CODE_ACTIONS,
  AS_CODE_KINDS,
  AS_CODE_THINGS,
  SCHEDULE_SYNONYMS,
  type AsCodeAction,
  type AsCodeKind,
  type AsCodeThing,
} from '../../core/as-code/kinds.ts'
import { DURATION_WORDS } from '../../domain/duration.ts'
import { agentFields, type AgentInput } from '../agents/schema.ts'
import { budgetFields, type BudgetInput } from '../budgets/schema.ts'
import { anyJson, id, permission } from '../../api/common.ts'
import { fieldsRule, text } from '../../api/fields.ts'
import { problemError } from '../../api/problem.ts'
import { scheduleFields } from '../../contract/schedule-fields.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { named, type Shape } from '../../contract/shape.ts'
import { targetFields, type TargetInput } from '../targets/schema.ts'

type Fields = Readonly<Record<string, z.ZodType>>

const UNIT = /(?:_seconds|_ms)$/
const duration = z
  .string()
  .regex(/^(?:\d{1,9}(?:ms|s|m|h|d))+$/)
  .describe(DURATION_WORDS)

/** The same field of a document, with its description: durations may also be a text such as `30m`. */
function lasting(name: string, schema: z.ZodType): z.ZodType {
  const field = lastingKind(name, schema)
  return schema.description === undefined || field === schema ? field : field.describe(schema.description)
}

function lastingKind(name: string, schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return lasting(name, schema.unwrap() as z.ZodType).optional()
  if (schema instanceof z.ZodNullable) return lasting(name, schema.unwrap() as z.ZodType).nullable()
  if (UNIT.test(name))
    return schema instanceof z.ZodArray
      ? z.array(z.union([schema.element as z.ZodType, duration]))
      : z.union([schema, duration])
  if (!(schema instanceof z.ZodObject)) return schema
  const shape = schema.shape as Fields
  return Object.keys(shape).some((inner) => UNIT.test(inner)) ? z.strictObject(lastingFields(shape)) : schema
}

const lastingFields = (fields: Fields): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, lasting(name, schema)]))

const withoutSynonyms = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !SCHEDULE_SYNONYMS.some((word) => word === name)))

const ITEM_ID = id
  .optional()
  .describe('Id. It cannot be changed. Default: it is found by its name, or by what it is for.')

const itemOf = (name: string, fields: Fields, description: string) =>
  named(name, z.strictObject({ id: ITEM_ID, ...lastingFields(fields) }), description)

const agentItem = itemOf(
  'AgentItem',
  agentFields,
  'Without an id it is known by its name.',
) as unknown as z.ZodType<AgentItem>

const targetItem = itemOf(
  'TargetItem',
  targetFields,
  'Without an id it is known by its name. An address that is hidden is left out, and stays what it is.',
) as unknown as z.ZodType<TargetItem>

const deliveryItem = named(
  'DeliveryItem',
  z.strictObject({
    target: id.optional().describe('Name or id of a target.'),
    target_id: id.optional().describe('Id of a target.'),
  }),
  'The name of a target, or its id.',
)
export type DeliveryItem = Shape<typeof deliveryItem>

const scheduleItem = itemOf(
  'ScheduleItem',
  {
    ...withoutSynonyms(scheduleFields),
    agent: z
      .string()
      .min(1)
      .max(200)
      .nullish()
      .describe('Name or id of the agent. Default: the default agent of the org.'),
    delivery: deliveryItem.nullish().describe(scheduleFields.delivery.description ?? ''),
  },
  'Without an id it is known by its name. `agent` is the name of an agent, or its id.',
) as unknown as z.ZodType<ScheduleItem>

const budgetItem = itemOf(
  'BudgetItem',
  {
    ...budgetFields,
    agent: id.optional().describe('Name or id of the agent whose runs it limits.'),
    schedule: id.optional().describe('Name or id of the schedule whose runs it limits.'),
  },
  'Without an id it is known by whose it is, what it counts and how often. `agent` and `schedule` are names or ids.',
) as unknown as z.ZodType<BudgetItem>

export const asCodeDocument = named(
  'AsCodeDocument',
  z.strictObject({
    version: z.literal(1).describe('Version of the format.'),
    agents: z.array(agentItem).optional().describe('Agents. Omitted: agents are not changed.'),
    targets: z.array(targetItem).optional().describe('Targets. Omitted: targets are not changed.'),
    schedules: z.array(scheduleItem).optional().describe('Schedules. Omitted: schedules are not changed.'),
    budgets: z.array(budgetItem).optional().describe('Budgets. Omitted: budgets are not changed.'),
  }),
  'The configuration of an org. Of a kind that is left out, nothing is said and nothing is changed.',
)
export type AsCodeDocument = Shape<typeof asCodeDocument>

/** More than anybody keeps in a file, and as much as one transaction should do. */
const MAX_ITEMS = 2_000

/** An item before it is read: what is wrong with it is a part of the plan, so that all items are told of at once. */
const givenItems = z
  .array(z.looseObject({ id: text(1, 200).nullish() }))
  // An empty list in YAML is often nothing at all.
  .nullish()

const unreadDocument = named(
  'GivenDocument',
  z
    .strictObject({
      version: z.literal(1).describe('Version of the format.'),
      agents: givenItems.describe('Agents as in `AsCodeDocument`. Omitted: agents are not changed.'),
      targets: givenItems.describe('Targets as in `AsCodeDocument`. Omitted: targets are not changed.'),
      schedules: givenItems.describe('Schedules as in `AsCodeDocument`. Omitted: schedules are not changed.'),
      budgets: givenItems.describe('Budgets as in `AsCodeDocument`. Omitted: budgets are not changed.'),
    })
    .check(
      fieldsRule((given) => {
        const count = AS_CODE_KINDS.map((kind) => given[kind]).flatMap((list) =>
          Array.isArray(list) ? list : [],
        ).length
        if (count <= MAX_ITEMS) return []
        const message = 'the document has too many items'
        return [{ field: '', value: count, message, allowed: `up to ${MAX_ITEMS}` }]
      }),
    ),
  'A document to apply. Its items are read one by one, and the plan says what is wrong with each.',
)
export type UnreadDocument = Shape<typeof unreadDocument>

/** The same for programs, which know what an item is. */
export const givenDocument = unreadDocument as unknown as z.ZodType<AsCodeDocument>

/** Which kinds are wanted, with commas between them; all unless given. */
export const exportFilter = z.strictObject({
  kinds: z.string().min(1).max(200).optional(),
})
export type ExportFilter = Shape<typeof exportFilter>

/** How a document is to be carried out. */
export const applyFilter = z.strictObject({
  prune: z
    .boolean()
    .optional()
    .describe('Delete stored things that are not in the document, for the kinds the document lists. Default: false.'),
  expect: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The `plan_id` that was reviewed. A different plan is refused.'),
})
export type ApplyFilter = Shape<typeof applyFilter>

const plannedChange = named(
  'PlannedChange',
  z.strictObject({
    field: z.string().describe('Nested fields with dots: `retry_policy.base_ms`.'),
    before: anyJson,
    after: anyJson,
  }),
  'A changed field. Null: absent, or its default. Hidden values are shown as `***`.',
)
export type PlannedChange = Shape<typeof plannedChange>

const plannedItem = named(
  'PlannedItem',
  z.strictObject({
    kind: z.enum(AS_CODE_THINGS),
    name: z.string().describe('Of a budget: its subject, unit and period.'),
    id: z.string().nullable().describe('Null: not created yet.'),
    action: z.enum(AS_CODE_ACTIONS),
    pointer: z.string().nullable().describe('JSON pointer into the document. Null: stored, but not in the document.'),
    changes: z.array(plannedChange),
    flaws: z.array(problemError).describe('Errors. While any item has one, nothing is applied.'),
  }),
  'The planned change of one thing.',
)
export type PlannedItem = Shape<typeof plannedItem>

export const planView = named(
  'Plan',
  z.strictObject({
    plan_id: z
      .string()
      .describe('Hash of the document and of the state it was compared with. It changes when either changes.'),
    applied: z.boolean(),
    prune: z.boolean(),
    items: z.array(plannedItem),
    counts: z.strictObject({
      ...{ create: z.int(), update: z.int(), delete: z.int(), unchanged: z.int(), unmanaged: z.int(), flawed: z.int() },
    }),
    permissions: z.array(permission).describe('Permissions that applying it requires.'),
  }),
  'What a document would change, or has changed.',
)
export type PlanView = Shape<typeof planView>

/** A length of time, which a document may also give as a text such as `30m`. */
type Lasts<Value> = Value extends readonly (infer Item)[] ? readonly (Item | string)[] : Value | string

/** In a document, what lasts may also be a text, wherever the name of its field ends in its unit. */
type Lasting<Value> = unknown extends Value
  ? Value
  : {
      readonly [Name in keyof Value]: Name extends `${string}_seconds` | `${string}_ms`
        ? Lasts<Value[Name]>
        : Lasting<Value[Name]>
    }

/** An agent of a document: what it is made from. Without an id it is known by its name. */
export type AgentItem = Lasting<AgentInput>

/** A schedule of a document: what it is made from, with names in place of ids. */
export interface ScheduleItem extends Lasting<Omit<ScheduleInput, (typeof SCHEDULE_SYNONYMS)[number] | 'delivery'>> {
  /** Left out: it is known by its name. */
  readonly id?: string | undefined
  /** The name of the agent, or its id; the default agent of the org unless given. */
  readonly agent?: string | null | undefined
  /** Where its results go, by name or by id. */
  readonly delivery?: DeliveryItem | null | undefined
}

/** A target of a document: what it is made from. Without an id it is known by its name. */
export interface TargetItem extends TargetInput {
  readonly id?: string | undefined
}

/** A budget of a document. Without an id it is known by whose it is, what it counts, and how often. */
export interface BudgetItem extends BudgetInput {
  readonly id?: string | undefined
  /** The name of the agent it is for, or its id. */
  readonly agent?: string | undefined
  /** The name of the schedule it is for, or its id. */
  readonly schedule?: string | undefined
}

export type { AsCodeAction, AsCodeKind, AsCodeThing }
