import { z } from 'zod'
import { PERMISSIONS, type Permission } from '../../core/access.ts'
import { AS_CODE_ACTIONS, AS_CODE_THINGS, SCHEDULE_SYNONYMS } from '../../core/as-code/kinds.ts'
import type {
  AgentItem,
  ApplyFilter,
  AsCodeDocument,
  BudgetItem,
  DeliveryItem,
  ExportFilter,
  PlannedChange,
  PlannedItem,
  PlanView,
  ScheduleItem,
  TargetItem,
} from '../as-code.ts'
import { DURATION_WORDS } from '../config/duration.ts'
import { agentFields } from './agent.ts'
import { budgetFields } from './budget.ts'
import { anyJson, id, oneOf } from './common.ts'
import { problemError } from './problem.ts'
import { scheduleFields } from './schedule.ts'
import { named, shaped } from './shaped.ts'
import { targetFields } from './target.ts'

type Fields = Readonly<Record<string, z.ZodType>>

const UNIT = /(?:_seconds|_ms)$/
const duration = z
  .string()
  .regex(/^(?:\d{1,9}(?:ms|s|m|h|d))+$/)
  .describe(DURATION_WORDS)

/** The same field of a document: whatever lasts may also be a text such as `30m`. */
function lasting(name: string, schema: z.ZodType): z.ZodType {
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

const itemOf = (name: string, fields: Fields, description: string) =>
  named(name, z.strictObject({ id: id.optional(), ...lastingFields(fields) }), description)

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

const deliveryItem: z.ZodType<DeliveryItem> = named(
  'DeliveryItem',
  shaped<DeliveryItem>()({ target: id.optional(), target_id: id.optional() }),
  'The name of a target, or its id.',
)

const scheduleItem = itemOf(
  'ScheduleItem',
  { ...withoutSynonyms(scheduleFields), agent: z.string().min(1).max(200).nullish(), delivery: deliveryItem.nullish() },
  'Without an id it is known by its name. `agent` is the name of an agent, or its id.',
) as unknown as z.ZodType<ScheduleItem>

const budgetItem = itemOf(
  'BudgetItem',
  { ...budgetFields, agent: id.optional(), schedule: id.optional() },
  'Without an id it is known by whose it is, what it counts and how often. `agent` and `schedule` are names or ids.',
) as unknown as z.ZodType<BudgetItem>

export const asCodeDocument: z.ZodType<AsCodeDocument> = named(
  'AsCodeDocument',
  shaped<AsCodeDocument>()({
    version: z.literal(1),
    agents: z.array(agentItem).optional(),
    targets: z.array(targetItem).optional(),
    schedules: z.array(scheduleItem).optional(),
    budgets: z.array(budgetItem).optional(),
  }),
  'The configuration of an org. Of a kind that is left out, nothing is said and nothing is changed.',
)

export const exportFilter: z.ZodType<ExportFilter> = shaped<ExportFilter>()({
  kinds: z.string().min(1).max(200).optional(),
})

export const applyFilter: z.ZodType<ApplyFilter> = shaped<ApplyFilter>()({
  prune: z.boolean().optional(),
  expect: z.string().min(1).max(200).optional(),
})

const plannedChange: z.ZodType<PlannedChange> = named(
  'PlannedChange',
  shaped<PlannedChange>()({ field: z.string(), before: anyJson, after: anyJson }),
)

const plannedItem: z.ZodType<PlannedItem> = named(
  'PlannedItem',
  shaped<PlannedItem>()({
    kind: z.enum(AS_CODE_THINGS),
    name: z.string(),
    id: z.string().nullable(),
    action: z.enum(AS_CODE_ACTIONS),
    pointer: z.string().nullable(),
    changes: z.array(plannedChange),
    flaws: z.array(problemError),
  }),
)

export const planView: z.ZodType<PlanView> = named(
  'Plan',
  shaped<PlanView>()({
    plan_id: z.string(),
    applied: z.boolean(),
    prune: z.boolean(),
    items: z.array(plannedItem),
    counts: z.strictObject({
      ...{ create: z.int(), update: z.int(), delete: z.int(), unchanged: z.int(), unmanaged: z.int(), flawed: z.int() },
    }),
    permissions: z.array(oneOf(Object.keys(PERMISSIONS) as readonly Permission[])),
  }),
  'What a document would change, or has changed.',
)
