import type { SessionKey } from '../../src/domain/ids.ts'
import { instant, later } from '../../src/domain/instant.ts'
import { CONCURRENCY_POLICIES } from '../../src/domain/schedule/rules.ts'
import { SESSION_MODES } from '../../src/domain/session/session.ts'
import { applyCapabilities } from '../../src/engine/org-state/memory.ts'
import type { ScheduleRow } from '../../src/features/schedules/store.ts'
import { cancel, changeSchedule, changeSession, runScheduleNow, stop, submit, type Submission } from './commands.ts'
import { drain } from './executions.ts'
import type { Random } from './random.ts'
import { holdsSomething, isAlive, type Agent, type Org, type World } from './world.ts'

/** What can happen to a scheduler, and how often, in parts of the whole. */
const OPERATIONS = {
  message: { weight: 40, apply: sendMessage },
  task: { weight: 16, apply: sendTask },
  nothing: { weight: 10, apply: () => undefined },
  stop: {
    weight: 3,
    apply: (world: World) => {
      stop(world, drawSession(world), 'stop')
    },
  },
  stopall: {
    weight: 3,
    apply: (world: World) => {
      stop(world, drawSession(world), 'stopall')
    },
  },
  reset: {
    weight: 1,
    apply: (world: World) => {
      stop(world, drawSession(world), 'reset')
    },
  },
  cancel: { weight: 4, apply: cancelSomething },
  run_now: {
    weight: 4,
    apply: (world: World) => {
      runScheduleNow(world, world.random.one(schedulesOf(world)))
    },
  },
  crash: { weight: 1, apply: crash },
  drain: { weight: 1, apply: drainOne },
  restart: { weight: 4, apply: revive },
  clock_jump: { weight: 1, apply: jumpClock },
  stall: { weight: 1, apply: stall },
  lane_resize: { weight: 1, apply: resizeLane },
  session_rules: { weight: 2, apply: changeSessionRules },
  schedule_rules: { weight: 2, apply: changeScheduleRules },
  agent_offline: { weight: 2, apply: switchAgent },
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

/** All schedules as they stand. */
export const schedulesOf = (world: World): readonly ScheduleRow[] =>
  world.orgs.flatMap(({ memory }) => [...memory.state.schedules.values()])

function drawSession({ random, orgs }: World): { readonly org: Org; readonly key: SessionKey } {
  return random.one(orgs.flatMap((org) => [...org.memory.state.sessions.keys()].map((key) => ({ org, key }))))
}

function sendMessage(world: World): void {
  const { random } = world
  const { org, key } = drawSession(world)
  const sender = random.one([null, 'ann', 'bob'])
  submit(world, { ...plain(world, org), agent: random.one(org.agents), sessionKey: key, trigger: 'message', sender })
}

function sendTask(world: World): void {
  const { random } = world
  const { org, agent } = drawAgent(world)
  const deadline = later(world.now, random.int(1, 20_000))
  submit(world, {
    ...plain(world, org),
    agent,
    sessionKey: null,
    trigger: 'task',
    sender: null,
    deadline,
    notBefore: null,
  })
}

const drawAgent = ({ random, orgs }: World): { readonly org: Org; readonly agent: Agent } =>
  random.one(orgs.flatMap((org) => org.agents.map((agent) => ({ org, agent }))))

function plain({ random, now }: World, org: Org): Omit<Submission, 'agent' | 'sessionKey' | 'trigger' | 'sender'> {
  return {
    org,
    priority: random.int(-1, 5),
    notBefore: random.chance(0.1) ? later(now, random.int(0, 10_000)) : null,
    deadline: random.chance(0.15) ? later(now, random.int(1, 15_000)) : null,
    rules: random.chance(0.2) ? { debounceMs: 0 } : {},
    ageMs: random.chance(0.1) ? random.int(0, 5_000) : 0,
  }
}

function cancelSomething(world: World): void {
  const runs = [...world.runs.values()].slice(-20)
  if (runs.length > 0) cancel(world, world.random.one(runs))
}

function crash(world: World): void {
  const living = world.nodes.filter(isAlive)
  if (living.length > 0) world.random.one(living).diedAt = world.now
}

function drainOne(world: World): void {
  const living = world.nodes.filter((node) => isAlive(node) && !node.draining)
  if (living.length > 1) drain(world, world.random.one(living))
}

/** Dead and drained nodes come back under the same name once nothing is known to hang on them. */
export function revive(world: World): void {
  for (const node of world.nodes) {
    if (holdsSomething(world, node)) continue
    node.diedAt = null
    node.draining = false
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
  const { sizes, lanes } = world.random.one(world.nodes)
  sizes.set(world.random.one([...sizes.keys()]), world.random.int(1, 4))
  lanes.resize(sizes)
}

function switchAgent(world: World): void {
  const { org, agent } = drawAgent(world)
  agent.online = !agent.online
  applyCapabilities(org.memory, org.facts(null))
}

function changeSessionRules(world: World): void {
  const { random } = world
  changeSession(world, drawSession(world), {
    mode: random.one([...SESSION_MODES, 'queue'] as const),
    cap: random.int(1, 4),
    drop: random.one(['old', 'new']),
    debounceMs: random.one([0, 400, 800]),
    maxConcurrent: random.int(1, 3),
  })
}

function changeScheduleRules(world: World): void {
  const { random } = world
  const schedule = random.one(schedulesOf(world))
  if (random.chance(0.3)) {
    changeSchedule(world, schedule, schedule.state === 'active' ? 'disable' : 'enable')
    return
  }
  changeSchedule(world, schedule, {
    concurrencyPolicy: random.one(CONCURRENCY_POLICIES),
    maxConcurrency: random.int(1, 2),
    queueDepth: random.int(0, 3),
  })
}
