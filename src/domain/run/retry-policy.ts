import {
  flawed,
  integerField,
  parsed,
  parseFields,
  parseInteger,
  wordField,
  type FieldsOf,
  type Flaw,
  type Parsed,
} from '../input.ts'

export const RETRY_STRATEGIES = ['fixed', 'exponential', 'ladder'] as const
export type RetryStrategy = (typeof RETRY_STRATEGIES)[number]

export interface RetryPolicy {
  /** Retries after the first attempt. 0 means none. */
  readonly maxRetries: number
  readonly strategy: RetryStrategy
  readonly baseMs: number
  readonly maxMs: number
  /** The fraction by which a wait may vary: 0.25 gives 0.75 to 1.25. */
  readonly jitter: number
  /** The waits of strategy `ladder`; the last one repeats. */
  readonly ladderSeconds: readonly number[]
  /**
   * The fields that the policy of an agent or schedule omits; the deployment's `retry.*` supplies them when a run is
   * created.
   */
  readonly leftOut?: readonly OmittedField[]
}

const DEPLOYMENT_FIELDS = ['max_retries', 'base_ms', 'max_ms', 'jitter'] as const
type OmittedField = (typeof DEPLOYMENT_FIELDS)[number]

export const DEFAULT_LADDER_SECONDS: readonly number[] = [30, 60, 300, 900, 3600]

/** The default policy of agent runs: waits of about 2, 4 and 8 s. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 3,
  strategy: 'exponential',
  baseMs: 2_000,
  maxMs: 30_000,
  jitter: 0.25,
  ladderSeconds: DEFAULT_LADDER_SECONDS,
}

/** The maximum wait before a retry. */
export const MAX_WAIT_MS = 86_400_000

export const MAX_RETRIES = 1_000
export const MAX_LADDER_STEPS = 20

const FIELDS = {
  max_retries: integerField({ min: 0, max: MAX_RETRIES }),
  strategy: wordField(RETRY_STRATEGIES),
  base_ms: integerField({ min: 1, max: MAX_WAIT_MS }),
  max_ms: integerField({ min: 1, max: MAX_WAIT_MS }),
  jitter: parseFraction,
  ladder_seconds: parseLadder,
}

type Fields = FieldsOf<typeof FIELDS>

/** A retry policy from a request; omitted fields get defaults. */
export type GivenPolicy = { readonly [Name in keyof Fields]?: Fields[Name] | undefined }

/** Flaws of fields in combination; each may also be invalid by itself. */
export function policyFlaws({ strategy, base_ms: base, max_ms: max }: GivenPolicy): readonly Flaw[] {
  const { strategy: defaultStrategy, baseMs } = DEFAULT_RETRY_POLICY
  const first = base ?? baseMs
  // An omitted max_ms never contradicts base_ms.
  if ((strategy ?? defaultStrategy) !== 'exponential' || max === undefined || !(max < first)) return []
  return [{ field: 'max_ms', value: max, message: `is below base_ms, which is ${first}` }]
}

/**
 * Completes a policy with the fields of `base`; a ladder without `max_retries` is used once. Fixed and ladder waits
 * have no jitter unless it is given.
 */
export function completePolicy(given: GivenPolicy, base = DEFAULT_RETRY_POLICY): RetryPolicy {
  const strategy = given.strategy ?? base.strategy
  const ladderSeconds = given.ladder_seconds ?? base.ladderSeconds
  const baseMs = given.base_ms ?? base.baseMs
  return {
    strategy,
    ladderSeconds,
    maxRetries: given.max_retries ?? (strategy === 'ladder' ? ladderSeconds.length : base.maxRetries),
    baseMs,
    maxMs: given.max_ms ?? Math.max(base.maxMs, baseMs),
    jitter: given.jitter ?? (strategy === 'exponential' ? base.jitter : 0),
  }
}

