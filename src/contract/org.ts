/** A new org. */
export interface OrgInput {
  /** A short name for paths and settings; made when it is left out. */
  readonly id?: string
  readonly name: string
  /** The zone of its schedules, budgets and days; the deployment's unless given. */
  readonly default_timezone?: string
  /** Limits; null or left out: none. */
  readonly max_concurrent?: number | null
  readonly max_schedules?: number | null
  readonly runs_per_day?: number | null
  /** The longest `timeout_seconds` that a schedule or agent may state, and the longest that an attempt takes. */
  readonly max_timeout_seconds?: number | null
  /** Also create an owner key of the org, which is shown once in the answer. */
  readonly with_key?: boolean
}

/** What may change about an org. */
export interface OrgPatch extends Partial<Omit<OrgInput, 'id' | 'with_key'>> {
  /** Whom work wakes that names nobody. */
  readonly default_agent_id?: string | null
}

/** An org as every surface shows it. */
export interface OrgView {
  readonly id: string
  readonly name: string
  readonly default_timezone: string
  readonly default_agent_id: string | null
  readonly max_concurrent: number | null
  readonly max_schedules: number | null
  readonly runs_per_day: number | null
  readonly max_timeout_seconds: number | null
  readonly created_at: string
}

/** An org that was just created. */
export interface CreatedOrg extends OrgView {
  /** Its first key, when it was asked for. `key` is null in the answer to a repeated request: the text is not kept. */
  readonly first_key?: { readonly id: string; readonly key: string | null } | undefined
}
