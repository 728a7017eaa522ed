import { z } from 'zod'
import {
  MAX_REQUESTS_PER_MINUTE,
  MAX_TOKENS_PER_MINUTE,
  parseProviderName,
  QUOTA_CAUSES,
} from '../../domain/budget/quota.ts'
import { isoTime, pageOf } from '../../api/common.ts'
import { named, rule, type Shape, integerBetween } from '../../api/fields.ts'

/** The name of a provider, in agents and in URLs. */
export const providerNameText = z.string().min(1).max(100).check(rule(parseProviderName))

const DESCRIPTIONS = {
  name: 'Name that agents refer to. It cannot be changed.',
  requests: 'Requests per minute, one per attempt. Null: unlimited.',
  tokens: 'Tokens per minute, as runs report them. Null: unlimited.',
  attempts: 'Concurrent attempts. Null: unlimited.',
}

const quotas = {
  requests_per_minute: integerBetween(1, MAX_REQUESTS_PER_MINUTE).nullish().describe(DESCRIPTIONS.requests),
  tokens_per_minute: integerBetween(1, MAX_TOKENS_PER_MINUTE).nullish().describe(DESCRIPTIONS.tokens),
  max_concurrent: integerBetween(1, 1_000_000).nullish().describe(DESCRIPTIONS.attempts),
}

export const providerInput = named(
  'ProviderInput',
  z.strictObject({ ...quotas, name: providerNameText.describe(DESCRIPTIONS.name) }),
  'A provider to create. Agents refer to it in their field `provider` and share its quotas.',
)
export type ProviderInput = Shape<typeof providerInput>

export const providerPatch = named('ProviderPatch', z.strictObject(quotas), 'Changes of the quotas of a provider.')
export type ProviderPatch = Shape<typeof providerPatch>

export const provider = named(
  'Provider',
  z.strictObject({
    name: z.string().describe(DESCRIPTIONS.name),
    org_id: z.string(),
    requests_per_minute: z.int().nullable().describe(DESCRIPTIONS.requests),
    tokens_per_minute: z.int().nullable().describe(DESCRIPTIONS.tokens),
    max_concurrent: z.int().nullable().describe(DESCRIPTIONS.attempts),
    requests_left: z.int().nullable().describe('Requests that may start now. Null: unlimited.'),
    tokens_left: z.int().nullable().describe('Tokens left; negative when overdrawn. Null: unlimited.'),
    in_flight: z.int().describe('Attempts in flight.'),
    waiting: z.int().describe('Queued runs.'),
    closed: z
      .strictObject({ quota: z.enum(QUOTA_CAUSES), until: isoTime })
      .nullable()
      .describe('The exhausted quota and when it opens again. Null: open.'),
    agents: z.array(z.string()).describe('Ids of its agents, at most 100.'),
    created_at: isoTime,
    updated_at: isoTime,
  }),
  'A provider with its remaining quotas and queued runs.',
)
export type ProviderView = Shape<typeof provider>

export const providerPage = pageOf('ProviderPage', provider)
