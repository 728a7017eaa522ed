import { isBackfilled } from '../../domain/schedule/backfill.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import { defaultMaxRetries, NO_RETRIES } from '../../domain/run/retry.ts'
import { DEFAULT_RETRY_POLICY, effectivePolicy, type RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { Trigger } from '../../domain/run/run.ts'
import { isTerminal, nextState, type RunEvent } from '../../domain/run/run-machine.ts'
import { grantSlots } from '../../domain/schedule/concurrency.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { nextFailureStreak, type CountedEnding } from '../../domain/schedule/history.ts'
import { decideAfterRun } from '../../domain/schedule/lifecycle.ts'
import { sessionPosition, shownSessionOf } from '../../domain/session/session.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import { endScheduleAlerts, checkFailures } from './alerts.ts'
import { recordDelivery } from './announce.ts'
import { updateReserves } from './budgets.ts'
import { deleteBudgetsOf } from '../org-state/budget-balance.ts'
import { countDailyRun } from './daily-runs.ts'
import { countTask, pendingOfSchedule, indexRun, type LoadedAgent, type OrgState } from '../org-state/org-state.ts'
import { updatePace } from './pace.ts'
import { chargeFlight } from './quotas.ts'

const NO_RESERVES: readonly Reserve[] = []

/** The retry policy of a run when neither it nor its agent has one. Always one of two objects: most runs share them. */
export function defaultRetryPolicy(
  { settings }: OrgState,
  run: { readonly trigger: Exclude<Trigger, 'retry'>; readonly executorKind: string },
): RetryPolicy {
  return defaultMaxRetries({ ...run, inlineExecutor: false }) === 0 ? NO_RETRIES : settings.retry
}

/** The policy of a schedule or an agent, the first that has one, else the default; with defaults filled in. */
export const retryPolicyFor = (
  orgState: OrgState,
  owners: readonly { readonly retryPolicy: RetryPolicy | null }[],
  run: Parameters<typeof defaultRetryPolicy>[1],
): RetryPolicy => {
  const own = owners.find(({ retryPolicy }) => retryPolicy !== null)?.retryPolicy ?? null
  return own === null ? defaultRetryPolicy(orgState, run) : effectivePolicy(own, orgState.settings.retry)
}

/** The agent of a run; it must be in the org state unless it is the inline executor of a schedule. */
export function agentInState(orgState: OrgState, id: LoadedAgent['id']): LoadedAgent {
  const agent = orgState.agents.get(id)
  if (agent !== undefined) return agent
  const inline = inlineAgentFor(id)
  if (inline === null) throw new Error(`agent ${id} is not loaded`)
  orgState.agents.set(id, inline)
  return inline
}

/** The agent of a schedule with an inline executor; null: an ordinary agent. */
export function inlineAgentFor(id: LoadedAgent['id']): LoadedAgent | null {
  const kind = inlineKindOf(id)
  if (kind === null) return null
  return {
    id,
    executorKey: kind,
    executorKind: kind,
    retryPolicy: NO_RETRIES,
    timeoutSeconds: null,
    maxConcurrent: null,
    provider: null,
  }
}

/** The required fields of a new run. */
export type NewRunFields = Pick<
  RunRow,
  'id' | 'agentId' | 'executorKey' | 'jobRunId' | 'trigger' | 'lane' | 'state' | 'decision' | 'payload'
> &
  Partial<RunRow>

/** Creates a run in the org state. */
export function createRun(orgState: OrgState, fields: NewRunFields): RunRow {
  const run: RunRow = {
    orgId: orgState.orgId,
    sessionKey: null,
    generation: 0,
    scheduleId: null,
    nominal: null,
    priority: 0,
    createdAt: orgState.now,
    sender: null,
    interrupts: false,
    deadline: null,
    timeoutSeconds: null,
    retryPolicy: DEFAULT_RETRY_POLICY,
    failureActionRetries: false,
    firstAttempt: 1,
    attempt: fields.firstAttempt ?? 1,
    retryOf: null,
    parentRunId: null,
    owner: null,
    lineage: null,
    delivery: null,
    seq: null,
    notBefore: null,
    debouncing: false,
    slot: null,
    superseded: false,
    attemptId: null,
    nodeId: null,
    startedAt: null,
    firstStartedAt: null,
    endsBy: null,
    graceUntil: null,
    finishedAt: null,
    why: null,
    errorCode: null,
    errorMessage: null,
    reported: null,
    output: null,
    summary: null,
    usage: null,
    inGeneration: true,
    reserves: NO_RESERVES,
    lastEventIn: 0,
    heldBy: null,
    trace: null,
    heldDecision: null,
    ...fields,
  }
  orgState.changes.created.add(run)
  if (orgState.budgets !== null) updateReserves(orgState.budgets, run, null)
  if (run.state === 'queued') assignPosition(orgState, run)
  if (isTerminal(run.state)) endRun(orgState, run)
  else {
    indexRun(orgState, run)
    // A held occurrence counts as a run of the day when it is released.
    if (orgState.daily !== null && !isHeld(run)) countDailyRun(orgState)
  }
  publishNewRun(orgState, run)
  return run
}

function publishNewRun({ changes, transactionNo: turnNo }: OrgState, run: RunRow): void {
  run.lastEventIn = turnNo
  const data = { status: run.state, reason: latestReason(run), attempt: run.attempt, session: shownSessionOf(run) }
  changes.events.push({ kind: 'run.changed', subject: run.id, data })
}

/** An event of a run, and its reason. */
export interface RunChange {
  readonly event: RunEvent
  readonly why: Why
}

/** Applies an event to the run. An event that is not allowed in its state changes nothing and returns false. */
export function applyEvent(orgState: OrgState, run: RunRow, change: RunChange): boolean {
  const { event, why } = change
  const from = run.state
  const wasHeld = isHeld(run)
  const to = nextState(from, event)
  if (to === undefined) return false
  run.state = to
  // A run that was asked to stop keeps the reason of the request, whatever its executor reports.
  if (from !== 'stopping' || run.why === null) run.why = why
  orgState.changes.changed.add(run)
  if (to === 'waiting' || to === 'queued') {
    run.nodeId = null
    run.attemptId = null
    run.endsBy = null
  }
  // A run that awaits its callback has released its lane slot, and no lease ends it.
  if (to === 'awaiting_callback') run.nodeId = null
  if (to === 'queued') assignPosition(orgState, run)
  if (isTerminal(to)) endRun(orgState, run, wasHeld)
  // Before budgets: the provider's reserve is fixed with the others and released first.
  if (orgState.quotas !== null) chargeFlight(orgState, orgState.quotas, { run, from })
  if (orgState.budgets !== null) updateReserves(orgState.budgets, run, from)
  if (from !== to) {
    countTask(orgState, run)
    publishRun(orgState, run)
  }
  return true
}

/** Assigns the run's position in its session, once; a parked run gets it with its slot. */
function assignPosition(orgState: OrgState, run: RunRow): void {
  run.debouncing = false
  run.notBefore = null
  if (run.seq !== null || run.slot === 'parked') return
  orgState.positionsAssigned += 1
  run.seq = sessionPosition(orgState.transactionNo, orgState.positionsAssigned)
}

/**
 * Side effects of an ending in the same transaction: the schedule slot goes to the next run, and the statistics are
 * updated.
 */
function endRun(orgState: OrgState, run: RunRow, wasHeld = false): void {
  run.finishedAt ??= orgState.now
  orgState.changes.ended.push(run)
  const wasParked = run.slot === 'parked'
  run.slot = null
  run.graceUntil = null
  if (run.delivery !== null) recordDelivery(orgState, run, run.delivery)
  const schedule = run.scheduleId === null ? undefined : orgState.schedules.get(run.scheduleId)
  // A held occurrence has no slot, and its end says nothing about the schedule's runs.
  if (schedule === undefined || wasHeld) return
  // A run of a backfill says nothing about the present state of the schedule.
  if (!isBackfilled(run)) updateStatistics(orgState, schedule, run)
  // A parked run releases no slot, and looking through all parked runs takes long.
  if (!wasParked) grantFreeSlots(orgState, schedule.id)
}

function updateStatistics(orgState: OrgState, row: ScheduleRow, run: RunRow): void {
  const { state, superseded, attempt, finishedAt } = run
  orgState.changes.schedules.add(row)
  const streak = nextFailureStreak(row.failureStreak, { state, superseded })
  if (streak > row.failureStreak) row.failureCount += 1
  if (streak > 0 || row.alerts !== null) checkFailures(orgState, row, streak)
  row.failureStreak = streak
  if (superseded) return
  if (state !== 'skipped') {
    row.lastStatus = state
    row.lastError = state === 'success' ? null : (run.errorMessage ?? run.errorCode)
  }
  if (isScheduleResult(state))
    row.lastEnding = { id: run.id, status: state, attempt, endedAt: finishedAt ?? orgState.now }
  const planned = run.trigger === 'schedule' || run.trigger === 'catchup'
  if (row.pace !== null && planned && state === 'success') updatePace(orgState, row, run)
  const after = decideAfterRun(row, { state, planned })
  if (after.kind === 'delete') dropSchedule(orgState, row)
  if (after.kind === 'end') row.state = after.state
}

/** Deletes the schedule; without its limit, runs that waited for one of its slots may start. */
function dropSchedule(orgState: OrgState, row: ScheduleRow): void {
  const { id } = row
  endScheduleAlerts(orgState, row)
  deleteBudgetsOf(orgState, id)
  orgState.changes.deletedSchedules.add(id)
  for (const run of pendingOfSchedule(orgState, id)) if (run.slot === 'parked') giveSlot(orgState, run)
  orgState.schedules.delete(id)
}

function giveSlot(orgState: OrgState, run: RunRow): void {
  run.slot = 'held'
  orgState.changes.changed.add(run)
  if (run.state === 'queued') assignPosition(orgState, run)
}

/** Gives free slots of a schedule to the runs parked longest; with the slot they get their position in the session. */
export function grantFreeSlots(orgState: OrgState, id: NonNullable<RunRow['scheduleId']>): void {
  const schedule = orgState.schedules.get(id)
  if (schedule === undefined) return
  const pending = pendingOfSchedule(orgState, id).map((run) => ({ id: run.id, slot: run.slot ?? 'parked' }))
  for (const granted of grantSlots(pending, schedule.rules.maxConcurrency)) {
    const run = orgState.runs.get(granted)
    if (run !== undefined) giveSlot(orgState, run)
  }
}

/** The reason of the latest decision about a run, for events and lists. */
const latestReason = (run: RunRow): string => (run.why ?? run.decision).reason

/**
 * The event of a new run names its session, so later ones omit it. Equal data of consecutive events is one shared
 * object.
 */
function publishRun({ changes, transactionNo: turnNo }: OrgState, run: RunRow): void {
  const [status, reason, { attempt }] = [run.state, latestReason(run), run]
  const last = changes.events.at(-1)?.data
  const same = last?.['status'] === status && last['reason'] === reason && last['attempt'] === attempt
  const data = same && !('session' in last) ? last : { status, reason, attempt }
  changes.events.push({ kind: 'run.changed', subject: run.id, data })
  run.lastEventIn = turnNo
}

/** Whether an ending counts as a result of the schedule's run. */
const isScheduleResult = (state: RunRow['state']): state is CountedEnding =>
  state === 'success' || state === 'failed' || state === 'timeout' || state === 'cancelled'
