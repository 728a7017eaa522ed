import { z } from 'zod'
import { parseProviderName } from '../../core/quota/provider-name.ts'
import { MOST_REQUESTS_PER_MINUTE, MOST_TOKENS_PER_MINUTE, QUOTA_WORDS } from '../../core/quota/quota.ts'
import { moment, pageOf } from '../../api/common.ts'
import { rule, whole } from '../../api/fields.ts'
import { named, type Shape } from '../../contract/shape.ts'

/** The name of a provider, as agents and addresses have it. */
export const providerNameText = z.string().min(1).max(100).check(rule(parseProviderName))

const ABOUT = {
  name: 'The name agents refer to. It cannot be changed.',
  requests: 'Requests per minute, one per attempt. Null: unlimited.',
  tokens: 'Tokens per minute, as runs report them. Null: unlimited.',
  attempts: 'Concurrent attempts. Null: unlimited.',
}

const quotas = {
  requests_per_minute: whole(1, MOST_REQUESTS_PER_MINUTE).nullish().describe(ABOUT.requests),
  tokens_per_minute: whole(1, MOST_TOKENS_PER_MINUTE).nullish().describe(ABOUT.tokens),
  max_concurrent: whole(1, 1_000_000).nullish().describe(ABOUT.attempts),
}

export const providerInput = named(
  'ProviderInput',
  z.strictObject({ ...quotas, name: providerNameText.describe(ABOUT.name) }),
  'Agents name it in their field `provider`; all of them share its quotas.',
)
export type ProviderInput = Shape<typeof providerInput>

export const providerPatch = named('ProviderPatch', z.strictObject(quotas), 'A change of the quotas of a provider.')
export type ProviderPatch = Shape<typeof providerPatch>

export const provider = named(
  'Provider',
  z.strictObject({
    name: z.string().describe(ABOUT.name),
    org_id: z.string(),
    requests_per_minute: z.int().nullable().describe(ABOUT.requests),
    tokens_per_minute: z.int().nullable().describe(ABOUT.tokens),
    max_concurrent: z.int().nullable().describe(ABOUT.attempts),
    requests_left: z.int().nullable().describe('Requests that may start now. Null: unlimited.'),
    tokens_left: z.int().nullable().describe('Tokens left; negative when overdrawn. Null: unlimited.'),
    in_flight: z.int().describe('Attempts in flight.'),
    waiting: z.int().describe('Queued runs.'),
    closed: z
      .strictObject({ quota: z.enum(QUOTA_WORDS), until: moment })
      .nullable()
      .describe('The exhausted quota and when it opens again. Null: open.'),
    agents: z.array(z.string()).describe('Ids of its agents, at most 100.'),
    created_at: moment,
    updated_at: moment,
  }),
  'A provider, what is left of its quotas, and its queued runs.',
)
export type ProviderView = Shape<typeof provider>

export const providerPage = pageOf('ProviderPage', provider)
