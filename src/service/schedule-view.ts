import type { RetryPolicyView } from '../contract/retry-policy.ts'
import type { ScheduleTimingView, ScheduleView } from '../contract/schedule.ts'
import type { ExecutorInput } from '../executors/schema.ts'
import type { OmittedPayload } from '../api/common.ts'
import type { ScheduleDelivery } from '../features/targets/schema.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import { maskedExecutor } from '../core/executor/masked.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { withPolicyInForce, type RetryPolicy } from '../domain/run/retry-policy.ts'
import { ruleFieldsOf } from '../domain/schedule/rule-fields.ts'
import { sentenceFor } from '../core/time/sentence.ts'
import { storeTiming, type StoredTiming } from '../core/time/stored-timing.ts'
import type { Timing } from '../domain/time/timing.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { ownBudgetId, termsIn } from './schedule-budget.ts'
import { viewProbe } from '../features/probes/view.ts'
import { viewApproval } from './rails/approval-view.ts'
import { viewPace } from './schedule-pace.ts'
import { everyField } from './schedule-timing.ts'

/** RFC 3339, or null. */
export const momentOrNull = (at: Instant | null): string | null => (at === null ? null : formatInstant(at))

/** What is shown of a payload that a list leaves out. */
export const omittedPayload = (bytes: number | null | undefined): OmittedPayload =>
  bytes === undefined || bytes === null ? {} : { payload_omitted: true, payload_bytes: bytes }

const NONE: ReadonlySet<string> = new Set()

/** A schedule as every surface shows it. `disabled` are the targets that are switched off. */
export function viewSchedule(row: ScheduleRow, disabled: ReadonlySet<string> = NONE): ScheduleView {
  const delivery = (row.input['delivery'] as ScheduleDelivery | undefined) ?? null
  const view: ScheduleView = {
    id: row.id,
    org_id: row.orgId,
    name: row.name,
    description: row.description,
    agent_id: inlineKindOf(row.agentId) === null ? row.agentId : null,
    executor: executorOf(row),
    kind: row.timing.kind,
    sentence: sentenceFor(row.timing),
    ...viewTiming(row.timing),
    state: row.state,
    // A reminder that failed for good is off; one that has had all its occurrences was never switched off.
    enabled: row.state === 'active' || row.state === 'finished',
    next_run_at: momentOrNull(row.nextRunAt),
    pace: viewPace(row),
    last_run_at: momentOrNull(row.lastRunAt),
    last_status: row.lastStatus as ScheduleView['last_status'],
    last_error: row.lastError,
    failure_streak: row.failureStreak,
    failure_count: row.failureCount,
    alerts: Object.keys(row.alerts ?? {}) as ScheduleView['alerts'],
    fires: row.fires,
    session: sessionWordOf(row),
    lane: row.lane,
    ...ruleFieldsOf(row.rules),
    retry_policy: row.retryPolicy === null ? null : viewRetryPolicy(row.retryPolicy),
    timeout_seconds: row.timeoutSeconds,
    delete_after_run: row.deleteAfterRun,
    payload: row.payload,
    ...omittedPayload(row.payloadBytes),
    delivery,
    delivery_disabled: delivery !== null && disabled.has(delivery.target_id),
    budget: budgetOf(row),
    probe: viewProbe(row.input['probe']),
    created_by: row.createdBy,
    owner: row.owner,
    created_by_run: row.createdByRun,
    approval: null,
    created_at: formatInstant(row.createdAt),
    updated_at: formatInstant(row.updatedAt),
    version: row.version,
  }
  return row.approval === null ? view : { ...view, approval: viewApproval(row.approval, view) }
}

/** The same with what its retry policy leaves out as the deployment has it now. */
export const viewInForce = (row: ScheduleRow, retry: RetryPolicy, disabled?: ReadonlySet<string>): ScheduleView =>
  viewSchedule(withPolicyInForce(row, retry), disabled)

function budgetOf(row: ScheduleRow): ScheduleView['budget'] {
  const terms = termsIn(row)
  return terms === null ? null : { id: ownBudgetId(row.id), ...terms }
}

function executorOf({ input }: ScheduleRow): ExecutorInput | null {
  const executor = input['executor'] as ExecutorInput | undefined
  return executor === undefined ? null : maskedExecutor(executor)
}

const sessionWordOf = ({ input }: ScheduleRow): string =>
  typeof input['session'] === 'string' ? input['session'] : 'isolated'

/** The fields a user would send, with everything that was filled in written out. */
function viewTiming(timing: Timing): ScheduleTimingView {
  const { everyMs: _everyMs, ...stored } = storeTiming(timing) as ScheduleTimingView & StoredTiming
  return timing.kind === 'every' ? { ...stored, ...everyField(timing.intervalMs) } : stored
}

/** A retry policy in the names of the wire. */
export const viewRetryPolicy = (policy: RetryPolicy): RetryPolicyView => ({
  max_retries: policy.maxRetries,
  strategy: policy.strategy,
  base_ms: policy.baseMs,
  max_ms: policy.maxMs,
  jitter: policy.jitter,
  ladder_seconds: policy.ladderSeconds,
})
