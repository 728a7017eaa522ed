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
  /** The share by which a wait may be shorter or longer: 0.25 gives 0.75…1.25. */
  readonly jitter: number
  /** The waits of strategy `ladder`. The last one repeats. */
  readonly ladderSeconds: readonly number[]
  /** What was left out of the policy of an agent or a schedule: the deployment's `retry.*` decides it when a run is made. */
  readonly leftOut?: readonly LeftOut[]
}

const DEPLOYMENT_FIELDS = ['max_retries', 'base_ms', 'max_ms', 'jitter'] as const
type LeftOut = (typeof DEPLOYMENT_FIELDS)[number]

export const DEFAULT_LADDER_SECONDS: readonly number[] = [30, 60, 300, 900, 3600]

/** What an agent's turn gets unless the schedule or agent says otherwise: waits of about 2, 4 and 8 s. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 3,
  strategy: 'exponential',
  baseMs: 2_000,
  maxMs: 30_000,
  jitter: 0.25,
  ladderSeconds: DEFAULT_LADDER_SECONDS,
}

/** Nobody waits longer than this for a retry; a longer wait is a schedule. */
export const MAX_WAIT_MS = 86_400_000

export const MAX_RETRIES = 1_000
export const MAX_LADDER_STEPS = 20

const FIELDS = {
  max_retries: integerField({ min: 0, max: MAX_RETRIES }),
  strategy: wordField(RETRY_STRATEGIES),
  base_ms: integerField({ min: 1, max: MAX_WAIT_MS }),
  max_ms: integerField({ min: 1, max: MAX_WAIT_MS }),
  jitter: parseShare,
  ladder_seconds: parseLadder,
}

type Fields = FieldsOf<typeof FIELDS>

/** A retry policy as it is given: what is left out has a default. */
export type GivenPolicy = { readonly [Name in keyof Fields]?: Fields[Name] | undefined }

/** What is wrong between the fields of a policy. Single fields may be wrong, too. */
export function policyFlaws({ strategy, base_ms: base, max_ms: max }: GivenPolicy): readonly Flaw[] {
  const { strategy: usual, baseMs } = DEFAULT_RETRY_POLICY
  const first = base ?? baseMs
  // A longest wait that is left out never contradicts the first wait.
  if ((strategy ?? usual) !== 'exponential' || max === undefined || !(max < first)) return []
  return [{ field: 'max_ms', value: max, message: `is below base_ms, ${first}` }]
}

/**
 * The policy that is given. What is left out comes from `base`; a ladder without `max_retries` is climbed once. A fixed
 * wait or a ladder is exact unless jitter is asked for: 30 s means 30 s.
 */
export function policyOf(given: GivenPolicy, base = DEFAULT_RETRY_POLICY): RetryPolicy {
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

/** The same of an agent or a schedule, which is kept with what it leaves out. */
export function keptPolicyOf(given: GivenPolicy, base = DEFAULT_RETRY_POLICY): RetryPolicy {
  const leftOut = DEPLOYMENT_FIELDS.filter((name) => given[name] === undefined)
  const policy = policyOf(given, base)
  return leftOut.length === 0 ? policy : { ...policy, leftOut }
}

/** Reads a retry policy. */
export function parseRetryPolicy(field: string, value: unknown, base = DEFAULT_RETRY_POLICY): Parsed<RetryPolicy> {
  const read = parseGiven(field, value)
  return read.ok ? parsed(policyOf(read.value, base)) : read
}

/** Reads the retry policy of an agent or a schedule. */
export function parseKeptPolicy(field: string, value: unknown, base = DEFAULT_RETRY_POLICY): Parsed<RetryPolicy> {
  const read = parseGiven(field, value)
  return read.ok ? parsed(keptPolicyOf(read.value, base)) : read
}

function parseGiven(field: string, value: unknown): Parsed<GivenPolicy> {
  const read = parseFields(field, value, FIELDS)
  if (!read.ok) return read
  const flaws = policyFlaws(read.value).map((flaw) => ({ ...flaw, field: `${field}.${flaw.field}` }))
  return flaws.length > 0 ? flawed(flaws) : read
}

/**
 * A policy as it is in force: what it leaves out is what the deployment has now. A number of retries that is 0 because of
 * what is woken, or the length of a ladder, is no default of the deployment and stays.
 */
export function policyInForce(kept: RetryPolicy, deployment: RetryPolicy): RetryPolicy {
  const { leftOut = [], ...policy } = kept
  if (leftOut.length === 0) return kept
  const isLeftOut = (name: LeftOut): boolean => leftOut.includes(name)
  const { strategy } = policy
  const retriesStay = !isLeftOut('max_retries') || policy.maxRetries === 0 || strategy === 'ladder'
  const wanted = isLeftOut('base_ms') ? deployment.baseMs : policy.baseMs
  const maxMs = isLeftOut('max_ms') ? Math.max(deployment.maxMs, wanted) : policy.maxMs
  return {
    ...policy,
    maxRetries: retriesStay ? policy.maxRetries : deployment.maxRetries,
    // A first wait that nobody wrote must not contradict a longest wait that somebody did.
    baseMs: strategy === 'exponential' ? Math.min(wanted, maxMs) : wanted,
    maxMs,
    jitter: isLeftOut('jitter') && strategy === 'exponential' ? deployment.jitter : policy.jitter,
  }
}

/** A row with its own policy as it is in force; one without is as it is. */
export const withPolicyInForce = <T extends { readonly retryPolicy: RetryPolicy | null }>(
  row: T,
  deployment: RetryPolicy,
): T => (row.retryPolicy === null ? row : { ...row, retryPolicy: policyInForce(row.retryPolicy, deployment) })

/** Reads the share by which a wait may be shorter or longer. */
export function parseShare(field: string, value: unknown): Parsed<number> {
  return typeof value === 'number' && value >= 0 && value < 1
    ? parsed(value)
    : flawed({ field, value, message: 'must be a share', allowed: 'a number from 0 to below 1' })
}

/** Reads a list of waits in whole seconds. */
export function parseLadder(field: string, value: unknown): Parsed<readonly number[]> {
  const allowed = `a list of 1 to ${MAX_LADDER_STEPS} whole seconds from 1 to ${MAX_WAIT_MS / 1000}`
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_LADDER_STEPS)
    return flawed({ field, value, message: 'must be a list of seconds', allowed })
  const steps: readonly unknown[] = value
  const bad = steps.findIndex((step) => !parseInteger(field, step, { min: 1, max: MAX_WAIT_MS / 1000 }).ok)
  if (bad >= 0) return flawed({ field: `${field}.${bad}`, value: steps[bad], message: 'is not a wait', allowed })
  return parsed(steps as readonly number[])
}
