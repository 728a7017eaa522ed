import type { QuotaWord } from '../core/quota/quota.ts'

/** A new provider: a service that several agents call, and what it lets all of them do together. */
export interface ProviderInput {
  /** What agents call it; it never changes. */
  readonly name: string
  /** Requests a minute, one for each attempt; null: any number. */
  readonly requests_per_minute?: number | null
  /** Tokens a minute, as runs report them; null: any number. */
  readonly tokens_per_minute?: number | null
  /** Attempts at a time; null: any number. */
  readonly max_concurrent?: number | null
}

/** What may change about a provider: its quotas. */
export type ProviderPatch = Partial<Omit<ProviderInput, 'name'>>

/** A provider, how full its buckets are and what waits for it. */
export interface ProviderView extends Required<ProviderInput> {
  readonly org_id: string
  /** Requests that may start at once; null: any number. */
  readonly requests_left: number | null
  /** Tokens that are left; below 0 what is owed; null: any number. */
  readonly tokens_left: number | null
  /** Attempts that call it now. */
  readonly in_flight: number
  /** Queued runs that call it. */
  readonly waiting: number
  /** What holds its work up and until when; null: nothing does. */
  readonly closed: { readonly quota: QuotaWord; readonly until: string } | null
  /** The agents that call it, by id; a hundred at most. */
  readonly agents: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

/** Providers, as a program that embeds Escapement reaches them. */
export interface Providers {
  readonly create: (input: ProviderInput) => Promise<ProviderView>
  readonly get: (name: string) => Promise<ProviderView>
  readonly list: () => Promise<readonly ProviderView[]>
  readonly update: (name: string, change: ProviderPatch) => Promise<ProviderView>
  readonly delete: (name: string) => Promise<void>
}
