import type { Cancellation } from '../../src/core/run/cancellation.ts'
import { laneName } from '../../src/core/ids.ts'
import { later, type Instant } from '../../src/core/instant.ts'
import { defaultLane } from '../../src/core/lanes.ts'
import { because } from '../../src/core/reasons.ts'
import { DEFAULT_RETRY_POLICY } from '../../src/core/run/retry-policy.ts'
import type { SessionFacts } from '../../src/core/session/session.ts'
import { insertRun, move, wasHeld } from './rows.ts'
import { pendingOf, type Agent, type Run, type Session, type World } from './world.ts'

export interface Submission {
  readonly agent: Agent
  readonly session: Session | null
  readonly trigger: 'message' | 'task'
  readonly sender: string | null
  readonly priority: number
  readonly notBefore: Instant | null
  readonly deadline: Instant | null
  readonly debounceMs: number | null
  /** How long ago it was sent: some channels stamp messages themselves and deliver them late. */
  readonly ageMs: number
}

/** A message or a task arrives. */
export function submit(world: World, submission: Submission): void {
  const number = (world.counters.submission += 1)
  if (world.nodes.every((node) => node.draining)) {
    world.observer.submitted(number, false)
    return
  }
  const { session } = submission
  const stamp = later(world.now, -submission.ageMs)
  const arrival = { trigger: submission.trigger, stamp, sender: submission.sender, notBefore: submission.notBefore }
  const verdict = world.core.decideAdmission(arrival, {
    now: world.now,
    stopGraceMs: world.settings.stopGraceMs,
    budget: null,
    limits: { tasks: taskLimits(world, submission), runsPerDay: null },
    session: session === null ? null : sessionFacts(world, session, submission),
  })
  world.observer.submitted(number, true)
  switch (verdict.kind) {
    case 'reject':
      insertRun(world, { ...rowOf(submission), state: 'rejected', notBefore: null, submissions: [number] })
      return
    case 'stale':
      insertRun(world, { ...rowOf(submission), state: 'cancelled', notBefore: null, submissions: [number] })
      return
    case 'merge': {
      const into = world.runs.get(verdict.into)
      if (into === undefined) throw new Error('merged into nothing')
      into.submissions.push(number)
      into.notBefore = verdict.closesAt
      return
    }
    case 'enter': {
      applyCancellations(world, verdict.interrupted)
      const closes = verdict.closes === null ? undefined : world.runs.get(verdict.closes)
      if (closes !== undefined) move(world, closes, 'due')
      const dropped = verdict.dropped === null ? undefined : world.runs.get(verdict.dropped)
      if (dropped !== undefined) move(world, dropped, 'drop')
      insertRun(world, {
        ...rowOf(submission),
        stamp,
        state: verdict.notBefore === null ? 'queued' : 'waiting',
        notBefore: verdict.notBefore,
        debouncing: verdict.debouncing,
        interrupts: verdict.interrupts,
        submissions: [number],
      })
    }
  }
}

function rowOf(
  submission: Submission,
): Pick<
  Run,
  | 'orgId'
  | 'agentId'
  | 'sessionKey'
  | 'trigger'
  | 'lane'
  | 'priority'
  | 'retryPolicy'
  | 'deadline'
  | 'sender'
  | 'generation'
> {
  const { agent, session, trigger, priority, deadline, sender } = submission
  return {
    orgId: agent.orgId,
    agentId: agent.id,
    sessionKey: session?.key ?? null,
    trigger,
    lane: priority === 5 ? laneName('nope') : defaultLane({ trigger, hasParent: false }),
    priority,
    retryPolicy: trigger === 'task' ? { ...DEFAULT_RETRY_POLICY, maxRetries: 0 } : DEFAULT_RETRY_POLICY,
    deadline,
    sender,
    generation: session?.generation ?? 0,
  }
}

function taskLimits(
  world: World,
  { agent }: Submission,
): NonNullable<Parameters<World['core']['decideAdmission']>[1]['limits']['tasks']> {
  const queued = pendingOf(
    world,
    (run) => run.trigger === 'task' && run.orgId === agent.orgId && run.state === 'queued',
  )
  return {
    agent: agent.id,
    queued: queued.length,
    maxQueue: world.settings.maxQueue,
    queuedForAgent: queued.filter((run) => run.agentId === agent.id).length,
    maxPerAgent: world.settings.maxPerAgent,
  }
}

function sessionFacts(world: World, session: Session, submission: Submission): SessionFacts {
  // A held occurrence has no place in its session yet.
  const runs = pendingIn(world, session).filter((run) => !wasHeld(run))
  const open = runs.find((run) => run.debouncing && run.sender !== null && run.sender === submission.sender)
  return {
    rules: submission.debounceMs === null ? session.rules : { ...session.rules, debounceMs: submission.debounceMs },
    runs,
    cutoff: session.cutoff,
    open: openWindow(open),
  }
}

const openWindow = (run: Run | undefined): SessionFacts['open'] =>
  run === undefined || run.notBefore === null
    ? null
    : { runId: run.id, firstAt: run.createdAt, closesAt: run.notBefore, interrupts: run.interrupts }

/** Pending runs of the session's present generation: what came before a reset has no more part in it. */
export const pendingIn = (world: World, session: Session): readonly Run[] =>
  pendingOf(
    world,
    (run) => run.orgId === session.orgId && run.sessionKey === session.key && run.generation === session.generation,
  )

/** Ends runs, or asks for it. */
export function applyCancellations(world: World, cancellations: readonly Cancellation[]): void {
  for (const cancellation of cancellations) {
    const run = world.runs.get(cancellation.runId)
    if (run === undefined) continue
    run.graceUntil = cancellation.graceUntil
    move(world, run, 'cancel')
    askToStop(world, run)
  }
}

/** The holder hears of it, and mostly obeys. */
function askToStop(world: World, run: Run): void {
  if (run.state !== 'stopping') return
  const execution = world.executions.find((one) => one.attemptId === run.attemptId)
  if (execution === undefined || world.random.chance(0.2)) return
  execution.report = 'stop'
  execution.reportsAt = later(world.now, world.random.int(0, 2000))
}

/** Somebody cancels one run. */
export function cancelRun(world: World, run: Run): void {
  const { now } = world
  const decision = world.core.decideCancel(run, {
    now,
    why: because('cancelled', 'cancel'),
    stopGraceMs: world.settings.stopGraceMs,
  })
  if (decision.kind === 'cancel') applyCancellations(world, [decision.cancellation])
}

/** /stop, /stopall and reset. */
export function stopSession(world: World, session: Session, how: 'stop' | 'stopall' | 'reset'): void {
  const stop = { now: world.now, stopGraceMs: world.settings.stopGraceMs }
  const runs = pendingIn(world, session)
  if (how === 'reset') {
    const plan = world.core.planReset({ generation: session.generation, runs }, stop)
    world.observer.cleared(session)
    session.generation = plan.generation
    applyCancellations(world, [...plan.cleared, ...plan.cancelled])
    return
  }
  const plan = how === 'stop' ? world.core.planStop(runs, stop) : world.core.planStopAll(runs, stop)
  if (how === 'stopall') world.observer.cleared(session)
  if (plan.cutoff !== null) session.cutoff = plan.cutoff
  applyCancellations(world, [...plan.stopped, ...plan.drained])
}
