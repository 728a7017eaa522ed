import { z } from 'zod'
import { SCHEDULE_STATES } from '../domain/schedule/lifecycle.ts'
import { RUN_STATES } from '../domain/run/run-machine.ts'
import { TRIGGERS } from '../domain/run/run.ts'
import { moment } from '../api/common.ts'
import { named, type Shape } from './shape.ts'

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
    created_at: moment,
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
