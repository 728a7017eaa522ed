import { z } from 'zod'
import { MOST_REQUESTS_PER_MINUTE, MOST_TOKENS_PER_MINUTE, QUOTA_WORDS } from '../core/quota/quota.ts'
import { moment, pageOf } from './common.ts'
import { named, type Shape } from './shape.ts'

/** The name of a provider, as agents and addresses have it. */
export const providerNameText = z.string().min(1).max(100)

const quotas = {
  requests_per_minute: z
    .int()
    .min(1)
    .max(MOST_REQUESTS_PER_MINUTE)
    .nullish()
    .describe('Requests a minute, one for each attempt; null: any number.'),
  tokens_per_minute: z
    .int()
    .min(1)
    .max(MOST_TOKENS_PER_MINUTE)
    .nullish()
    .describe('Tokens a minute, as runs report them; null: any number.'),
  max_concurrent: z.int().min(1).max(1_000_000).nullish().describe('Attempts at a time; null: any number.'),
}

export const providerInput = named(
  'ProviderInput',
  z.strictObject({ ...quotas, name: providerNameText.describe('What agents call it; it never changes.') }),
  'Agents name it in their field `provider`; all of them share its quotas.',
)
export type ProviderInput = Shape<typeof providerInput>

export const providerPatch = named(
  'ProviderPatch',
  z.strictObject(quotas),
  'What may change about a provider: its quotas.',
)
export type ProviderPatch = Shape<typeof providerPatch>

export const provider = named(
  'Provider',
  z.strictObject({
    name: z.string().describe('What agents call it; it never changes.'),
    org_id: z.string(),
    requests_per_minute: z.int().nullable().describe('Requests a minute, one for each attempt; null: any number.'),
    tokens_per_minute: z.int().nullable().describe('Tokens a minute, as runs report them; null: any number.'),
    max_concurrent: z.int().nullable().describe('Attempts at a time; null: any number.'),
    requests_left: z.int().nullable().describe('Requests that may start at once; null: any number.'),
    tokens_left: z.int().nullable().describe('Tokens that are left; below 0 what is owed; null: any number.'),
    in_flight: z.int().describe('Attempts that call it now.'),
    waiting: z.int().describe('Queued runs that call it.'),
    closed: z
      .strictObject({ quota: z.enum(QUOTA_WORDS), until: moment })
      .nullable()
      .describe('What holds its work up and until when; null: nothing does.'),
    agents: z.array(z.string()).describe('The agents that call it, by id; a hundred at most.'),
    created_at: moment,
    updated_at: moment,
  }),
  'A provider, how full its buckets are and what waits for it.',
)
export type ProviderView = Shape<typeof provider>

export const providerPage = pageOf('ProviderPage', provider)

/** Providers, as a program that embeds Escapement reaches them. */
export interface Providers {
  readonly create: (input: ProviderInput) => Promise<ProviderView>
  readonly get: (name: string) => Promise<ProviderView>
  readonly list: () => Promise<readonly ProviderView[]>
  readonly update: (name: string, change: ProviderPatch) => Promise<ProviderView>
  readonly delete: (name: string) => Promise<void>
}
