import type { Instant } from '../../src/domain/instant.ts'
import { isActive, isInFlight, isWaitingRun } from '../../src/domain/run/run.ts'
import { isTerminal } from '../../src/domain/run/run-machine.ts'
import { isCatchUp } from '../../src/domain/schedule/held.ts'
import { rulesOf } from '../../src/engine/org-state/org-state.ts'
import type { RunRow } from '../../src/features/runs/store.ts'
import type { ScheduleRow } from '../../src/features/schedules/store.ts'
import type { SessionRow } from '../../src/features/sessions/store.ts'
import { naivePick } from '../domain/queue/naive-picker.ts'
import { demand as demandAny, type Demand } from '../support/violation.ts'
import { notThePrefix } from './backlog.ts'
import { laneOn, pickingFacts } from './facts.ts'
import {
  everyPending,
  isHeldRow,
  orgOf,
  pendingOf,
  pendingOfSchedule,
  scheduleOf,
  sessionOf,
  submissionsOf,
  type Firing,
  type Node,
  type Observer,
  type Org,
  type Submitted,
  type Told,
  type World,
} from './world.ts'

/** What must be true of every world, whatever happens in it. */
export const INVARIANTS = [
  'one_run_per_occurrence',
  'every_occurrence_decided',
  'session_order',
  'limits',
  'settles_once',
  'no_slot_leak',
  'nothing_stuck',
  'stopped_stays_stopped',
  'attempts_counted',
  'deadlines',
  'held_apart',
  'memory_is_the_prefix',
] as const
export type Invariant = (typeof INVARIANTS)[number]

const demand: Demand<Invariant> = demandAny

interface Memory {
  readonly occurrences: Set<string>
  readonly accepted: Set<number>
  readonly settled: Set<string>
  /** The last place that started, per session and generation. */
  readonly lastStarted: Map<string, number>
  /** Runs that were told to end with their session and must not start any more. */
  readonly cleared: Set<string>
  readonly slots: Map<string, RunRow['slot']>
  readonly waitingBefore: Map<string, number>
  readonly sessionOfRun: Map<string, Set<RunRow>>
  /** Up to here the occurrences of a schedule are decided. */
  readonly decidedUpTo: Map<string, Instant>
  readonly planned: PlannedMoments
  rounds: number
}

/** By schedule, all moments at which it has to fire, in order, worked out by other means than the core's. */
export type PlannedMoments = ReadonlyMap<string, readonly number[]>

/** Watches a world and throws a Violation the moment something is wrong. */
export function createChecker(planned: PlannedMoments = new Map()): Observer {
  const memory: Memory = {
    occurrences: new Set(),
    accepted: new Set(),
    settled: new Set(),
    lastStarted: new Map(),
    cleared: new Set(),
    slots: new Map(),
    waitingBefore: new Map(),
    sessionOfRun: new Map(),
    decidedUpTo: new Map(),
    planned,
    rounds: 0,
  }
  return {
    submitted: (world, submitted) => {
      checkSubmitted(memory, world, submitted)
    },
    created: (world, run) => {
      checkCreated(memory, world, run)
    },
    fired: (schedule, firing) => {
      checkFired(memory, schedule, firing)
    },
    released: (world, run) => {
      checkReleased(world, run)
    },
    moved: (_, run, from) => {
      checkMoved(memory, run, from)
    },
    started: (world, run, node) => {
      checkStarted(memory, world, { run, node })
    },
    reported: ({ runId, attemptId }, isCurrent, decision) => {
      demand(
        isCurrent || decision?.kind !== 'apply',
        'settles_once',
        () => `${attemptId} is not the current attempt of ${runId}, and its report counts`,
      )
    },
    cleared: (session) => {
      for (const run of memory.sessionOfRun.get(`${session.orgId} ${session.key}`) ?? []) memory.cleared.add(run.id)
    },
    forgotten: (run) => {
      closeAccount(memory, run)
    },
    settledDown: (world) => {
      checkSettledDown(memory, world)
    },
    finished: (world) => {
      checkFinished(memory, world)
    },
  }
}

