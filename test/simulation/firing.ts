import { laneName } from '../../src/core/ids.ts'
import { later, type Instant } from '../../src/core/instant.ts'
import { because } from '../../src/core/reasons.ts'
import { isInFlight } from '../../src/core/run/run.ts'
import { DEFAULT_RETRY_POLICY } from '../../src/core/run/retry-policy.ts'
import { isTerminal } from '../../src/core/run/run-machine.ts'
import { isMadeUp } from '../../src/core/schedule/held.ts'
import type { LastEnding, ScheduleHistory, SpeakingEnding } from '../../src/core/schedule/schedule-history.ts'
import { DEFAULT_FIRING_SETTINGS } from '../../src/core/schedule/schedule-rules.ts'
import { nextOccurrence } from '../../src/core/time/timing.ts'
import { insertRun, move, newRunId, pendingOfSchedule, wasHeld } from './rows.ts'
import { applyCancellations } from './submissions.ts'
import { pendingOf, scheduleOf, sessionOf, type Node, type Run, type Schedule, type World } from './world.ts'

/** One pass of the schedule loop: everything due is decided. */
export function scan(world: World): void {
  for (const schedule of world.schedules) {
    const next = nextDue(schedule)
    if (next !== null && next <= world.now) fire(world, schedule)
  }
}

/** When the schedule has its next occurrence. Worked out once for each watermark: a clock change costs time to see. */
export function nextDue(schedule: Schedule): Instant | null {
  const { enabled, timing, watermark } = schedule
  if (!enabled) return null
  if (schedule.next?.after !== watermark) schedule.next = { after: watermark, at: nextOccurrence(timing, watermark) }
  return schedule.next.at
}

function fire(world: World, schedule: Schedule): void {
  const plan = world.core.planOccurrences(
    { rules: schedule.rules, timing: schedule.timing, history: historyOf(world, schedule), budget: null },
    {
      due: { watermark: schedule.watermark, seen: world.now, jitterSeed: schedule.id },
      settings: DEFAULT_FIRING_SETTINGS,
      newRunId: () => newRunId(world),
    },
  )
  world.observer.fired(schedule, {
    after: schedule.watermark,
    upTo: world.now,
    nominals: plan.decisions.map((decision) => decision.nominal),
    ranged: plan.skippedRange?.count ?? 0,
    skips: plan.decisions.flatMap((decision) => (decision.kind === 'skip' ? [decision.why.reason] : [])),
    runs: plan.decisions.filter(({ kind }) => kind === 'run').length,
  })
  for (const decision of plan.decisions) {
    if (decision.kind === 'skip') {
      insertRun(world, {
        ...rowOf(world, schedule),
        trigger: 'schedule',
        state: 'skipped',
        notBefore: null,
        nominal: decision.nominal,
      })
      continue
    }
    if (decision.kind === 'hold') {
      insertRun(world, {
        ...rowOf(world, schedule),
        ...{ id: decision.runId, nominal: decision.nominal, trigger: decision.trigger, decision: decision.why },
        ...{ state: 'waiting', notBefore: decision.until },
      })
      continue
    }
    supersede(world, decision.supersedes, decision.nominal)
    const waits = decision.notBefore > world.now
    insertRun(world, {
      ...rowOf(world, schedule),
      id: decision.runId,
      nominal: decision.nominal,
      trigger: decision.trigger,
      slot: decision.slot,
      firstAttempt: decision.firstAttempt,
      state: waits ? 'waiting' : 'queued',
      notBefore: waits ? decision.notBefore : null,
    })
    schedule.fires += 1
  }
  schedule.skippedFor = plan.history.skippedFor
  if (world.now > schedule.watermark) schedule.watermark = world.now
}

/** The time of a held occurrence has come: with a free place on some node the policies are asked. */
export function release(world: World, run: Run): void {
  const schedule = scheduleOf(world, run.scheduleId)
  if (schedule === null || run.nominal === null || !world.nodes.some((node) => hasPlace(world, node))) return
  const { decision, history } = world.core.decideRelease(
    { rules: schedule.rules, timing: schedule.timing, history: historyOf(world, schedule), budget: null },
    {
      ...{ runId: run.id, nominal: run.nominal, trigger: run.trigger === 'catchup' ? 'catchup' : 'schedule' },
      ...{ seen: run.createdAt, now: world.now, jitterSeed: schedule.id },
    },
  )
  world.observer.released(world, run, decision)
  schedule.skippedFor = history.skippedFor
  run.heldDecision = run.decision
  run.decision = decision.why
  run.decidedAs = world.counters.decided += 1
  if (decision.kind === 'skip') {
    move(world, run, 'skip')
    return
  }
  supersede(world, decision.supersedes, decision.nominal)
  run.slot = decision.slot
  run.firstAttempt = decision.firstAttempt
  run.attempt = decision.firstAttempt
  schedule.fires += 1
  move(world, run, 'due')
}

