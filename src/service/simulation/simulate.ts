import type { SimulationView } from '../../features/simulation/result-schema.ts'
import type { ScheduleId } from '../../domain/ids.ts'
import { formatInstant, instant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { jobRunIdOf } from '../../domain/schedule/occurrence-key.ts'
import type { RunRow } from '../../store/run-row.ts'
import { type Desk, pendingOfSchedule } from '../desk/desk.ts'
import { runNow, runOf } from '../desk/fire.ts'
import { makeRun } from '../desk/runs.ts'
import { replaceSchedule } from '../schedule-editing.ts'
import { disabledStanding, enabledStanding } from '../schedule-plan.ts'
import type { Deed } from '../turn/in-memory.ts'
import { applyNodeFacts } from '../turn/memory.ts'
import { nextMoment } from '../turn/passing.ts'
import { sessionFor } from '../turn/turn.ts'
import { fireWork, recoverWork } from '../turn/works.ts'
import { readTask } from './read-task.ts'
import {
  type FirstRun,
  NOBODYS_ORG,
  offlineAt,
  type PlannedIntervention,
  type SimulationTask,
} from '../../features/simulation/task.ts'
import { backdate, leave, takeEndings, takeTurn } from './turns.ts'
import { viewWorld } from '../../features/simulation/view.ts'
import { createWorld, nodeId, planNext, restart, type World } from './world.ts'

/**
 * What would happen in a window of time. It is decided by the functions that decide in a node, on a desk of their own:
 * there is no clock, no database and no chance but the seed. The same task gives the same answer. Throws a refusal that
 * says what is wrong with the task.
 */
export function simulate(task: SimulationTask, control: Control = {}): SimulationView {
  const world = createWorld(readTask(task))
  makeFirstRuns(world)
  passWindow(world, control)
  return viewWorld(world)
}

/** Something that is known from the beginning: an outage begins or ends, somebody does something. */
interface Appointment {
  readonly at: Instant
  /** At the same moment the lower goes first. */
  readonly rank: number
  readonly keep: (world: World) => void
}

/** Told how far it has come; what it throws ends the simulation. */
interface Control {
  readonly progress?: ((done: number, total: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Moments between two looks at whether anybody still wants to know. */
const LOOK_EVERY = 256

/** Lets the window pass, from moment to moment. Nothing happens between them. */
function passWindow(world: World, control: Control): void {
  const { from, to } = world.plan.window
  const appointments = appointmentsOf(world)
  let kept = 0
  for (let moments = 0; ; moments += 1) {
    if (moments % LOOK_EVERY === 0) look(control, world.now - from, to - from)
    const appointment = appointments[kept]
    const next = instant(Math.min(appointment?.at ?? Infinity, nextOf(world)))
    if (next >= to) break
    if (next > world.now) {
      world.now = next
      world.vainAt = null
    }
    if (appointment !== undefined && appointment.at <= world.now) {
      kept += 1
      appointment.keep(world)
    } else passMoment(world)
  }
  world.now = to
  look(control, to - from, to - from)
}

function look({ progress, signal }: Control, done: number, total: number): void {
  signal?.throwIfAborted()
  progress?.(done, total)
}

/** When something happens by itself. */
function nextOf(world: World): number {
  const { isDown, isStalled, ends, due } = world
  if (isDown) return Infinity
  const next = Math.min(ends.next() ?? Infinity, ownMoment(world))
  return isStalled ? next : Math.min(next, due.next() ?? Infinity)
}

/** When the org wants a turn of its own accord. One that came to nothing is not taken again at the same moment. */
function ownMoment({ memory, vainAt }: World): number {
  const next = nextMoment(memory) ?? Infinity
  return vainAt !== null && next <= vainAt ? Infinity : next
}

/** Endings first, then what has become due by itself, then what fires. Each sees the effect of the one before. */
function passMoment(world: World): void {
  const { now, ends, due } = world
  if ((ends.next() ?? Infinity) <= now) takeEndings(world)
  else if (ownMoment(world) <= now) {
    takeTurn(world, [])
    const { changed, made } = world.memory.desk.changes
    if (changed.size + made.size === 0) world.vainAt = now
  } else takeTurn(world, [fireWork(NOBODYS_ORG, due.takeDue(now) as readonly string[] as readonly ScheduleId[])])
}

/** At one moment: first what ends, then what begins, then what people do. */
function appointmentsOf({ plan }: World): readonly Appointment[] {
  const found: Appointment[] = []
  const outage = (at: Instant, rank: number, keep: (world: World) => void): void => {
    found.push({ at, rank, keep })
  }
  for (const { from, to } of plan.engineOutages) {
    outage(from, 1, goDown)
    outage(to, 0, comeBack)
  }
  for (const { from, to } of plan.stalls) {
    outage(from, 1, (world) => void (world.isStalled = true))
    outage(to, 0, (world) => void (world.isStalled = false))
  }
  for (const { from, to, effect } of plan.agentOutages) {
    if (effect !== 'offline') continue
    outage(from, 1, refresh)
    outage(to, 0, refresh)
  }
  for (const one of plan.interventions) found.push({ at: one.at, rank: 2, keep: (world) => intervene(world, one) })
  return found.sort((a, b) => a.at - b.at || a.rank - b.rank)
}

/** Another set of executors than before. */
function refresh(world: World): void {
  world.offline = offlineAt(world.plan, world.now)
  applyNodeFacts(world.memory, world.node)
  if (!world.isDown) takeTurn(world, [])
}

/** The node is gone, and with it everything it worked on: nobody reports that. */
function goDown(world: World): void {
  world.isDown = true
  for (const performance of [...world.performances.values()]) {
    performance.plan = { ...performance.plan, usage: null }
    leave(world, performance)
  }
}

/** Another node comes, takes in what has become due meanwhile, and settles what the one before it held. */
function comeBack(world: World): void {
  const lost = nodeId(world)
  world.isDown = false
  restart(world)
  takeTurn(world, [])
  if ((world.memory.byNode.get(lost)?.size ?? 0) > 0)
    takeTurn(world, [recoverWork(NOBODYS_ORG, new Map([[lost, world.now]]), () => world.memory)])
}

/** Somebody does something. While nothing works, nobody can. */
function intervene(world: World, { scheduleId, action }: PlannedIntervention): void {
  const work: Deed = {
    apply: (desk) => {
      const row = desk.schedules.get(scheduleId)
      if (row === undefined) return
      if (action === 'run_now') {
        if (row.sessionKey !== null) sessionFor({ desk }, row.sessionKey)
        runNow(desk, scheduleId, { mode: 'force' })
        return
      }
      const standing = action === 'enable' ? enabledStanding(row, desk.now) : disabledStanding(row)
      const edited = { ...row, ...standing }
      replaceSchedule(desk, edited)
      planNext(world, edited)
    },
  }
  if (!world.isDown) takeTurn(world, [work])
}

/** Puts on the desk what is pending when the window begins: what was at work goes first, so that it still is. */
function makeFirstRuns(world: World): void {
  const { firstRuns } = world.plan
  if (firstRuns.length === 0) return
  const made: { readonly run: RunRow; readonly startedAt: Instant | null }[] = []
  const sorted = firstRuns.toSorted((a, b) => Number(a.startedAt === null) - Number(b.startedAt === null))
  const apply = (desk: Desk): void => {
    for (const first of sorted) made.push({ run: makeFirst(desk, first), startedAt: first.startedAt })
  }
  takeTurn(world, [{ apply }])
  for (const { run, startedAt } of made) backdate(world, run, startedAt)
}

function makeFirst(desk: Desk, { row: given, nominal, createdAt, attempts }: FirstRun): RunRow {
  const row = desk.schedules.get(given.id) ?? given
  if (row.sessionKey !== null) sessionFor({ desk }, row.sessionKey)
  const held = pendingOfSchedule(desk, row.id).filter(({ slot }) => slot === 'held').length
  const hasRoom = row.rules.concurrencyPolicy === 'PARALLEL' || held < row.rules.maxConcurrency
  const id = desk.chance.newRunId('run', desk.now)
  row.previousRunId = id
  const moment = nominal ?? createdAt
  const key =
    nominal === null
      ? ({ kind: 'manual', scheduleId: row.id, nominal: moment, runId: id } as const)
      : ({ kind: 'occurrence', scheduleId: row.id, nominal: moment } as const)
  const decision =
    nominal === null
      ? because('run_now', 'run_now')
      : because('due', 'timing', { nominal: formatInstant(nominal), seen: formatInstant(createdAt) })
  return makeRun(desk, {
    ...runOf(desk, row),
    ...{ id, nominal, createdAt, decision, jobRunId: jobRunIdOf(key) },
    trigger: nominal === null ? 'manual' : 'schedule',
    state: 'queued',
    slot: hasRoom ? 'held' : 'parked',
    firstAttempt: attempts.firstAttempt,
    attempt: attempts.attempt,
  })
}