function checkMoved(memory: Memory, run: RunRow, from: Told): void {
  demand(!(run.superseded && from.held), 'held_apart', () => `${run.id} was superseded while it was held`)
  demand(!isTerminal(from.state), 'settles_once', () => `${run.id} left ${from.state} for ${run.state}`)
  demand(
    from.state !== 'stopping' || run.state === 'stopping' || run.state === 'cancelled',
    'settles_once',
    () => `${run.id} was asked to stop and ended ${run.state}`,
  )
  checkSuperseded(run)
  if (isTerminal(run.state)) settleOnce(memory, run)
  if (run.state === 'expired')
    demand(run.finishedAt === run.deadline, 'deadlines', () => `${run.id} expired at another time than its deadline`)
}

/** A run never gives way to one that is for an earlier time. */
function checkSuperseded({ id, superseded, nominal, why }: RunRow): void {
  const by = why?.reason === 'superseded' ? why.evidence['nominal'] : undefined
  if (!superseded || nominal === null || typeof by !== 'string') return
  demand(Date.parse(by) >= nominal, 'held_apart', () => `${id} gave way to ${by}, which is for an earlier time`)
}

function settleOnce(memory: Memory, run: RunRow): void {
  demand(!memory.settled.has(run.id), 'settles_once', () => `${run.id} ended a second time`)
  memory.settled.add(run.id)
}

function checkCreated(memory: Memory, world: World, run: RunRow): void {
  if (run.nominal !== null) {
    const key = `${String(run.scheduleId)} ${run.nominal}`
    demand(!memory.occurrences.has(key), 'one_run_per_occurrence', () => `${run.id} is a second run of ${key}`)
    memory.occurrences.add(key)
  }
  if (run.sessionKey !== null) {
    const name = `${run.orgId} ${run.sessionKey}`
    memory.sessionOfRun.set(name, (memory.sessionOfRun.get(name) ?? new Set()).add(run))
  }
  if (isTerminal(run.state)) {
    settleOnce(memory, run)
    return
  }
  if (run.trigger === 'task') checkTaskQueue(world, run)
  if (run.scheduleId !== null) checkSlotOfNew(world, run)
}

function checkSubmitted(memory: Memory, world: World, { number, accepted, stamp, run }: Submitted): void {
  if (accepted) memory.accepted.add(number)
  if (run === null || run.trigger !== 'message' || isTerminal(run.state)) return
  const session = sessionOf(world, run)
  // What joined a message that waited changes nothing about the queue.
  if (session === null || submissionsOf(run).length > 1) return
  const org = orgOf(world, run.orgId)
  checkCap(memory, org, { run, session })
  checkEntrance(org, { run, session, stamp })
}

interface InSession {
  readonly run: RunRow
  readonly session: SessionRow
}

/** A session's queue never grows beyond its cap. (A cap that was lowered drops nobody by itself.) */
function checkCap(memory: Memory, org: Org, { run, session }: InSession): void {
  if (run.interrupts) return
  const waiting = waitingIn(org, session)
  const before = memory.waitingBefore.get(`${session.orgId} ${session.key}`) ?? 0
  const { cap } = rulesOf(org.memory.state, session)
  demand(waiting <= cap || waiting <= before, 'limits', () => `${waiting} wait in ${session.key}, cap ${cap}`)
}

/** What was sent before its session was stopped stays out, and whoever interrupts finds nobody but those who leave. */
function checkEntrance(org: Org, { run, session, stamp }: InSession & { readonly stamp: Instant }): void {
  const { cutoff } = session
  demand(
    cutoff === null || stamp >= cutoff,
    'stopped_stays_stopped',
    () => `${run.id} was sent before ${session.key} was stopped and got in`,
  )
  if (!run.interrupts) return
  // What is in the backlog ends with the same transaction.
  const left = inSession(org, session).find(
    (other) => other !== run && other.state !== 'stopping' && !org.backlog.has(other.id),
  )
  demand(
    left === undefined,
    'stopped_stays_stopped',
    () => `${run.id} interrupts, and ${String(left?.id)} is still ${String(left?.state)}`,
  )
}

/** A held occurrence has no place in its session yet. */
const inSession = (org: Org, { key, generation }: SessionRow): readonly RunRow[] =>
  pendingOf(org, (run) => run.sessionKey === key && run.generation === generation && !isHeldRow(run))

