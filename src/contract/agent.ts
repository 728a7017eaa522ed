import { z } from 'zod'
import { moment, pageOf } from './common.ts'
import { executor, executorInput } from './executor.ts'
import { guardRails, guardRailsInput } from './guard-rails.ts'
import { retryPolicy, retryPolicyInput } from './retry-policy.ts'
import { named, type Shape } from './shape.ts'

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
  self_service: guardRailsInput
    .nullish()
    .describe(
      'Limits for what its attempts may create on their own. Null or omitted: attempts get no key and create nothing.',
    ),
  provider: z
    .string()
    .min(1)
    .max(100)
    .nullish()
    .describe('The provider it calls. All agents with this provider share its quotas.'),
}

export const agentInput = named(
  'AgentInput',
  z.strictObject({ ...agentFields, id: z.string().min(1).max(200).optional() }),
  'The id is made unless it is given; it stands in session keys: `agent:<id>:…`.',
)
export type AgentInput = Shape<typeof agentInput>

export const agentPatch = named(
  'AgentPatch',
  z.strictObject({ ...agentFields, name: agentFields.name.optional(), executor: executorInput.optional() }),
  'A change of an agent. The id cannot be changed.',
)
export type AgentPatch = Shape<typeof agentPatch>

export const agent = named(
  'Agent',
  z.strictObject({
    id: z.string(),
    org_id: z.string(),
    name: z.string(),
    description: z.string(),
    executor,
    retry_policy: retryPolicy.nullable().describe('Null: the default of its executor.'),
    timeout_seconds: z.int().nullable(),
    max_concurrent: z.int().nullable(),
    context_window: z.int().nullable(),
    default_session: z.string().nullable(),
    self_service: guardRails.nullable(),
    provider: z.string().nullable().describe('The provider it calls. All agents with this provider share its quotas.'),
    version: z.int(),
    created_at: moment,
    updated_at: moment,
  }),
)
export type AgentView = Shape<typeof agent>

export const agentPage = pageOf('AgentPage', agent)
