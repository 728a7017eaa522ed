import type { Instant } from '../../src/core/instant.ts'
import { isActive, isInFlight, isWaitingWork } from '../../src/core/run/run.ts'
import { isTerminal } from '../../src/core/run/run-machine.ts'
import { isMadeUp } from '../../src/core/schedule/held.ts'
import type { PolicyDecision } from '../../src/core/schedule/occurrences.ts'
import { naivePick } from '../core/picking/naive-picker.ts'
import { demand as demandAny, type Demand } from '../support/violation.ts'
import { pendingOfSchedule, wasHeld } from './rows.ts'
import { laneOn, pickingFacts } from './turn.ts'
import {
  pendingOf,
  scheduleOf,
  sessionOf,
  type Firing,
  type Observer,
  type Run,
  type Schedule,
  type Session,
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
  readonly slots: Map<string, Run['slot']>
  readonly waitingBefore: Map<string, number>
  readonly sessionOfRun: Map<string, Set<Run>>
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
    submitted: (submission, accepted) => {
      if (accepted) memory.accepted.add(submission)
    },
    created: (world, run) => {
      checkCreated(memory, world, run)
    },
    fired: (schedule, firing) => {
      checkFired(memory, schedule, firing)
    },
    released: (world, run, decision) => {
      checkReleased(world, run, decision)
    },
    moved: (_, run, from) => {
      demand(!(run.superseded && wasHeld(run)), 'held_apart', () => `${run.id} was superseded while it was held`)
      demand(!isTerminal(from), 'settles_once', () => `${run.id} left ${from} for ${run.state}`)
      demand(
        from !== 'stopping' || run.state === 'stopping' || run.state === 'cancelled',
        'settles_once',
        () => `${run.id} was asked to stop and ended ${run.state}`,
      )
      if (isTerminal(run.state)) settleOnce(memory, run)
      if (run.state === 'expired')
        demand(
          run.finishedAt === run.deadline,
          'deadlines',
          () => `${run.id} expired at another time than its deadline`,
        )
    },
    started: (world, run) => {
      checkStarted(memory, world, run)
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

function settleOnce(memory: Memory, run: Run): void {
  demand(!memory.settled.has(run.id), 'settles_once', () => `${run.id} ended a second time`)
  memory.settled.add(run.id)
}

function checkCreated(memory: Memory, world: World, run: Run): void {
  if (run.nominal !== null) {
    const key = `${String(run.scheduleId)} ${run.nominal}`
    demand(!memory.occurrences.has(key), 'one_run_per_occurrence', () => `${run.id} is a second run of ${key}`)
    memory.occurrences.add(key)
  }
  const sessionName = `${run.orgId} ${String(run.sessionKey)}`
  if (run.sessionKey !== null) {
    const runs = memory.sessionOfRun.get(sessionName) ?? new Set()
    memory.sessionOfRun.set(sessionName, runs.add(run))
  }
  if (isTerminal(run.state)) {
    settleOnce(memory, run)
    return
  }
  if (run.trigger === 'message') {
    checkCap(memory, world, run)
    checkEntrance(world, run)
  }
  if (run.trigger === 'task') checkTaskQueue(world, run)
  if (run.scheduleId !== null) checkSlotOfNew(world, run)
}

/** A session's queue never grows beyond its cap. (A cap that was lowered drops nobody by itself.) */
function checkCap(memory: Memory, world: World, run: Run): void {
  const session = sessionOf(world, run.orgId, run.sessionKey)
  if (session === null || run.interrupts) return
  const waiting = 1 + waitingIn(world, session)
  const before = memory.waitingBefore.get(`${session.orgId} ${session.key}`) ?? 0
  demand(
    waiting <= session.rules.cap || waiting <= before,
    'limits',
    () => `${waiting} wait in ${session.key}, cap ${session.rules.cap}`,
  )
}

/** What was sent before its session was stopped stays out, and whoever interrupts finds nobody but those who leave. */
function checkEntrance(world: World, run: Run): void {
  const session = sessionOf(world, run.orgId, run.sessionKey)
  if (session === null) return
  const { cutoff } = session
  demand(
    cutoff === null || run.stamp === null || run.stamp >= cutoff,
    'stopped_stays_stopped',
    () => `${run.id} was sent before ${session.key} was stopped and got in`,
  )
  const left = !run.interrupts ? undefined : inSession(world, session).find((other) => other.state !== 'stopping')
  demand(
    left === undefined,
    'stopped_stays_stopped',
    () => `${run.id} interrupts, and ${String(left?.id)} is still ${String(left?.state)}`,
  )
}

const inSession = (world: World, session: Session): readonly Run[] =>
  pendingOf(
    world,
    (run) =>
      run.orgId === session.orgId &&
      run.sessionKey === session.key &&
      run.generation === session.generation &&
      !wasHeld(run),
  )

const waitingIn = (world: World, session: { orgId: string; key: string }): number =>
  pendingOf(world, (run) => isIn(session, run) && isWaitingWork(run)).length

/** A held occurrence has no place in its session yet. */
const isIn = ({ orgId, key }: { orgId: string; key: string }, run: Run): boolean =>
  run.sessionKey === key && run.orgId === orgId && !wasHeld(run)

function checkTaskQueue(world: World, run: Run): void {
  const queued = pendingOf(
    world,
    (other) => other.trigger === 'task' && other.orgId === run.orgId && other.state === 'queued',
  )
  const ofAgent = queued.filter((other) => other.agentId === run.agentId).length
  demand(queued.length < world.settings.maxQueue, 'limits', () => `${queued.length + 1} tasks queued`)
  demand(ofAgent < world.settings.maxPerAgent, 'limits', () => `${ofAgent + 1} tasks queued for ${run.agentId}`)
}

/** What must be true when the policies have been asked about a held occurrence. */
function checkReleased(world: World, run: Run, decision: PolicyDecision): void {
  if (decision.kind === 'skip') {
    const { reason, evidence } = decision.why
    demand(reason !== 'queue_full', 'held_apart', () => `${run.id} makes up for a time and was cut by queue_depth`)
    if (reason === 'overlap') checkPrevious(world, run.id, evidence['previous_run'])
    return
  }
  const early = decision.supersedes.find((id) => (world.runs.get(id)?.nominal ?? 0) > decision.nominal)
  demand(early === undefined, 'held_apart', () => `${run.id} takes the place of ${String(early)}, which is for later`)
  const schedule = scheduleOf(world, run.scheduleId)
  if (schedule === null || decision.supersedes.length > 0) return
  const held = pendingOfSchedule(schedule).filter((other) => other.slot === 'held').length
  demand(
    decision.slot !== 'held' || mayExceedSlots(schedule) || held < schedule.rules.maxConcurrency,
    'limits',
    () => `${held + 1} slots of ${schedule.id} held after a release`,
  )
}

/** Overlap is with a run that is pending, and a held occurrence is no run yet. */
function checkPrevious(world: World, of: string, previous: unknown): void {
  const run = [...world.pending.values()].find(({ id }) => id === previous)
  demand(
    run !== undefined && !wasHeld(run),
    'held_apart',
    () => `${of} overlaps with ${String(previous)}, which is held or has ended`,
  )
}

function checkSlotOfNew(world: World, run: Run): void {
  const schedule = scheduleOf(world, run.scheduleId)
  if (schedule === null) return
  const { overlapAction, maxConcurrency, queueDepth } = schedule.rules
  const others = pendingOfSchedule(schedule)
  const held = others.filter((other) => other.slot === 'held').length
  const parked = others.filter((other) => other.slot === 'parked' && !isMadeUp(other)).length
  const free = mayExceedSlots(schedule)
  if (run.slot === 'held')
    demand(
      free || held < maxConcurrency,
      'limits',
      () => `${held + 1} slots of ${schedule.id} held, ${maxConcurrency} exist`,
    )
  const depth = overlapAction === 'BUFFER_ONE' ? Math.max(1, queueDepth) : queueDepth
  if (run.slot === 'parked' && !isMadeUp(run))
    demand(parked < depth, 'limits', () => `${parked + 1} runs of ${schedule.id} parked, ${depth} may`)
}

const mayExceedSlots = ({ rules }: Schedule): boolean =>
  rules.overlapAction === 'PARALLEL' || rules.concurrencyPolicy === 'PARALLEL'

function checkFired(memory: Memory, schedule: Schedule, firing: Firing): void {
  const decidedUpTo = memory.decidedUpTo.get(schedule.id) ?? firing.after
  const again = firing.nominals.find(
    (nominal) => nominal <= decidedUpTo || memory.occurrences.has(`${schedule.id} ${nominal}`),
  )
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
  demand(
    firing.runs <= 1,
    'held_apart',
    () => `${schedule.id}: ${firing.runs} occurrences that were seen together run at once`,
  )
  demand(inOrder, 'every_occurrence_decided', () => `decided out of order: ${nominals.join(' ')}`)
}

/** Counted by arithmetic of its own: schedules tick evenly from their anchor, or by a plan that was made beforehand. */
function dueIn(
  memory: Memory,
  { id, timing }: Schedule,
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

function checkStarted(memory: Memory, world: World, run: Run): void {
  demand(run.deadline === null || world.now < run.deadline, 'deadlines', () => `${run.id} started after its deadline`)
  demand(!memory.cleared.has(run.id), 'stopped_stays_stopped', () => `${run.id} started after its session was stopped`)
  demand(run.slot !== 'parked', 'limits', () => `${run.id} started without a slot of its schedule`)
  const used = run.attempt - run.firstAttempt
  const most = run.failureActionRetries ? 0 : run.retryPolicy.maxRetries
  demand(used >= 0 && used <= most, 'attempts_counted', () => `${run.id} is on retry ${used} of ${most}`)
  checkLoads(world, run)
  checkSession(memory, world, run)
}

function checkLoads(world: World, run: Run): void {
  const { node } = run
  if (node === null) return
  const flying = pendingOf(world, (other) => isInFlight(other.state))
  const within = (what: string, runs: readonly Run[], limit: number | null | undefined): void => {
    demand(
      limit === null || limit === undefined || runs.length <= limit,
      'limits',
      () => `${runs.length} in flight of ${what}, ${String(limit)} may`,
    )
  }
  const lane = laneOn(node, run)
  const mine = flying.filter((other) => other.orgId === run.orgId)
  const agent = world.agents.find((one) => one.orgId === run.orgId && one.id === run.agentId)
  const ofAgent = mine.filter((other) => other.agentId === run.agentId)
  within(
    `lane ${lane}`,
    flying.filter((other) => other.node === node && laneOn(node, other) === lane),
    node.lanes.get(lane),
  )
  within(`org ${run.orgId}`, mine, world.orgs.find((org) => org.id === run.orgId)?.maxConcurrent)
  within(`agent ${run.agentId}`, ofAgent, agent?.maxConcurrent)
  if (run.trigger === 'catchup')
    within(
      'catch-ups',
      flying.filter((other) => other.node === node && other.trigger === 'catchup'),
      world.settings.catchupMaxActive,
    )
  if (run.trigger !== 'task') return
  const isTask = (other: Run): boolean => other.trigger === 'task'
  within('tasks', mine.filter(isTask), world.settings.maxInflight)
  within('tasks of the agent', ofAgent.filter(isTask), world.settings.maxPerAgentInflight)
}

function checkSession(memory: Memory, world: World, run: Run): void {
  const session = sessionOf(world, run.orgId, run.sessionKey)
  if (session === null || run.generation !== session.generation) return
  const others = inSession(world, session).filter((other) => other !== run)
  demand(
    !run.interrupts || others.every((other) => other.state !== 'stopping'),
    'stopped_stays_stopped',
    () => `${run.id} overlaps what it interrupted`,
  )
  if (run.attempt > run.firstAttempt) return
  const { context } = session
  const limit = context !== null && context.tokens * 10 >= context.contextWindow * 6 ? 1 : session.rules.maxConcurrent
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
  for (const schedule of world.schedules) checkSlots(memory, schedule)
  for (const session of world.sessions)
    memory.waitingBefore.set(`${session.orgId} ${session.key}`, waitingIn(world, session))
  memory.rounds += 1
  // The slow look at everything is worth its time only now and then.
  if (memory.rounds % 16 !== 0) return
  const [goesOn] = pendingOf(world, (run) => run.superseded && run.state !== 'stopping')
  demand(
    goesOn === undefined,
    'stopped_stays_stopped',
    () => `${String(goesOn?.id)} was superseded and is still ${String(goesOn?.state)}`,
  )
  for (const node of world.nodes) {
    const facts = pickingFacts(world, node)
    const left = facts === null ? [] : naivePick(facts)
    demand(left.length === 0, 'nothing_stuck', () => `${String(left[0]?.id)} could start and did not`)
  }
}

function checkSlots(memory: Memory, schedule: Schedule): void {
  const runs = pendingOfSchedule(schedule)
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
  const [stuck] = world.pending.values()
  demand(
    stuck === undefined,
    'nothing_stuck',
    () => `${world.pending.size} runs never end, such as ${String(stuck?.id)} (${String(stuck?.state)})`,
  )
  for (const run of world.runs.values()) closeAccount(memory, run)
  const [lost] = memory.accepted
  demand(lost === undefined, 'settles_once', () => `submission ${String(lost)} was accepted and lost`)
}

/** The last look at a run: it settled, once, for everybody who counted on it. Then it is forgotten. */
function closeAccount(memory: Memory, run: Run): void {
  demand(memory.settled.delete(run.id), 'settles_once', () => `${run.id} never settled`)
  demand(run.slot === null, 'no_slot_leak', () => `${run.id} has ended and holds a slot`)
  for (const submission of run.submissions)
    demand(memory.accepted.delete(submission), 'settles_once', () => `submission ${submission} was answered twice`)
  memory.cleared.delete(run.id)
  memory.slots.delete(run.id)
  memory.occurrences.delete(`${String(run.scheduleId)} ${String(run.nominal)}`)
  memory.sessionOfRun.get(`${run.orgId} ${String(run.sessionKey)}`)?.delete(run)
}
