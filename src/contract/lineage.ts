import { z } from 'zod'
import { SCHEDULE_STATES } from '../core/schedule/schedule-life.ts'
import { RUN_STATES } from '../core/run/run-machine.ts'
import { TRIGGERS } from '../core/run/run.ts'
import { moment } from './common.ts'
import { named, type Shape } from './shape.ts'

const node = named(
  'LineageNode',
  z.strictObject({
    kind: z.enum(['run', 'schedule']),
    id: z.string(),
    parent_run_id: z.string().nullable().describe('The run above it.'),
    agent_id: z.string(),
    schedule_id: z.string().nullable().describe('Of a run: the schedule it is of.'),
    name: z.string().nullable().describe('Of a schedule: what it is called.'),
    status: z.enum([...RUN_STATES, ...SCHEDULE_STATES]),
    trigger: z.enum(TRIGGERS).nullable(),
    created_at: moment,
  }),
  'A run, or a schedule that a run made, in the tree of what woke what.',
)
export type LineageNode = Shape<typeof node>

export const lineage = named(
  'Lineage',
  z.strictObject({
    run_id: z.string(),
    root_run_id: z.string().describe('The first of the runs above; the run itself when there is none.'),
    depth: z.int().describe('How many runs are above it.'),
    ancestors: z
      .array(node)
      .describe('The runs above it that are still on record and may be seen, the first one first.'),
    self: node,
    children: z
      .array(node)
      .describe('What it made and woke itself, oldest first; ask each run again for what is below it.'),
    next_cursor: z.string().nullable(),
  }),
  'Where a run comes from and what came of it.',
)
export type LineageView = Shape<typeof lineage>
