import { z } from 'zod'
import { isoTime } from '../../api/common.ts'
import { fieldsRule, named, rule, type Shape, integerBetween } from '../../api/fields.ts'
import {
  MAX_RESTRICTION_AMOUNT,
  parseRestrictionAmount,
  RESTRICTION_BOUNDS,
  restrictionBudgetFlaws,
} from '../../domain/access/restrictions.ts'
import { BUDGET_PERIODS } from '../../domain/budget/budget-period.ts'
import { BUDGET_UNITS } from '../../domain/budget/budget.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { ABOUT_AMOUNT } from '../budgets/schema.ts'

const within = ({ min, max }: { readonly min: number; readonly max: number }) => integerBetween(min, max)

/** The budget of everything an owner creates. */
const budgetInput = z
  .strictObject({
    unit: z.enum(BUDGET_UNITS).describe('What is counted.'),
    amount: z
      .number()
      .positive()
      .max(MAX_RESTRICTION_AMOUNT)
      .check(rule(parseRestrictionAmount))
      .describe(ABOUT_AMOUNT),
    period: z.enum(BUDGET_PERIODS).optional().describe('Default: `day`.'),
  })
  .check(fieldsRule((budget) => restrictionBudgetFlaws(budget)))

export const guardRailsInput = named(
  'GuardRailsInput',
  z.strictObject({
    own_schedules_only: z
      .boolean()
      .optional()
      .describe('Whether the key can see and change only what it created. Default: true.'),
    max_schedules: within(RESTRICTION_BOUNDS.maxSchedules)
      .optional()
      .describe('Maximum number of schedules. Default: 10.'),
    min_interval_seconds: within(RESTRICTION_BOUNDS.minIntervalSeconds)
      .optional()
      .describe('Minimum interval between occurrences of a schedule, and between its manual runs. Default: 60.'),
    max_runs_per_hour: within(RESTRICTION_BOUNDS.maxRunsPerHour)
      .optional()
      .describe(
        'Maximum number per hour of manual runs, tasks, messages, and schedules created or rescheduled. Default: 60.',
      ),
    max_lifetime_seconds: within(RESTRICTION_BOUNDS.maxLifetimeSeconds)
      .nullish()
      .describe('Maximum lifetime of what the key creates. Null or omitted: no limit.'),
    budget: budgetInput.nullish().describe('Budget of everything the key creates. Null or omitted: no limit.'),
    approval: z
      .boolean()
      .optional()
      .describe('Whether what the key creates must be approved before it runs. Default: false.'),
  }),
  'Limits of a restricted key, whatever its role permits.',
)
export type GuardRailsInput = Shape<typeof guardRailsInput>

export const guardRails = named(
  'GuardRails',
  z.strictObject({
    own_schedules_only: z.boolean(),
    max_schedules: z.int(),
    min_interval_seconds: z.int(),
    max_runs_per_hour: z.int(),
    max_lifetime_seconds: z.int().nullable(),
    budget: z
      .strictObject({
        unit: z.enum(BUDGET_UNITS),
        amount: z.number(),
        period: z.enum(BUDGET_PERIODS).describe('Default: `day`.'),
      })
      .nullable(),
    approval: z.boolean(),
  }),
  'Limits of a restricted key.',
)
export type GuardRailsView = Shape<typeof guardRails>

export const invitation = named(
  'Invitation',
  z.strictObject({
    api_url: z.string().nullable().describe('Base URL of the API. Null: this program does not listen.'),
    mcp_url: z.string().nullable(),
    key: z.string().describe('Valid while the attempt is the current one of its run and in flight.'),
    expires_at: isoTime.nullable().describe('Deadline of the attempt.'),
  }),
  'API access of an attempt of an agent with `self_service`.',
)
export type InvitationView = Shape<typeof invitation>

const node = named(
  'LineageNode',
  z.strictObject({
    kind: z.enum(['run', 'schedule']),
    id: z.string(),
    parent_run_id: z.string().nullable().describe('The parent run.'),
    agent_id: z.string(),
    schedule_id: z.string().nullable().describe('Of a run: its schedule.'),
    name: z.string().nullable().describe('Of a schedule: its name.'),
    status: z.enum([...RUN_STATES, ...SCHEDULE_STATES]),
    trigger: z.enum(TRIGGERS).nullable(),
    created_at: isoTime,
  }),
  'A run, or a schedule that a run created.',
)
export type LineageNode = Shape<typeof node>

export const lineage = named(
  'Lineage',
  z.strictObject({
    run_id: z.string(),
    root_run_id: z.string().describe('The topmost ancestor; the run itself if it has none.'),
    depth: z.int().describe('Number of ancestors.'),
    ancestors: z.array(node).describe('Ancestors that are still stored and visible to the caller, topmost first.'),
    self: node,
    children: z
      .array(node)
      .describe("Runs and schedules it created, oldest first. Ask for a child's lineage to go deeper."),
    next_cursor: z.string().nullable(),
  }),
  'Ancestors and children of a run.',
)
export type LineageView = Shape<typeof lineage>
