import type { OmittedPayload } from '../../api/common.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { earlier, formatInstant, type Instant, instant, SECOND_MS } from '../../domain/instant.ts'
import { explainWhy, type Why } from '../../domain/reasons.ts'
import { type RetryPolicy, withEffectivePolicy } from '../../domain/run/retry-policy.ts'
import { tooDense } from '../../domain/schedule/lifecycle.ts'
import { paceSentence } from '../../domain/schedule/pace/describe.ts'
import { type Pace, pacedOf, paceInterval, plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { ruleFieldsOf } from '../../domain/schedule/rule-fields.ts'
import { maskExecutor } from '../../domain/secret/mask.ts'
import { type StoredTiming, storeTiming } from '../../domain/time/parse-timing.ts'
import { sentenceFor } from '../../domain/time/sentence.ts'
import { nextOccurrence, occurrencesBetween, type Timing } from '../../domain/time/timing.ts'
import type { ExecutorInput } from '../../executors/schema.ts'
import { viewProbe } from '../probes/view.ts'
import { ownBudgetId, ownBudgetTerms } from './budget.ts'
import { everyField } from './input.ts'
import type { UpcomingOccurrence, PaceView, RetryPolicyView, ScheduleNote } from './rules-schema.ts'
import type { ApprovalView, ScheduleTimingView, ScheduleView } from './schema.ts'
import type { Approval, ScheduleRow } from './store.ts'
import type { ScheduleDelivery } from '../targets/schema.ts'

const SENTENCES: Readonly<Record<ScheduleNote['code'], (params: ScheduleNote['params']) => string>> = {
  never_fires: () => 'It never fires: its rule, starts_at, ends_at and exclude leave no occurrence from now on',
  ends_at_set: ({ ends_at: at, seconds }) =>
    `ends_at was set to ${String(at)}: schedules created with this key end after at most ${String(seconds)} seconds`,
}

/** Notes about a timing for the user who creates the schedule. */
export const notesOnTiming = (timing: Timing, now: Instant): readonly ScheduleNote[] =>
  tooDense(timing) === null && nextOccurrence(timing, now) === null ? [{ code: 'never_fires', params: {} }] : []

/** Notes about a stored schedule. One that has already fired has ended normally, so it gets no note. */
export function notesOnSchedule(row: ScheduleRow, now: Instant): readonly ScheduleNote[] {
  const isUnused = row.fires === 0 && row.lastRunAt === null && row.nextRunAt === null
  return isUnused && row.timing.kind !== 'at' ? notesOnTiming(row.timing, now) : []
}

/** Adds notes to a view, as sentences and as codes. */
export const addNotes = <T extends object>(
  view: T,
  notes: readonly ScheduleNote[],
): T & Pick<ScheduleView, 'notes' | 'note_codes'> =>
  notes.length === 0
    ? view
    : { ...view, notes: notes.map(({ code, params }) => SENTENCES[code](params)), note_codes: notes }

type Fields = Readonly<Record<string, unknown>>

/** The open proposal, with the previous and the proposed value of each changed field. */
function viewApproval(approval: Approval | null, view: object): ApprovalView | null {
  if (approval === null) return null
  const { requestedBy, runId, requestedAt, before, rejected } = approval
  const now = view as Fields
  return {
    requested_by: requestedBy,
    run_id: runId,
    requested_at: formatInstant(requestedAt),
    changes:
      before === null
        ? null
        : Object.fromEntries(
            Object.entries(before).map(([name, previous]) => [name, { before: previous, after: now[name] ?? null }]),
          ),
    rejected: rejected === null ? null : { by: rejected.by, at: formatInstant(rejected.at), reason: rejected.reason },
  }
}

/** How many upcoming occurrences a schedule with a cadence shows. */
const UPCOMING_COUNT = 5

const END_OF_TIME = instant(8.64e15)

/** The current interval of a schedule and its reason; null: it has no cadence. */
export function viewPace(row: Pick<ScheduleRow, 'timing' | 'pace' | 'nextRunAt'>): PaceView | null {
  const { pace } = row
  const timing = pacedOf(row.timing)
  if (pace === null || timing === null) return null
  return {
    interval_seconds: paceInterval(timing, pace.level) / SECOND_MS,
    quiet_streak: pace.quiet,
    change_streak: pace.changed,
    sentence: paceSentence(timing, pace),
    because: { ...pace.why, sentence: explainWhy(pace.why) },
    proposed: viewPaceProposal(pace.why),
    next: row.nextRunAt === null ? [] : upcomingOccurrences(plannedTiming(row), row.nextRunAt),
    recent: pace.recent.map(viewPaceStep),
  }
}

const viewPaceStep = ({ at, runId, intervalSeconds, reason, next }: Pace['recent'][number]) => ({
  ...{ at: formatInstant(at), run_id: runId, interval_seconds: intervalSeconds, reason },
  next: formatInstant(next),
})

function viewPaceProposal({ reason, evidence }: Why): PaceView['proposed'] {
  if (reason !== 'pace_proposed') return null
  const { asked, asked_seconds: wanted, got_seconds: got, clamped } = evidence
  return {
    asked: String(asked),
    ...{ asked_seconds: Number(wanted), got_seconds: Number(got), clamped: clamped === true },
  }
}

/** The first occurrence is fixed; its run may move the later ones. */
const upcomingOccurrences = (timing: Timing, first: Instant): readonly UpcomingOccurrence[] =>
  viewUpcoming(occurrencesBetween(timing, { after: earlier(first, 1), upTo: END_OF_TIME, limit: UPCOMING_COUNT }))

/** Upcoming occurrences in order. Only the first is firm, because a run can still move the later ones. */
export const viewUpcoming = (occurrences: readonly Instant[]): readonly UpcomingOccurrence[] =>
  occurrences.map((at, index) => ({ at: formatInstant(at), certainty: index === 0 ? 'firm' : 'likely' }))

/** RFC 3339, or null. */
export const formatInstantOrNull = (at: Instant | null): string | null => (at === null ? null : formatInstant(at))

/** The fields that replace a payload omitted from a list. */
export const omittedPayloadFields = (bytes: number | null | undefined): OmittedPayload =>
  bytes === undefined || bytes === null ? {} : { payload_omitted: true, payload_bytes: bytes }

const NO_TARGETS: ReadonlySet<string> = new Set()

/** The API view of a schedule. `disabled` contains the ids of disabled targets. */
export function viewSchedule(row: ScheduleRow, disabled: ReadonlySet<string> = NO_TARGETS): ScheduleView {
  const delivery = (row.input['delivery'] as ScheduleDelivery | undefined) ?? null
  const view: ScheduleView = {
    id: row.id,
    org_id: row.orgId,
    name: row.name,
    description: row.description,
    agent_id: inlineKindOf(row.agentId) === null ? row.agentId : null,
    executor: viewOwnExecutor(row),
    kind: row.timing.kind,
    sentence: sentenceFor(row.timing),
    ...viewTiming(row.timing),
    state: row.state,
    // A failed schedule counts as disabled; a finished one was never disabled.
    enabled: row.state === 'active' || row.state === 'finished',
    next_run_at: formatInstantOrNull(row.nextRunAt),
    pace: viewPace(row),
    last_run_at: formatInstantOrNull(row.lastRunAt),
    last_status: row.lastStatus as ScheduleView['last_status'],
    last_error: row.lastError,
    failure_streak: row.failureStreak,
    failure_count: row.failureCount,
    alerts: Object.keys(row.alerts ?? {}) as ScheduleView['alerts'],
    fires: row.fires,
    session: sessionFieldOf(row),
    lane: row.lane,
    ...ruleFieldsOf(row.rules),
    retry_policy: row.retryPolicy === null ? null : viewRetryPolicy(row.retryPolicy),
    timeout_seconds: row.timeoutSeconds,
    delete_after_run: row.deleteAfterRun,
    payload: row.payload,
    ...omittedPayloadFields(row.payloadBytes),
    delivery,
    delivery_disabled: delivery !== null && disabled.has(delivery.target_id),
    budget: viewOwnBudget(row),
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

/** The same, with the missing parts of its retry policy from the deployment's current settings. */
export const viewEffectiveSchedule = (
  row: ScheduleRow,
  retry: RetryPolicy,
  disabled?: ReadonlySet<string>,
): ScheduleView => viewSchedule(withEffectivePolicy(row, retry), disabled)

function viewOwnBudget(row: ScheduleRow): ScheduleView['budget'] {
  const terms = ownBudgetTerms(row)
  return terms === null ? null : { id: ownBudgetId(row.id), ...terms }
}

function viewOwnExecutor({ input }: ScheduleRow): ExecutorInput | null {
  const executor = input['executor'] as ExecutorInput | undefined
  return executor === undefined ? null : maskExecutor(executor)
}

const sessionFieldOf = ({ input }: ScheduleRow): string =>
  typeof input['session'] === 'string' ? input['session'] : 'isolated'

/** The timing fields of the API, with their defaults. */
function viewTiming(timing: Timing): ScheduleTimingView {
  const { everyMs: _everyMs, ...stored } = storeTiming(timing) as ScheduleTimingView & StoredTiming
  return timing.kind === 'every' ? { ...stored, ...everyField(timing.intervalMs) } : stored
}

/** A retry policy in API names. */
export const viewRetryPolicy = (policy: RetryPolicy): RetryPolicyView => ({
  max_retries: policy.maxRetries,
  strategy: policy.strategy,
  base_ms: policy.baseMs,
  max_ms: policy.maxMs,
  jitter: policy.jitter,
  ladder_seconds: policy.ladderSeconds,
})