const waitingIn = (org: Org, { key }: SessionRow): number =>
  pendingOf(org, (run) => run.sessionKey === key && !isHeldRow(run) && isWaitingRun(run)).length

function checkTaskQueue(world: World, run: RunRow): void {
  const queued = pendingOf(orgOf(world, run.orgId), ({ trigger, state }) => trigger === 'task' && state === 'queued')
  const ofAgent = queued.filter(({ agentId }) => agentId === run.agentId).length
  const { maxQueue, maxPerAgent } = world.settings.engine.tasks
  demand(queued.length <= maxQueue, 'limits', () => `${queued.length} tasks queued`)
  demand(ofAgent <= maxPerAgent, 'limits', () => `${ofAgent} tasks queued for ${run.agentId}`)
}

/** What must be true when the policies have decided about a held occurrence. */
function checkReleased(world: World, run: RunRow): void {
  demand(run.why !== null, 'held_apart', () => `nobody has decided about ${run.id}`)
  if (run.state === 'skipped') {
    const { reason, evidence } = run.why ?? run.decision
    demand(reason !== 'queue_full', 'held_apart', () => `${run.id} makes up for a time and was cut by queue_depth`)
    if (reason === 'overlap') checkPrevious(world, run, evidence['previous_run'])
    return
  }
  const schedule = scheduleOf(world, run)
  if (schedule === null) return
  const held = pendingOfSchedule(orgOf(world, run.orgId), schedule).filter(({ slot }) => slot === 'held').length
  demand(
    run.slot !== 'held' || mayExceedSlots(schedule) || held <= schedule.rules.maxConcurrency,
    'limits',
    () => `${held} slots of ${schedule.id} held after a release`,
  )
}

/** Overlap is with a run that is pending, and a held occurrence is no run yet. */
function checkPrevious(world: World, { id, orgId }: RunRow, previous: unknown): void {
  const [run] = pendingOf(orgOf(world, orgId), (other) => other.id === previous)
  demand(
    run !== undefined && !isHeldRow(run),
    'held_apart',
    () => `${id} overlaps with ${String(previous)}, which is held or has ended`,
  )
}

function checkSlotOfNew(world: World, run: RunRow): void {
  const schedule = scheduleOf(world, run)
  if (schedule === null) return
  const { overlapAction, maxConcurrency, queueDepth } = schedule.rules
  const runs = pendingOfSchedule(orgOf(world, run.orgId), schedule)
  const held = runs.filter(({ slot }) => slot === 'held').length
  const parked = runs.filter((other) => other.slot === 'parked' && !isCatchUp(other)).length
  if (run.slot === 'held')
    demand(
      mayExceedSlots(schedule) || held <= maxConcurrency,
      'limits',
      () => `${held} slots of ${schedule.id} held, ${maxConcurrency} exist`,
    )
  const depth = overlapAction === 'BUFFER_ONE' ? Math.max(1, queueDepth) : queueDepth
  if (run.slot === 'parked' && !isCatchUp(run))
    demand(parked <= depth, 'limits', () => `${parked} runs of ${schedule.id} parked, ${depth} may`)
}

const mayExceedSlots = ({ rules }: ScheduleRow): boolean =>
  rules.overlapAction === 'PARALLEL' || rules.concurrencyPolicy === 'PARALLEL'

function checkFired(memory: Memory, schedule: ScheduleRow, firing: Firing): void {
  const decidedUpTo = memory.decidedUpTo.get(schedule.id) ?? firing.after
  const again = firing.nominals.find((nominal) => nominal <= decidedUpTo)
  demand(again === undefined, 'one_run_per_occurrence', () => `${schedule.id} decides ${String(again)} a second time`)
  memory.decidedUpTo.set(schedule.id, firing.upTo)
  const { nominals, ranged } = firing
  const due = dueIn(memory, schedule, firing)
  demand(
    nominals.length + ranged === due.count && nominals.every(due.has),
    'every_occurrence_decided',
    () => `${schedule.id}: ${nominals.length} + ${ranged} decided up to ${firing.upTo}, ${due.count} due`,
  )
  const inOrder = nominals.every(
    (nominal, index) => nominal > (nominals[index - 1] ?? firing.after) && nominal <= firing.upTo,
  )
  const atOnce = firing.made.filter((run) => run.state !== 'skipped' && !isHeldRow(run)).length
  demand(atOnce <= 1, 'held_apart', () => `${schedule.id}: ${atOnce} occurrences that were seen together run at once`)
  demand(inOrder, 'every_occurrence_decided', () => `decided out of order: ${nominals.join(' ')}`)
}