function hasPlace(world: World, node: Node): boolean {
  const { diedAt, draining } = node
  const active = pendingOf(world, (run) => run.node === node && run.trigger === 'catchup' && isInFlight(run.state))
  return diedAt === null && !draining && active.length < world.settings.catchupMaxActive
}

/** No further occurrences, and held ones end. */
export function disable(world: World, schedule: Schedule): void {
  schedule.enabled = false
  const why = because('schedule_disabled', 'schedule.disable')
  const held = [...schedule.pending].filter(wasHeld)
  applyCancellations(
    world,
    held.map((run) => ({ runId: run.id, to: 'cancelled', graceUntil: null, why })),
  )
}

function rowOf(
  world: World,
  schedule: Schedule,
): Pick<
  Run,
  | 'orgId'
  | 'agentId'
  | 'sessionKey'
  | 'scheduleId'
  | 'lane'
  | 'priority'
  | 'retryPolicy'
  | 'failureActionRetries'
  | 'generation'
> {
  return {
    orgId: schedule.orgId,
    agentId: schedule.agentId,
    sessionKey: schedule.sessionKey,
    scheduleId: schedule.id,
    lane: laneName('cron'),
    priority: 0,
    retryPolicy: DEFAULT_RETRY_POLICY,
    failureActionRetries: schedule.rules.failureAction === 'RETRY',
    generation: sessionOf(world, schedule.orgId, schedule.sessionKey)?.generation ?? 0,
  }
}

/** Superseded runs give up their schedule slot in the same transaction; everything else they keep until they end. */
function supersede(world: World, ids: readonly Run['id'][], nominal: Instant): void {
  for (const id of ids) {
    const run = world.runs.get(id)
    if (run === undefined || isTerminal(run.state)) continue
    run.superseded = true
    run.slot = null
    const by = { nominal, now: world.now, stopGraceMs: world.settings.stopGraceMs }
    applyCancellations(world, world.core.cancelSuperseded([run], by))
  }
}

/** Somebody presses run-now. */
export function runNow(world: World, schedule: Schedule): void {
  const decision = world.core.decideRunNow(
    { rules: schedule.rules, history: historyOf(world, schedule), nextRunAt: null },
    'force',
    world.now,
  )
  if (decision.kind !== 'run') return
  insertRun(world, {
    ...rowOf(world, schedule),
    trigger: 'manual',
    state: 'queued',
    notBefore: null,
    slot: decision.slot,
    deadline: world.random.chance(0.2) ? later(world.now, world.random.int(100, 20_000)) : null,
  })
}

/** The runs that the next decision of a schedule looks back at: its newest, and the one that ended last. */
export function lookedBackAt(
  schedule: Schedule,
  isHeld: (run: Run) => boolean = wasHeld,
): { readonly previous: Run | null; readonly last: Run | null } {
  let previous: Run | null = null
  let last: Run | null = null
  for (const run of schedule.runs) {
    if (run.superseded || run.state === 'skipped' || isHeld(run)) continue
    if (previous === null || run.decidedAs > previous.decidedAs) previous = run
    if (isSpeaking(run.state) && (last === null || (run.endedAs ?? 0) > (last.endedAs ?? 0))) last = run
  }
  return { previous, last }
}

function historyOf({ core }: World, schedule: Schedule): ScheduleHistory {
  // What was held until it was cancelled has ended by now, and is passed over all the same.
  const isHeld = (run: Run): boolean => (isTerminal(run.state) ? wasHeld(run) : core.isHeld(run))
  const { previous, last } = lookedBackAt(schedule, isHeld)
  return {
    previous: previous === null ? null : { id: previous.id, state: previous.state },
    pending: pendingOfSchedule(schedule, isHeld).map((run) => ({
      ...{ id: run.id, slot: run.slot ?? 'parked', nominal: run.nominal ?? run.createdAt, madeUp: isMadeUp(run) },
    })),
    lastEnding: last === null ? null : endingOf(last),
    failureStreak: schedule.failureStreak,
    skippedFor: schedule.skippedFor,
    fires: schedule.fires,
  }
}

const isSpeaking = (state: Run['state']): state is SpeakingEnding =>
  state === 'success' || state === 'failed' || state === 'timeout' || state === 'cancelled'

const endingOf = (run: Run): LastEnding | null =>
  isSpeaking(run.state) && run.finishedAt !== null
    ? { id: run.id, status: run.state, attempt: run.attempt, endedAt: run.finishedAt }
    : null
