import { z } from 'zod'
import { anyJson, isoTime, pageOf } from '../../api/common.ts'
import { fieldsRule, named, rule, sessionKeyText, type Shape, text, integerBetween } from '../../api/fields.ts'
import { type Flaw, flawed, parsed, type Parsed } from '../../domain/input.ts'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { MAX_TIMEOUT_SECONDS } from '../../domain/run/timeouts.ts'
import { executor, executorInput } from '../../executors/schema.ts'
import { guardRails, guardRailsInput } from '../access/restrictions-schema.ts'
import { errorCode, usage } from '../runs/schema.ts'
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
  description: text(0, 10_000).optional().describe('Free-text description.'),
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
    .describe('Context window of the model, in tokens. Beyond it, the oldest messages are left out.'),
  default_session: sessionKeyText.nullish().describe('Default session, for messages that name none.'),
  provider: providerNameText
    .nullish()
    .describe('Provider that the agent calls. All agents with this provider share its quotas.'),
  self_service: guardRailsInput
    .nullish()
    .describe(
      "Limits for what the agent's attempts may create on their own. Null or omitted: attempts get no key and create nothing.",
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

export const agentTestInput = named(
  'AgentTestInput',
  z.strictObject({
    text: text(1, 100_000).optional().describe('Message to send. Default: Reply with OK.'),
    wait_seconds: integerBetween(1, 300).optional().describe('How long to wait for the result. Default: 30.'),
  }),
  'A test message for an agent.',
)
export type AgentTestInput = Shape<typeof agentTestInput>

export const agentTest = named(
  'AgentTest',
  z.strictObject({
    run_id: z.string().describe('The run of the test.'),
    status: z.enum(RUN_STATES).describe('State of the run when the time was up; the run is then cancelled.'),
    ok: z.boolean().describe('Whether the agent answered.'),
    output: anyJson.describe('Its answer.'),
    error_code: errorCode.nullable(),
    problem: z.string().nullable().describe('Why the agent did not answer. Null: it answered.'),
    duration_ms: z.int().nullable(),
    usage: usage.nullable(),
  }),
  'The result of testing an agent.',
)
export type AgentTest = Shape<typeof agentTest>

export const agentStatsFilter = z.strictObject({
  days: integerBetween(1, 90).optional().describe('Number of days, including today. Default: 14.'),
})
export type AgentStatsFilter = Shape<typeof agentStatsFilter>

const dayFigures = {
  runs: z.int().describe('Runs that were executed or cancelled.'),
  success: z.int().describe('Those that succeeded.'),
  duration_p50_ms: z.number().nullable().describe('Median duration. Null: no run ended.'),
  duration_p95_ms: z.number().nullable().describe('95th percentile of the duration.'),
  tokens: z.number().describe('Input and output tokens.'),
  cost: z.number().describe('In units of the currency.'),
}

export const agentStats = named(
  'AgentStats',
  z.strictObject({
    agent_id: z.string(),
    from: isoTime,
    to: isoTime,
    total: z.strictObject(dayFigures),
    days: z
      .array(z.strictObject({ at: isoTime.describe('Start of the day in UTC.'), ...dayFigures }))
      .describe('One entry per day, including days without runs.'),
  }),
  'Runs of an agent by the UTC day in which they were created. Counts only stored runs: see `retention.run_days`.',
)
export type AgentStats = Shape<typeof agentStats>

/** Ids separated by commas, at most as many as a page of agents has. */
export const agentOutcomesFilter = z.strictObject({
  ids: z.string().min(1).max(50_000),
  limit: z.int().min(1).max(50).optional().describe('Number of runs per agent. Default: 20.'),
})
export type AgentOutcomesFilter = Shape<typeof agentOutcomesFilter>

export const agentOutcomes = named(
  'AgentOutcomes',
  z.strictObject({
    items: z.array(
      z.strictObject({
        agent_id: z.string(),
        runs: z.array(z.strictObject({ id: z.string(), status: z.enum(RUN_STATES), created_at: isoTime })),
      }),
    ),
  }),
  'The last runs of agents, newest first.',
)
export type AgentOutcomes = Shape<typeof agentOutcomes>
