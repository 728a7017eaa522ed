import { DURATION_WORDS } from '../../domain/duration.ts'
import { z } from 'zod'
import { anyJson, id, permission } from '../../api/common.ts'
import { fieldsRule, named, NAMED_SHAPES, type Shape, text } from '../../api/fields.ts'
import { problemError } from '../../api/problem.ts'
import {
  AS_CODE_ACTIONS,
  AS_CODE_KINDS,
  AS_CODE_RESOURCES,
  type AsCodeAction,
  type AsCodeKind,
  type AsCodeResource,
  SCHEDULE_SYNONYMS,
} from '../../domain/as-code/compare.ts'
import { agentFields, type AgentInput } from '../agents/schema.ts'
import { budgetFields, type BudgetInput } from '../budgets/schema.ts'
import { scheduleFields, type ScheduleInput } from '../schedules/schema.ts'
import { targetFields, type TargetInput } from '../targets/schema.ts'

type Fields = Readonly<Record<string, z.ZodType>>

const UNIT = /(?:_seconds|_ms)$/
const duration = z
  .string()
  .regex(/^(?:\d{1,9}(?:ms|s|m|h|d))+$/)
  .describe(DURATION_WORDS)

/** The schema of a field in a document: durations may also be texts such as `30m`. The description is kept. */
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
  .describe('Id. It cannot be changed. Default: matched by name; a budget by its subject, unit and period.')

const itemOf = (name: string, fields: Fields, description: string) =>
  named(name, z.strictObject({ id: ITEM_ID, ...lastingFields(fields) }), description)

const agentItem = itemOf(
  'AgentItem',
  agentFields,
  'Without an id it is matched by name.',
) as unknown as z.ZodType<AgentItem>

const targetItem = itemOf(
  'TargetItem',
  targetFields,
  'Without an id it is matched by name. A hidden URL is left out and keeps its value.',
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
  'Without an id it is matched by name. `agent` is the name of an agent, or its id.',
) as unknown as z.ZodType<ScheduleItem>

const budgetItem = itemOf(
  'BudgetItem',
  {
    ...budgetFields,
    agent: id.optional().describe('Name or id of the agent whose runs the budget limits.'),
    schedule: id.optional().describe('Name or id of the schedule whose runs the budget limits.'),
  },
  'Without an id it is matched by its subject, unit and period. `agent` and `schedule` are names or ids.',
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
  'The configuration of an org. Kinds that are left out are not changed.',
)
export type AsCodeDocument = Shape<typeof asCodeDocument>

/** The maximum number of items, so that one transaction can apply a document. */
const MAX_ITEMS = 2_000

/** An item before validation. Its flaws become part of the plan, so that those of all items are reported together. */
const givenItems = z
  .array(z.looseObject({ id: text(1, 200).nullish() }))
  // A key without a value in YAML is null.
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
  'A document to apply. The plan lists the errors of each item.',
)
export type UnreadDocument = Shape<typeof unreadDocument>

/** The same with typed items, for programs. */
export const givenDocument = unreadDocument as unknown as z.ZodType<AsCodeDocument>

/** The kinds to export, separated by commas. Default: all. */
export const exportFilter = z.strictObject({
  kinds: z.string().min(1).max(200).optional(),
})

/** Options of plan and apply. */
export const applyFilter = z.strictObject({
  prune: z
    .boolean()
    .optional()
    .describe('Delete stored objects that are not in the document, of the kinds in the document. Default: false.'),
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
    kind: z.enum(AS_CODE_RESOURCES),
    name: z.string().describe('Of a budget: its subject, unit and period.'),
    id: z.string().nullable().describe('Null: not created yet.'),
    action: z.enum(AS_CODE_ACTIONS),
    pointer: z.string().nullable().describe('JSON pointer into the document. Null: stored, but not in the document.'),
    changes: z.array(plannedChange),
    flaws: z.array(problemError).describe('Errors. While any item has one, nothing is applied.'),
  }),
  'The planned change of one object.',
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
  'The changes that applying a document would make, or has made.',
)
export type PlanView = Shape<typeof planView>

/** A duration, which a document may also contain as text such as `30m`. */
type Lasts<Value> = Value extends readonly (infer Item)[] ? readonly (Item | string)[] : Value | string

/** Allows text for every duration, that is, for every field whose name ends in a unit. */
type Lasting<Value> = unknown extends Value
  ? Value
  : {
      readonly [Name in keyof Value]: Name extends `${string}_seconds` | `${string}_ms`
        ? Lasts<Value[Name]>
        : Lasting<Value[Name]>
    }

/** An agent in a document. Without an id it is matched by name. */
export type AgentItem = Lasting<AgentInput>

/** A schedule in a document, with references by name. */
export interface ScheduleItem extends Lasting<Omit<ScheduleInput, (typeof SCHEDULE_SYNONYMS)[number] | 'delivery'>> {
  /** Absent: the schedule is matched by name. */
  readonly id?: string | undefined
  /** The name of the agent, or its id. Default: the default agent of the org. */
  readonly agent?: string | null | undefined
  /** The target of its results, by name or id. */
  readonly delivery?: DeliveryItem | null | undefined
}

/** A target in a document. Without an id it is matched by name. */
export interface TargetItem extends TargetInput {
  readonly id?: string | undefined
}

/** A budget in a document. Without an id it is matched by subject, unit and period. */
export interface BudgetItem extends BudgetInput {
  readonly id?: string | undefined
  /** The name of the agent it limits, or its id. */
  readonly agent?: string | undefined
  /** The name of the schedule it limits, or its id. */
  readonly schedule?: string | undefined
}

export type { AsCodeAction, AsCodeKind, AsCodeResource }

/** The JSON schema of documents. */
type AsCodeSchema = Readonly<Record<string, unknown>> & { readonly $schema: string }

/**
 * The JSON schema of documents, for completion and validation in editors. Draft 7, because YAML editors support it
 * best.
 */
export function asCodeSchema(): AsCodeSchema {
  const { $schema, ...rest } = z.toJSONSchema(asCodeDocument, { target: 'draft-7', ...HOW })
  return { $schema: $schema ?? DRAFT, ...rest, title: 'Escapement: schedules as code' }
}

const DRAFT = 'http://json-schema.org/draft-07/schema#'

const HOW = {
  unrepresentable: 'any',
  reused: 'inline',
  override: ({
    zodSchema,
    jsonSchema,
  }: {
    readonly zodSchema: unknown
    readonly jsonSchema: Record<string, unknown>
  }) => {
    // The description of a field takes precedence over that of its shape.
    jsonSchema['description'] ??= NAMED_SHAPES.get(zodSchema as z.ZodType)?.description
    if (jsonSchema['description'] === undefined) delete jsonSchema['description']
    // The bounds of safe integers, and patterns that `format` implies, are left out as noise.
    if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
    if (jsonSchema['format'] !== undefined) delete jsonSchema['pattern']
  },
} as const
