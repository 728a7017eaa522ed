import { z } from 'zod'
import { moment, pageOf } from './common.ts'
import { executor, executorInput } from './executor.ts'
import { guardRails, guardRailsInput } from './guard-rails.ts'
import { retryPolicy, retryPolicyInput } from './retry-policy.ts'
import { named, type Shape } from './shape.ts'

const YEAR_SECONDS = 366 * 86_400

/** Everything about an agent but its id. */
export const agentFields = {
  name: z.string().min(1).max(200).describe('Name of the agent.'),
  description: z.string().max(10_000).optional().describe('What it is for.'),
  executor: executorInput,
  retry_policy: retryPolicyInput.nullish().describe('Retries of failed attempts. Default: the policy of the executor.'),
  timeout_seconds: z
    .int()
    .min(-YEAR_SECONDS)
    .max(YEAR_SECONDS)
    .nullish()
    .describe('Maximum duration of an attempt. Default: the timeout of the executor.'),
  max_concurrent: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullish()
    .describe('Maximum number of concurrent runs. Default: no limit.'),
  context_window: z
    .int()
    .min(1)
    .max(2_000_000_000)
    .nullish()
    .describe('Tokens that fit into one request to its model. Beyond them the oldest messages are left out.'),
  default_session: z.string().min(1).max(512).nullish().describe('Session of messages that name none.'),
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
  z.strictObject({
    ...agentFields,
    id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Id, part of session keys. Default: generated. It cannot be changed.'),
  }),
  'A new agent. Session keys contain its id: `agent:<id>:…`.',
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
