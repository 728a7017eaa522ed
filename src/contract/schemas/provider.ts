import { z } from 'zod'
import { MOST_REQUESTS_PER_MINUTE, MOST_TOKENS_PER_MINUTE, QUOTA_WORDS } from '../../core/quota/quota.ts'
import type { ProviderInput, ProviderPatch, ProviderView } from '../provider.ts'
import { moment, pageOf } from './common.ts'
import { named, shaped } from './shaped.ts'

/** The name of a provider, as agents and addresses have it. */
export const providerNameText = z.string().min(1).max(100)

const quotas = {
  requests_per_minute: z.int().min(1).max(MOST_REQUESTS_PER_MINUTE).nullish(),
  tokens_per_minute: z.int().min(1).max(MOST_TOKENS_PER_MINUTE).nullish(),
  max_concurrent: z.int().min(1).max(1_000_000).nullish(),
}

export const providerInput: z.ZodType<ProviderInput> = named(
  'ProviderInput',
  shaped<ProviderInput>()({ ...quotas, name: providerNameText }),
  'Agents name it in their field `provider`; all of them share its quotas.',
)

export const providerPatch: z.ZodType<ProviderPatch> = named('ProviderPatch', shaped<ProviderPatch>()(quotas))

export const provider: z.ZodType<ProviderView> = named(
  'Provider',
  shaped<ProviderView>()({
    name: z.string(),
    org_id: z.string(),
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    max_concurrent: z.int().nullable(),
    requests_left: z.int().nullable(),
    tokens_left: z.int().nullable(),
    in_flight: z.int(),
    waiting: z.int(),
    closed: z.strictObject({ quota: z.enum(QUOTA_WORDS), until: moment }).nullable(),
    agents: z.array(z.string()),
    created_at: moment,
    updated_at: moment,
  }),
)

export const providerPage = pageOf('ProviderPage', provider)
