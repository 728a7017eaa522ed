import { z } from 'zod'
import type { AgentInput, AgentView } from '../agent.ts'
import { moment, pageOf } from './common.ts'
import { executor, executorInput } from './executor.ts'
import { guardRails, guardRailsInput } from './guard-rails.ts'
import { retryPolicy, retryPolicyInput } from './schedule.ts'
import { named, shaped } from './shaped.ts'

const YEAR_SECONDS = 366 * 86_400

/** Everything about an agent but its id. */
export const agentFields = {
  name: z.string().min(1).max(200),
  description: z.string().max(10_000).optional(),
  executor: executorInput,
  retry_policy: retryPolicyInput.nullish(),
  timeout_seconds: z.int().min(-YEAR_SECONDS).max(YEAR_SECONDS).nullish(),
  max_concurrent: z.int().min(1).max(1_000_000).nullish(),
  context_window: z.int().min(1).max(2_000_000_000).nullish(),
  default_session: z.string().min(1).max(512).nullish(),
  self_service: guardRailsInput.nullish(),
  provider: z.string().min(1).max(100).nullish(),
}

export const agentInput: z.ZodType<AgentInput> = named(
  'AgentInput',
  shaped<AgentInput>()({ ...agentFields, id: z.string().min(1).max(200).optional() }),
  'The id is made unless it is given; it stands in session keys: `agent:<id>:…`.',
)

/** What may change about an agent: everything but its id. */
export type AgentPatch = Partial<Omit<AgentInput, 'id'>>

export const agentPatch: z.ZodType<AgentPatch> = named(
  'AgentPatch',
  shaped<AgentPatch>()({ ...agentFields, name: agentFields.name.optional(), executor: executorInput.optional() }),
)

export const agent: z.ZodType<AgentView> = named(
  'Agent',
  shaped<AgentView>()({
    id: z.string(),
    org_id: z.string(),
    name: z.string(),
    description: z.string(),
    executor,
    retry_policy: retryPolicy.nullable(),
    timeout_seconds: z.int().nullable(),
    max_concurrent: z.int().nullable(),
    context_window: z.int().nullable(),
    default_session: z.string().nullable(),
    self_service: guardRails.nullable(),
    provider: z.string().nullable(),
    version: z.int(),
    created_at: moment,
    updated_at: moment,
  }),
)

export const agentPage = pageOf('AgentPage', agent)
