import { integerField, orNull, parsed, parseFields, wordField, type Parsed } from '../input.ts'
import { DEFAULT_RETRY_POLICY, parseLadder, parseKeptPolicy, type RetryPolicy } from '../run/retry-policy.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
  type FailureOptions,
  type ScheduleRules,
} from './schedule-rules.ts'

const DAY_SECONDS = 86_400

const FAILURE_OPTION_FIELDS = {
  ladder_seconds: parseLadder,
  threshold: integerField({ min: 1, max: 1_000 }),
  cooldown_seconds: integerField({ min: 1, max: 30 * DAY_SECONDS }),
}

const FIELDS = {
  misfire_policy: wordField(MISFIRE_POLICIES),
  catchup_limit: integerField({ min: 1, max: 10_000 }),
  catchup_window_seconds: orNull(integerField({ min: 0, max: 366 * DAY_SECONDS })),
  overlap_action: wordField(OVERLAP_ACTIONS),
  max_parallel: orNull(integerField({ min: 1, max: 10_000 })),
  failure_action: wordField(FAILURE_ACTIONS),
  failure_options: parseFailureOptions,
  concurrency_policy: wordField(CONCURRENCY_POLICIES),
  max_concurrency: integerField({ min: 1, max: 10_000 }),
  queue_depth: integerField({ min: 0, max: 100_000 }),
  max_fires: orNull(integerField({ min: 1 })),
  alert_after: orNull(integerField({ min: 1, max: 1_000_000 })),
  max_lateness_seconds: orNull(integerField({ min: 0, max: 366 * DAY_SECONDS })),
}

export const SCHEDULE_RULE_FIELDS: readonly string[] = [...Object.keys(FIELDS), 'retry_policy']

export interface ReadScheduleRules {
  readonly rules: ScheduleRules
  /** The schedule's own, or null: then what it wakes decides. */
  readonly retryPolicy: RetryPolicy | null
}

/**
 * Reads the policies of a schedule, with defaults for what is left out. Policy words may be written in any case. What a
 * retry policy leaves out comes from `retryBase`, because the default number of retries depends on what is woken.
 */
export function parseScheduleRules(value: unknown, retryBase = DEFAULT_RETRY_POLICY): Parsed<ReadScheduleRules> {
  const read = parseFields('', value, {
    ...FIELDS,
    retry_policy: orNull((field, given) => parseOwnRetryPolicy(field, given, retryBase)),
  })
  if (!read.ok) return read
  const given = read.value
  const base = DEFAULT_SCHEDULE_RULES
  return parsed({
    retryPolicy: given.retry_policy?.policy ?? null,
    rules: {
      misfirePolicy: given.misfire_policy ?? base.misfirePolicy,
      catchupLimit: given.catchup_limit ?? base.catchupLimit,
      catchupWindowSeconds: given.catchup_window_seconds ?? base.catchupWindowSeconds,
      overlapAction: given.overlap_action ?? base.overlapAction,
      maxParallel: given.max_parallel ?? base.maxParallel,
      failureAction: given.failure_action ?? base.failureAction,
      failureOptions: given.failure_options ?? base.failureOptions,
      concurrencyPolicy: given.concurrency_policy ?? base.concurrencyPolicy,
      maxConcurrency: given.max_concurrency ?? base.maxConcurrency,
      queueDepth: given.queue_depth ?? base.queueDepth,
      maxFires: given.max_fires ?? base.maxFires,
      ownMaxRetries: given.retry_policy?.ownMaxRetries ?? null,
      jitterMs: base.jitterMs,
      alertAfter: given.alert_after ?? null,
      maxLatenessSeconds: given.max_lateness_seconds ?? null,
    },
  })
}

interface OwnRetryPolicy {
  readonly policy: RetryPolicy
  readonly ownMaxRetries: number | null
}

/** Only a number that was written limits failure action RETRY; the one that a policy has by default does not. */
function parseOwnRetryPolicy(field: string, value: unknown, base: RetryPolicy): Parsed<OwnRetryPolicy> {
  const read = parseKeptPolicy(field, value, base)
  if (!read.ok) return read
  const isWritten =
    typeof value === 'object' && value !== null && 'max_retries' in value && value.max_retries !== undefined
  return parsed({ policy: read.value, ownMaxRetries: isWritten ? read.value.maxRetries : null })
}

function parseFailureOptions(field: string, value: unknown): Parsed<FailureOptions> {
  const read = parseFields(field, value, FAILURE_OPTION_FIELDS)
  if (!read.ok) return read
  const base = DEFAULT_SCHEDULE_RULES.failureOptions
  return parsed({
    ladderSeconds: read.value.ladder_seconds ?? base.ladderSeconds,
    threshold: read.value.threshold ?? base.threshold,
    cooldownSeconds: read.value.cooldown_seconds ?? base.cooldownSeconds,
  })
}
