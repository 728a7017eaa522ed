import { instant, later } from '../../src/core/instant.ts'
import { CONCURRENCY_POLICIES } from '../../src/core/schedule/schedule-rules.ts'
import { SESSION_MODES } from '../../src/core/session/session-rules.ts'
import { drain } from './attempts.ts'
import { disable, runNow } from './firing.ts'
import type { Random } from './random.ts'
import { cancelRun, stopSession, submit, type Submission } from './submissions.ts'
import { isAlive, type World } from './world.ts'

/** What can happen to a scheduler, and how often, in parts of the whole. */
const OPERATIONS = {
  message: { weight: 40, apply: sendMessage },
  task: { weight: 16, apply: sendTask },
  nothing: { weight: 10, apply: () => undefined },
  stop: {
    weight: 3,
    apply: (world: World) => {
      stopSession(world, world.random.one(world.sessions), 'stop')
    },
  },
  stopall: {
    weight: 3,
    apply: (world: World) => {
      stopSession(world, world.random.one(world.sessions), 'stopall')
    },
  },
  reset: {
    weight: 1,
    apply: (world: World) => {
      stopSession(world, world.random.one(world.sessions), 'reset')
    },
  },
  cancel: { weight: 4, apply: cancelSomething },
  run_now: {
    weight: 4,
    apply: (world: World) => {
      runNow(world, world.random.one(world.schedules))
    },
  },
  crash: { weight: 1, apply: crash },
  drain: { weight: 1, apply: drainOne },
  restart: { weight: 4, apply: restart },
  clock_jump: { weight: 1, apply: jumpClock },
  stall: { weight: 1, apply: stall },
  lane_resize: { weight: 1, apply: resizeLane },
  session_rules: { weight: 2, apply: changeSession },
  schedule_rules: { weight: 2, apply: changeSchedule },
  agent_offline: {
    weight: 2,
    apply: (world: World) => {
      const agent = world.random.one(world.agents)
      agent.online = !agent.online
    },
  },
} satisfies Record<string, { readonly weight: number; readonly apply: (world: World) => void }>

export type OperationKind = keyof typeof OPERATIONS

const KINDS = Object.keys(OPERATIONS) as readonly OperationKind[]
const weightOf = (kinds: readonly OperationKind[]): number =>
  kinds.reduce((sum, kind) => sum + OPERATIONS[kind].weight, 0)
const TOTAL = weightOf(KINDS)

export const OPERATION_KINDS = KINDS

/** Something happens, of all that can or of these kinds. */
export function happen(world: World, among: readonly OperationKind[] = KINDS): OperationKind {
  const kind = drawKind(world.random, among)
  OPERATIONS[kind].apply(world)
  return kind
}

function drawKind(random: Random, among: readonly OperationKind[]): OperationKind {
  let left = random.next() * (among === KINDS ? TOTAL : weightOf(among))
  for (const kind of among) {
    left -= OPERATIONS[kind].weight
    if (left < 0) return kind
  }
  return 'nothing'
}

function sendMessage(world: World): void {
  const { random } = world
  const session = random.one(world.sessions)
  const agent = random.one(world.agents.filter((one) => one.orgId === session.orgId))
  submit(world, { ...plain(world, agent), session, trigger: 'message', sender: random.one([null, 'ann', 'bob']) })
}

function sendTask(world: World): void {
  const agent = world.random.one(world.agents)
  const deadline = later(world.now, world.random.int(1, 20_000))
  submit(world, { ...plain(world, agent), session: null, trigger: 'task', sender: null, deadline, notBefore: null })
}

function plain(world: World, agent: Submission['agent']): Omit<Submission, 'session' | 'trigger' | 'sender'> {
  const { random, now } = world
  return {
    agent,
    priority: random.int(-1, 5),
    notBefore: random.chance(0.1) ? later(now, random.int(0, 10_000)) : null,
    deadline: random.chance(0.15) ? later(now, random.int(1, 15_000)) : null,
    debounceMs: random.chance(0.2) ? 0 : null,
    ageMs: random.chance(0.1) ? random.int(0, 5_000) : 0,
  }
}

function cancelSomething(world: World): void {
  const runs = [...world.runs.values()].slice(-20)
  if (runs.length > 0) cancelRun(world, world.random.one(runs))
}

function crash(world: World): void {
  const living = world.nodes.filter(isAlive)
  if (living.length > 0) world.random.one(living).diedAt = world.now
}

function drainOne(world: World): void {
  const living = world.nodes.filter((node) => isAlive(node) && !node.draining)
  if (living.length > 1) drain(world, world.random.one(living))
}

/** A dead or drained node comes back under the same name once nothing is known to hang on it. */
function restart(world: World): void {
  for (const node of world.nodes) {
    const holds = [...world.pending.values()].some((run) => run.node === node)
    if (!holds) {
      node.diedAt = null
      node.draining = false
    }
  }
}

/** Somebody sets the clock, or a laptop wakes up. */
function jumpClock(world: World): void {
  const ms = world.random.chance(0.3)
    ? -world.random.int(1, 5_000)
    : world.random.int(1, world.random.chance(0.2) ? 7_200_000 : 120_000)
  world.now = instant(world.now + ms)
}

/** Nothing is looked at for a while: the next scan finds many occurrences at once. */
function stall(world: World): void {
  world.now = later(world.now, world.random.int(1_000, 90_000))
}

function resizeLane(world: World): void {
  const node = world.random.one(world.nodes)
  node.lanes.set(world.random.one([...node.lanes.keys()]), world.random.int(1, 4))
}

function changeSession(world: World): void {
  const { random } = world
  const session = random.one(world.sessions)
  session.rules = {
    mode: random.one([...SESSION_MODES, 'queue'] as const),
    cap: random.int(1, 4),
    drop: random.one(['old', 'new']),
    debounceMs: random.one([0, 400, 800]),
    maxConcurrent: random.int(1, 3),
  }
}

function changeSchedule(world: World): void {
  const { random } = world
  const schedule = random.one(world.schedules)
  if (random.chance(0.3)) {
    if (schedule.enabled) {
      disable(world, schedule)
      return
    }
    schedule.enabled = true
    // Enabled again, it plans from now: no backlog.
    if (world.now > schedule.watermark) schedule.watermark = world.now
  } else
    schedule.rules = {
      ...schedule.rules,
      concurrencyPolicy: random.one(CONCURRENCY_POLICIES),
      maxConcurrency: random.int(1, 2),
      queueDepth: random.int(0, 3),
    }
}