/** Completes the policy of an agent or schedule and stores which fields were omitted. */
export function storedPolicyOf(given: GivenPolicy, base = DEFAULT_RETRY_POLICY): RetryPolicy {
  const leftOut = DEPLOYMENT_FIELDS.filter((name) => given[name] === undefined)
  const policy = completePolicy(given, base)
  return leftOut.length === 0 ? policy : { ...policy, leftOut }
}

/** Reads a retry policy. */
export function parseRetryPolicy(field: string, value: unknown, base = DEFAULT_RETRY_POLICY): Parsed<RetryPolicy> {
  const read = parseGivenPolicy(field, value)
  return read.ok ? parsed(completePolicy(read.value, base)) : read
}

/** Reads the retry policy of an agent or a schedule. */
export function parseStoredPolicy(field: string, value: unknown, base = DEFAULT_RETRY_POLICY): Parsed<RetryPolicy> {
  const read = parseGivenPolicy(field, value)
  return read.ok ? parsed(storedPolicyOf(read.value, base)) : read
}

function parseGivenPolicy(field: string, value: unknown): Parsed<GivenPolicy> {
  const read = parseFields(field, value, FIELDS)
  if (!read.ok) return read
  const flaws = policyFlaws(read.value).map((flaw) => ({ ...flaw, field: `${field}.${flaw.field}` }))
  return flaws.length > 0 ? flawed(flaws) : read
}

/**
 * The effective policy: omitted fields come from the deployment. A `max_retries` of 0 because of the kind of
 * executor, or of the length of a ladder, does not come from the deployment and stays.
 */
export function effectivePolicy(stored: RetryPolicy, deployment: RetryPolicy): RetryPolicy {
  const { leftOut = [], ...policy } = stored
  if (leftOut.length === 0) return stored
  const isLeftOut = (name: OmittedField): boolean => leftOut.includes(name)
  const { strategy } = policy
  const retriesStay = !isLeftOut('max_retries') || policy.maxRetries === 0 || strategy === 'ladder'
  const wanted = isLeftOut('base_ms') ? deployment.baseMs : policy.baseMs
  const maxMs = isLeftOut('max_ms') ? Math.max(deployment.maxMs, wanted) : policy.maxMs
  return {
    ...policy,
    maxRetries: retriesStay ? policy.maxRetries : deployment.maxRetries,
    // A default base_ms must not exceed an explicit max_ms.
    baseMs: strategy === 'exponential' ? Math.min(wanted, maxMs) : wanted,
    maxMs,
    jitter: isLeftOut('jitter') && strategy === 'exponential' ? deployment.jitter : policy.jitter,
  }
}

/** Replaces a row's own policy with the effective one. */
export const withEffectivePolicy = <T extends { readonly retryPolicy: RetryPolicy | null }>(
  row: T,
  deployment: RetryPolicy,
): T => (row.retryPolicy === null ? row : { ...row, retryPolicy: effectivePolicy(row.retryPolicy, deployment) })

/** Reads a jitter fraction. */
export function parseFraction(field: string, value: unknown): Parsed<number> {
  return typeof value === 'number' && value >= 0 && value < 1
    ? parsed(value)
    : flawed({ field, value, message: 'must be a fraction', allowed: 'a number from 0 to less than 1' })
}

/** Reads a list of waits in whole seconds. */
export function parseLadder(field: string, value: unknown): Parsed<readonly number[]> {
  const allowed = `a list of 1 to ${MAX_LADDER_STEPS} whole seconds from 1 to ${MAX_WAIT_MS / 1000}`
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_LADDER_STEPS)
    return flawed({ field, value, message: 'must be a list of durations in whole seconds', allowed })
  const steps: readonly unknown[] = value
  const bad = steps.findIndex((step) => !parseInteger(field, step, { min: 1, max: MAX_WAIT_MS / 1000 }).ok)
  if (bad >= 0)
    return flawed({ field: `${field}.${bad}`, value: steps[bad], message: 'is not a valid duration', allowed })
  return parsed(steps as readonly number[])
}
