import { describe, expect, it } from 'vitest'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { schedulePatch } from '../../../src/features/schedules/schema.ts'
import { policiesFrom, RULE_FIELDS, type Policies } from '../../../src/domain/schedule/rule-fields.ts'
import { DEFAULT_SCHEDULE_RULES } from '../../../src/domain/schedule/rules.ts'

function read(value: unknown, base = DEFAULT_RETRY_POLICY): Policies {
  const fields = readShape(schedulePatch, value)
  const answer = fields.ok ? policiesFrom(fields.value, base) : fields
  if (!answer.ok) throw new Error(JSON.stringify(answer.flaws))
  return answer.value
}

const EVERY_FIELD = {
  misfire_policy: 'fire_now',
  catchup_limit: 7,
  catchup_window_seconds: 60,
  overlap_action: 'Buffer_One',
  max_parallel: 4,
  failure_action: 'HALF_OPEN',
  failure_options: { ladder_seconds: [1, 2], threshold: 5, cooldown_seconds: 9 },
  concurrency_policy: 'parallel',
  max_concurrency: 3,
  queue_depth: 0,
  max_fires: 12,
  alert_after: 4,
  max_lateness_seconds: 0,
  retry_policy: { max_retries: 2, strategy: 'fixed', base_ms: 10 },
}

describe('the policies of a schedule', () => {
  it('have their defaults where nothing is said', () => {
    expect(read({})).toEqual({ rules: DEFAULT_SCHEDULE_RULES, retryPolicy: null })
    expect(DEFAULT_SCHEDULE_RULES).toMatchObject({
      misfirePolicy: 'CATCH_UP_LIMITED',
      catchupLimit: 1,
      overlapAction: 'ALLOW',
      failureAction: 'RUN_NEW',
      failureOptions: { ladderSeconds: [30, 60, 300, 900, 3600], threshold: 3, cooldownSeconds: 300 },
      concurrencyPolicy: 'QUEUE',
      maxConcurrency: 1,
      queueDepth: 10,
    })
  })

  it('are taken as they are written, every one of them', () => {
    // How far starts are spread is measured against the timing.
    const rules = RULE_FIELDS.filter((name) => name !== 'jitter_ms')
    expect(Object.keys(EVERY_FIELD).toSorted()).toEqual([...rules, 'retry_policy'].toSorted())
    expect(read(EVERY_FIELD)).toEqual({
      rules: {
        misfirePolicy: 'FIRE_NOW',
        catchupLimit: 7,
        catchupWindowSeconds: 60,
        overlapAction: 'BUFFER_ONE',
        maxParallel: 4,
        failureAction: 'HALF_OPEN',
        failureOptions: { ladderSeconds: [1, 2], threshold: 5, cooldownSeconds: 9 },
        concurrencyPolicy: 'PARALLEL',
        maxConcurrency: 3,
        queueDepth: 0,
        ownMaxRetries: 2,
        maxFires: 12,
        jitterMs: 0,
        alertAfter: 4,
        maxLatenessSeconds: 0,
      },
      retryPolicy: {
        ...{ ...DEFAULT_RETRY_POLICY, maxRetries: 2, strategy: 'fixed', baseMs: 10, jitter: 0 },
        leftOut: ['max_ms', 'jitter'],
      },
    })
  })

  it('keep the defaults of failure options that are left out', () => {
    const { ladderSeconds, cooldownSeconds } = DEFAULT_SCHEDULE_RULES.failureOptions
    expect(read({ failure_options: { threshold: 1 } }).rules.failureOptions).toEqual({
      ladderSeconds,
      threshold: 1,
      cooldownSeconds,
    })
  })

  it('take null for none where none is possible', () => {
    const none = { catchup_window_seconds: null, max_parallel: null, max_fires: null, retry_policy: null }
    expect(read(none)).toEqual(read({}))
  })
})

describe('the number of retries that limits failure action RETRY', () => {
  it.each([
    [{ max_retries: 2 }, 2],
    [{ max_retries: 0 }, 0],
    [{ strategy: 'fixed' }, null],
    [{ strategy: 'ladder' }, null],
    [{ max_retries: undefined }, null],
    [null, null],
  ])('is only one that was written: %j → %s', (retryPolicy, expected) => {
    expect(read({ retry_policy: retryPolicy }).rules.ownMaxRetries).toBe(expected)
  })

  it('is apart from what the policy has by default, which depends on what is woken', () => {
    const inline = { ...DEFAULT_RETRY_POLICY, maxRetries: 0 }
    expect(read({ retry_policy: { base_ms: 5 } }).retryPolicy?.maxRetries).toBe(3)
    expect(read({ retry_policy: { base_ms: 5 } }, inline).retryPolicy?.maxRetries).toBe(0)
    expect(read({ retry_policy: { strategy: 'ladder' } }, inline).retryPolicy?.maxRetries).toBe(5)
  })
})