/** Counted by arithmetic of its own: schedules tick evenly from their anchor, or by a plan that was made beforehand. */
function dueIn(
  memory: Memory,
  { id, timing }: ScheduleRow,
  { after, upTo }: Firing,
): { readonly count: number; readonly has: (at: Instant) => boolean } {
  if (timing.kind === 'every') {
    const { anchor, intervalMs } = timing
    const tick = (at: number): number => Math.floor((at - anchor) / intervalMs)
    return { count: tick(upTo) - tick(after), has: (at) => (at - anchor) % intervalMs === 0 }
  }
  const moments = (memory.planned.get(id) ?? []).filter((at) => at > after && at <= upTo)
  return { count: moments.length, has: (at) => moments.includes(at) }
}

interface Started {
  readonly run: RunRow
  readonly node: Node
}

function checkStarted(memory: Memory, world: World, started: Started): void {
  const { run } = started
  demand(run.deadline === null || world.now < run.deadline, 'deadlines', () => `${run.id} started after its deadline`)
  demand(!memory.cleared.has(run.id), 'stopped_stays_stopped', () => `${run.id} started after its session was stopped`)
  demand(run.slot !== 'parked', 'limits', () => `${run.id} started without a slot of its schedule`)
  const used = run.attempt - run.firstAttempt
  const most = run.failureActionRetries ? 0 : run.retryPolicy.maxRetries
  demand(used >= 0 && used <= most, 'attempts_counted', () => `${run.id} is on retry ${used} of ${most}`)
  checkLoads(world, started)
  checkSession(memory, world, run)
}

function checkLoads(world: World, { run, node }: Started): void {
  const within = (what: string, runs: readonly RunRow[], limit: number | null | undefined): void => {
    demand(
      limit === null || limit === undefined || runs.length <= limit,
      'limits',
      () => `${runs.length} in flight of ${what}, ${String(limit)} may`,
    )
  }
  const lane = laneOn(node, run)
  const onNode = everyPending(world, ({ nodeId, state }) => nodeId === node.name && isInFlight(state))
  const org = orgOf(world, run.orgId)
  const mine = pendingOf(org, ({ state }) => isInFlight(state))
  const ofAgent = mine.filter(({ agentId }) => agentId === run.agentId)
  const { tasks, schedules } = world.settings.engine
  within(
    `lane ${lane}`,
    onNode.filter((other) => laneOn(node, other) === lane),
    node.sizes.get(lane),
  )
  within(`org ${run.orgId}`, mine, org.maxConcurrent)
  within(`agent ${run.agentId}`, ofAgent, org.agents.find(({ id }) => id === run.agentId)?.maxConcurrent)
  if (run.trigger === 'catchup')
    within(
      'catch-ups',
      onNode.filter(({ trigger }) => trigger === 'catchup'),
      schedules.catchupMaxActive,
    )
  if (run.trigger !== 'task') return
  const isTask = ({ trigger }: RunRow): boolean => trigger === 'task'
  within('tasks', mine.filter(isTask), tasks.maxInflight)
  within('tasks of the agent', ofAgent.filter(isTask), tasks.maxPerAgentInflight)
}

function checkSession(memory: Memory, world: World, run: RunRow): void {
  const session = sessionOf(world, run)
  if (session === null || run.generation !== session.generation) return
  const org = orgOf(world, run.orgId)
  const others = inSession(org, session).filter((other) => other !== run)
  demand(
    !run.interrupts || others.every((other) => other.state !== 'stopping'),
    'stopped_stays_stopped',
    () => `${run.id} overlaps what it interrupted`,
  )
  if (run.attempt > run.firstAttempt) return
  const { context } = session
  const limit =
    context !== null && context.tokens * 10 >= context.contextWindow * 6
      ? 1
      : rulesOf(org.memory.state, session).maxConcurrent
  const active = 1 + others.filter(isActive).length
  demand(active <= limit, 'limits', () => `${active} active in ${session.key}, ${limit} may`)
  const key = `${session.orgId} ${session.key} ${session.generation}`
  const last = memory.lastStarted.get(key) ?? 0
  demand(
    (run.seq ?? 0) > last,
    'session_order',
    () => `${run.id} has place ${String(run.seq)}, but ${last} started before it`,
  )
  memory.lastStarted.set(key, run.seq ?? 0)
}

