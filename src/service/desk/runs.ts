import { isBackfilled } from '../../core/backfill/backfill.ts'
import { inlineKindOf } from '../../core/executor/inline-agent.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import { defaultMaxRetries, NO_RETRIES } from '../../domain/run/retry.ts'
import { DEFAULT_RETRY_POLICY, policyInForce, type RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { Trigger } from '../../domain/run/run.ts'
import { isTerminal, nextState, type RunEvent } from '../../domain/run/run-machine.ts'
import { grantSlots } from '../../domain/schedule/concurrency.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { nextFailureStreak, type SpeakingEnding } from '../../domain/schedule/history.ts'
import { decideAfterRun } from '../../domain/schedule/lifecycle.ts'
import { placeIn } from '../../domain/session/session.ts'
import { shownSessionOf } from '../../core/session/run-session.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { forgetAlerts, judgeFailures } from './alerts.ts'
import { announce } from './announce.ts'
import { noteSpender } from './budgets.ts'
import { dropBudgetsOf } from './budget-standing.ts'
import { countDailyRun } from './daily-runs.ts'
import { countTask, pendingOfSchedule, putRun, type AgentOnDesk, type Desk } from './desk.ts'
import { keepPace } from './pace.ts'
import { noteFlight } from './quotas.ts'

const NOTHING_RESERVED: readonly Reserve[] = []

/** How often a run is tried again when neither it nor its agent says. Always one of two objects: most runs share them. */
export function usualRetryPolicy(
  { settings }: Desk,
  run: { readonly trigger: Exclude<Trigger, 'retry'>; readonly executorKind: string },
): RetryPolicy {
  return defaultMaxRetries({ ...run, inlineExecutor: false }) === 0 ? NO_RETRIES : settings.retry
}

/** The policy of a schedule or an agent, the first that has one, else the usual one; all as they are in force. */
export const retryPolicyFor = (
  desk: Desk,
  owners: readonly { readonly retryPolicy: RetryPolicy | null }[],
  run: Parameters<typeof usualRetryPolicy>[1],
): RetryPolicy => {
  const own = owners.find(({ retryPolicy }) => retryPolicy !== null)?.retryPolicy ?? null
  return own === null ? usualRetryPolicy(desk, run) : policyInForce(own, desk.settings.retry)
}

/** The agent a run is for, which must be on the desk unless its schedule brings it. */
export function agentOn(desk: Desk, id: AgentOnDesk['id']): AgentOnDesk {
  const agent = desk.agents.get(id)
  if (agent !== undefined) return agent
  const inline = inlineAgent(id)
  if (inline === null) throw new Error(`agent ${id} is not on the desk`)
  desk.agents.set(id, inline)
  return inline
}

/** The agent of a schedule that has an executor of its own; null: it is an agent like any other. */
export function inlineAgent(id: AgentOnDesk['id']): AgentOnDesk | null {
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

/** What a new run cannot do without. */
export type NewRun = Pick<
  RunRow,
  'id' | 'agentId' | 'executorKey' | 'jobRunId' | 'trigger' | 'lane' | 'state' | 'decision' | 'payload'
> &
  Partial<RunRow>

/** Puts a new run on the desk. */
export function makeRun(desk: Desk, fields: NewRun): RunRow {
  const run: RunRow = {
    orgId: desk.orgId,
    sessionKey: null,
    generation: 0,
    scheduleId: null,
    nominal: null,
    priority: 0,
    createdAt: desk.now,
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
    reserves: NOTHING_RESERVED,
    toldIn: 0,
    heldBy: null,
    trace: null,
    heldDecision: null,
    ...fields,
  }
  desk.changes.made.add(run)
  if (desk.budgets !== null) noteSpender(desk.budgets, run, null)
  if (run.state === 'queued') enterQueue(desk, run)
  if (isTerminal(run.state)) close(desk, run)
  else {
    putRun(desk, run)
    // A held occurrence counts as a run of the day at its release.
    if (desk.daily !== null && !isHeld(run)) countDailyRun(desk)
  }
  tellNew(desk, run)
  return run
}

function tellNew({ changes, turnNo }: Desk, run: RunRow): void {
  run.toldIn = turnNo
  const data = { status: run.state, reason: reasonOf(run), attempt: run.attempt, session: shownSessionOf(run) }
  changes.events.push({ kind: 'run.changed', subject: run.id, data })
}

/** What happens to a run, and why. */
export interface Change {
  readonly event: RunEvent
  readonly why: Why
}

/** Applies an event as the run machine says. An event that means nothing in the state changes nothing. */
export function move(desk: Desk, run: RunRow, change: Change): boolean {
  const { event, why } = change
  const from = run.state
  const wasHeld = isHeld(run)
  const to = nextState(from, event)
  if (to === undefined) return false
  run.state = to
  // Once asked to stop, the reason for that is the reason it ended, whatever its holder says about it.
  if (from !== 'stopping' || run.why === null) run.why = why
  desk.changes.changed.add(run)
  if (to === 'waiting' || to === 'queued') {
    run.nodeId = null
    run.attemptId = null
    run.endsBy = null
  }
  // A run that waits for its callback has given back its lane slot, and no lease ends it.
  if (to === 'awaiting_callback') run.nodeId = null
  if (to === 'queued') enterQueue(desk, run)
  if (isTerminal(to)) close(desk, run, wasHeld)
  // Before budgets look at it: what is set aside for a provider is fixed with the rest, and ends before anything else.
  if (desk.quotas !== null) noteFlight(desk, desk.quotas, { run, from })
  if (desk.budgets !== null) noteSpender(desk.budgets, run, from)
  if (from !== to) {
    countTask(desk, run)
    tell(desk, run)
  }
  return true
}

/** Gives the run its place in its session, once; a parked run gets it with its slot. */
function enterQueue(desk: Desk, run: RunRow): void {
  run.debouncing = false
  run.notBefore = null
  if (run.seq !== null || run.slot === 'parked') return
  desk.placesGiven += 1
  run.seq = placeIn(desk.turnNo, desk.placesGiven)
}

/** What the transaction that ends a run does besides: it frees the schedule slot, hands it on and keeps the score. */
function close(desk: Desk, run: RunRow, wasHeld = false): void {
  run.finishedAt ??= desk.now
  desk.changes.ended.push(run)
  const wasParked = run.slot === 'parked'
  run.slot = null
  run.graceUntil = null
  if (run.delivery !== null) announce(desk, run, run.delivery)
  const schedule = run.scheduleId === null ? undefined : desk.schedules.get(run.scheduleId)
  // A held occurrence has no slot, and its end says nothing about how the runs of the schedule go.
  if (schedule === undefined || wasHeld) return
  // What is made up for long afterwards says nothing about how the plan goes.
  if (!isBackfilled(run)) keepScore(desk, schedule, run)
  // A run that waited for a slot gives none back, and looking at all that wait for one takes long.
  if (!wasParked) grant(desk, schedule.id)
}

function keepScore(desk: Desk, row: ScheduleRow, run: RunRow): void {
  const { state, superseded, attempt, finishedAt } = run
  desk.changes.schedules.add(row)
  const streak = nextFailureStreak(row.failureStreak, { state, superseded })
  if (streak > row.failureStreak) row.failureCount += 1
  if (streak > 0 || row.alerts !== null) judgeFailures(desk, row, streak)
  row.failureStreak = streak
  if (superseded) return
  if (state !== 'skipped') {
    row.lastStatus = state
    row.lastError = state === 'success' ? null : (run.errorMessage ?? run.errorCode)
  }
  if (isSpeaking(state)) row.lastEnding = { id: run.id, status: state, attempt, endedAt: finishedAt ?? desk.now }
  const planned = run.trigger === 'schedule' || run.trigger === 'catchup'
  if (row.pace !== null && planned && state === 'success') keepPace(desk, row, run)
  const after = decideAfterRun(row, { state, planned })
  if (after.kind === 'delete') forgetSchedule(desk, row)
  if (after.kind === 'end') row.state = after.state
}

/** With the schedule goes its limit: what waited for a slot of it waits no longer. */
function forgetSchedule(desk: Desk, row: ScheduleRow): void {
  const { id } = row
  forgetAlerts(desk, row)
  dropBudgetsOf(desk, id)
  desk.changes.deletedSchedules.add(id)
  for (const run of pendingOfSchedule(desk, id)) if (run.slot === 'parked') giveSlot(desk, run)
  desk.schedules.delete(id)
}

function giveSlot(desk: Desk, run: RunRow): void {
  run.slot = 'held'
  desk.changes.changed.add(run)
  if (run.state === 'queued') enterQueue(desk, run)
}

/** Gives free slots of a schedule to the runs parked longest; with the slot comes their place in the session. */
export function grant(desk: Desk, id: NonNullable<RunRow['scheduleId']>): void {
  const schedule = desk.schedules.get(id)
  if (schedule === undefined) return
  const pending = pendingOfSchedule(desk, id).map((run) => ({ id: run.id, slot: run.slot ?? 'parked' }))
  for (const granted of grantSlots(pending, schedule.rules.maxConcurrency)) {
    const run = desk.runs.get(granted)
    if (run !== undefined) giveSlot(desk, run)
  }
}

/** The reason of the newest decision about a run, for events and lists. */
const reasonOf = (run: RunRow): string => (run.why ?? run.decision).reason

/** Which session a run is in was told when it was made. What is the same for many in a row is told in one object. */
function tell({ changes, turnNo }: Desk, run: RunRow): void {
  const [status, reason, { attempt }] = [run.state, reasonOf(run), run]
  const last = changes.events.at(-1)?.data
  const same = last?.['status'] === status && last['reason'] === reason && last['attempt'] === attempt
  const data = same && !('session' in last) ? last : { status, reason, attempt }
  changes.events.push({ kind: 'run.changed', subject: run.id, data })
  run.toldIn = turnNo
}

/** Whether an ending says how a run of a schedule went. */
const isSpeaking = (state: RunRow['state']): state is SpeakingEnding =>
  state === 'success' || state === 'failed' || state === 'timeout' || state === 'cancelled'
