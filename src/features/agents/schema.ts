import { z } from 'zod'
import { isoTime, pageOf } from '../../api/common.ts'
import { fieldsRule, named, rule, sessionKeyText, type Shape, text, integerBetween } from '../../api/fields.ts'
import { type Flaw, flawed, parsed, type Parsed } from '../../domain/input.ts'
import { MAX_TIMEOUT_SECONDS } from '../../domain/run/timeouts.ts'
import { executor, executorInput } from '../../executors/schema.ts'
import { guardRails, guardRailsInput } from '../access/restrictions-schema.ts'
import { providerNameText } from '../providers/schema.ts'
import { retryPolicy, retryPolicyInput } from '../schedules/rules-schema.ts'
import { CHAT_APIS } from '../../executors/chat/options.ts'
import { COMMAND_PRESETS } from '../../executors/command/options.ts'

/** The APIs of a chat executor, for the help of the command line. */
export const CHAT_API_WORDS = CHAT_APIS.join(', ')

/** The presets of a command executor, for the help of the command line. */
export const COMMAND_PRESET_WORDS = COMMAND_PRESETS.join(', ')

/**
 * Ids are part of session keys and paths, so they contain only letters, digits and a few signs without a meaning there.
 */
const AGENT_ID = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,199}$/u

/** Parses the id of a new agent. */
function parseAgentId(field: string, value: unknown): Parsed<string> {
  return typeof value === 'string' && AGENT_ID.test(value)
    ? parsed(value)
    : flawed({ field, value, message: 'is not a valid id', allowed: '1 to 200 letters, digits, . _ @ -' })
}

/** The fields of an agent except its id. */
export const agentFields = {
  name: text(1, 200).describe('Name of the agent.'),
  description: text(0, 10_000).optional().describe('What it is for.'),
  executor: executorInput,
  retry_policy: retryPolicyInput.nullish().describe('Retries of failed attempts. Default: the policy of the executor.'),
  timeout_seconds: integerBetween(-MAX_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS)
    .nullish()
    .describe('Maximum duration of an attempt. Default: the timeout of the executor.'),
  max_concurrent: integerBetween(1, 1_000_000)
    .nullish()
    .describe('Maximum number of concurrent runs. Default: no limit.'),
  context_window: integerBetween(1, 2_000_000_000)
    .nullish()
    .describe('Tokens that fit into one request to its model. Beyond them the oldest messages are left out.'),
  default_session: sessionKeyText.nullish().describe('Session of messages that name none.'),
  provider: providerNameText
    .nullish()
    .describe('The provider it calls. All agents with this provider share its quotas.'),
  self_service: guardRailsInput
    .nullish()
    .describe(
      'Limits for what its attempts may create on their own. Null or omitted: attempts get no key and create nothing.',
    ),
}

const NO_NAME: Flaw = { field: 'name', value: undefined, message: 'is missing' }

export const agentInput = named(
  'AgentInput',
  z
    .strictObject({
      ...agentFields,
      id: z
        .string()
        .min(1)
        .max(200)
        .regex(AGENT_ID)
        .check(rule(parseAgentId))
        .optional()
        .describe('Id, part of session keys. Default: generated. It cannot be changed.'),
    })
    // A missing name is reported even if another field may be a misspelling of it.
    .check(fieldsRule(({ name }) => (name === undefined ? [NO_NAME] : []))),
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
    provider: z.string().nullable(),
    version: z.int(),
    created_at: isoTime,
    updated_at: isoTime,
  }),
)
export type AgentView = Shape<typeof agent>

export const agentPage = pageOf('AgentPage', agent)
