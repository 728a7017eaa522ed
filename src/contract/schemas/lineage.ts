import { z } from 'zod'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import { TRIGGERS } from '../../core/run/run.ts'
import { SCHEDULE_STATES } from '../../core/schedule/schedule-life.ts'
import type { LineageNode, LineageView } from '../lineage.ts'
import { moment } from './common.ts'
import { named, shaped } from './shaped.ts'

const node: z.ZodType<LineageNode> = named(
  'LineageNode',
  shaped<LineageNode>()({
    kind: z.enum(['run', 'schedule']),
    id: z.string(),
    parent_run_id: z.string().nullable(),
    agent_id: z.string(),
    schedule_id: z.string().nullable(),
    name: z.string().nullable(),
    status: z.enum([...RUN_STATES, ...SCHEDULE_STATES]),
    trigger: z.enum(TRIGGERS).nullable(),
    created_at: moment,
  }),
)

export const lineage: z.ZodType<LineageView> = named(
  'Lineage',
  shaped<LineageView>()({
    run_id: z.string(),
    root_run_id: z.string(),
    depth: z.int(),
    ancestors: z.array(node),
    self: node,
    children: z.array(node),
    next_cursor: z.string().nullable(),
  }),
)