function checkSettledDown(memory: Memory, world: World): void {
  for (const org of world.orgs) {
    const wrong = notThePrefix(org)
    demand(wrong === null, 'memory_is_the_prefix', () => String(wrong))
    const [clearing] = org.memory.state.clearings.values()
    demand(clearing === undefined, 'stopped_stays_stopped', () => `${String(clearing?.key)} is not cleared`)
    const { schedules, sessions } = org.memory.state
    for (const schedule of schedules.values()) checkSlots(memory, org, schedule)
    for (const session of sessions.values())
      memory.waitingBefore.set(`${org.id} ${session.key}`, waitingIn(org, session))
  }
  memory.rounds += 1
  // The slow look at everything is worth its time only now and then.
  if (memory.rounds % 16 !== 0) return
  const [goesOn] = everyPending(world, (run) => run.superseded && run.state !== 'stopping')
  demand(
    goesOn === undefined,
    'stopped_stays_stopped',
    () => `${String(goesOn?.id)} was superseded and is still ${String(goesOn?.state)}`,
  )
  const [overdue] = everyPending(world, (run) => isWaitingRun(run) && run.deadline !== null && run.deadline < world.now)
  demand(overdue === undefined, 'deadlines', () => `${String(overdue?.id)} waits on after its deadline`)
  for (const node of world.nodes) {
    const facts = pickingFacts(world, node)
    const left = facts === null ? [] : naivePick(facts)
    demand(left.length === 0, 'nothing_stuck', () => `${String(left[0]?.id)} could start and did not`)
  }
}

function checkSlots(memory: Memory, org: Org, schedule: ScheduleRow): void {
  const runs = pendingOfSchedule(org, schedule)
  const held = runs.filter((run) => run.slot === 'held').length
  const { maxConcurrency } = schedule.rules
  const free = mayExceedSlots(schedule)
  for (const run of runs) {
    const granted = !free && memory.slots.get(run.id) === 'parked' && run.slot === 'held'
    demand(!granted || held <= maxConcurrency, 'limits', () => `${run.id} was given slot ${held} of ${maxConcurrency}`)
    demand(
      run.slot !== 'parked' || held >= maxConcurrency,
      'no_slot_leak',
      () => `${run.id} is parked, ${held} of ${maxConcurrency} slots held`,
    )
    memory.slots.set(run.id, run.slot)
  }
}

function checkFinished(memory: Memory, world: World): void {
  const pending = everyPending(world, () => true)
  const [stuck] = pending
  demand(
    stuck === undefined,
    'nothing_stuck',
    () => `${pending.length} runs never end, such as ${String(stuck?.id)} (${String(stuck?.state)})`,
  )
  for (const run of world.runs.values()) closeAccount(memory, run)
  const [lost] = memory.accepted
  demand(lost === undefined, 'settles_once', () => `submission ${String(lost)} was accepted and lost`)
}

/** The last look at a run: it settled, once, for everybody who counted on it. Then it is forgotten. */
function closeAccount(memory: Memory, run: RunRow): void {
  demand(memory.settled.delete(run.id), 'settles_once', () => `${run.id} never settled`)
  demand(run.slot === null, 'no_slot_leak', () => `${run.id} has ended and holds a slot`)
  for (const submission of submissionsOf(run))
    demand(memory.accepted.delete(submission), 'settles_once', () => `submission ${submission} was answered twice`)
  memory.cleared.delete(run.id)
  memory.slots.delete(run.id)
  memory.occurrences.delete(`${String(run.scheduleId)} ${String(run.nominal)}`)
  memory.sessionOfRun.get(`${run.orgId} ${String(run.sessionKey)}`)?.delete(run)
}
