import { ErrGatewayBusy } from '../../src/api/refusals.ts'
import type { ScheduleInput } from '../../src/features/schedules/schema.ts'
import { sessionKey } from '../../src/domain/ids.ts'
import { earlier, formatInstant, later, type Instant } from '../../src/domain/instant.ts'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../src/domain/schedule/rules.ts'
import { SESSION_MODES } from '../../src/domain/session/session.ts'
import { updateAgent } from '../../src/features/agents/service.ts'
import { setLane } from '../../src/features/lanes/service.ts'
import { sendMessage } from '../../src/features/sessions/send.ts'
import { stopSessionCommand } from '../../src/features/sessions/service.ts'
import { cancelRunById, retryRun, runScheduleNow } from '../../src/features/runs/service.ts'
import {
  updateSchedule,
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
} from '../../src/features/schedules/service.ts'
import { updateSession } from '../../src/features/sessions/view.ts'
import { parseSettings } from '../../src/features/config/settings.ts'
import { submitBatch, submitTask } from '../../src/features/tasks/service.ts'
import type { Random } from '../simulation/random.ts'
import type { SimulatedNode, SimulatedOrg, SimulatedSchedule, World } from './shapes.ts'

/** Where an operation happens. */
interface Place {
  readonly world: World
  readonly org: SimulatedOrg
  readonly node: SimulatedNode
}

/** What people and programs ask of a node, and how often, in parts of the whole. */
const OPERATIONS = {
  message: { weight: 44, apply: send },
  task: { weight: 9, apply: sendTask },
  repeat: { weight: 3, apply: repeat },
  tasks: { weight: 2, apply: sendTasks },
  stop: { weight: 2, apply: (place: Place) => stop(place, 'stop') },
  stopall: { weight: 2, apply: (place: Place) => stop(place, 'stopall') },
  reset: { weight: 2, apply: (place: Place) => stop(place, 'reset') },
  cancel: { weight: 5, apply: cancel },
  retry: { weight: 4, apply: retry },
  run_now: { weight: 4, apply: runNow },
  schedule: { weight: 1.5, apply: makeSchedule },
  schedule_rules: { weight: 2, apply: editSchedule },
  schedule_switch: { weight: 2, apply: switchSchedule },
  schedule_delete: { weight: 1, apply: removeSchedule },
  session_rules: { weight: 2, apply: editSession },
  agent_rules: { weight: 1, apply: editAgent },
  lane: { weight: 1, apply: resizeLane },
  settings: { weight: 1, apply: changeSettings },
} satisfies Record<string, { readonly weight: number; readonly apply: (place: Place) => void }>

export type OperationKind = keyof typeof OPERATIONS

export const OPERATION_KINDS = Object.keys(OPERATIONS) as readonly OperationKind[]
const TOTAL = OPERATION_KINDS.reduce((sum, kind) => sum + OPERATIONS[kind].weight, 0)

/** What is asked for in a batch counts as often as it was asked for. */
function count({ operations }: World, kind: OperationKind, times: number): void {
  operations.set(kind, (operations.get(kind) ?? 0) + times)
}

/** The node is asked for so many things in one breath. */
export function burst(world: World, node: SimulatedNode, requests: number): void {
  const org = world.orgs[world.talk.org]
  for (let asked = 0; asked < requests; asked += 1)
    if (org !== undefined) OPERATIONS[drawKind(world.random)].apply({ world, node, org })
}

function drawKind(random: Random): OperationKind {
  let left = random.next() * TOTAL
  for (const kind of OPERATION_KINDS) {
    left -= OPERATIONS[kind].weight
    if (left < 0) return kind
  }
  return 'message'
}

const markOf = ({ world, org }: Place): string => `<${org.id}-${world.journal.requests.length}>`

const about = ({ org, node }: Place, kind: string, mark: string | null = null) => ({ kind, orgId: org.id, node, mark })

const caller = ({ org }: Place) => ({ orgId: org.id, principal: null })

function send(place: Place): void {
  const { world, org, node } = place
  const { random, talk } = world
  const isTalk = random.chance(0.7)
  const session = (isTalk ? org.sessions[talk.session] : undefined) ?? random.one(org.sessions)
  const sender = isTalk ? talk.sender : random.one([null, 'ann', 'bob'])
  const mark = markOf(place)
  const isChild = random.chance(0.05)
  const lane = random.chance(0.08) ? 'extra' : null
  const inMs = (ms: number): string => formatInstant(later(world.serverNow(), ms))
  const input = {
    text: `${mark} lane=${lane ?? (isChild ? 'subagent' : 'main')}`,
    message_id: mark,
    ...(sender === null ? {} : { sender }),
    ...(random.chance(0.1) ? { mode: random.one(SESSION_MODES) } : {}),
    ...(random.chance(0.2) ? { debounce_ms: random.one([0, 300]) } : {}),
    ...(random.chance(0.08) ? { not_before: inMs(random.int(0, 8_000)) } : {}),
    ...(random.chance(0.12) ? { deadline: inMs(random.int(1, 12_000)) } : {}),
    ...(random.chance(0.08) ? { sent_at: formatInstant(earlier(world.serverNow(), random.int(0, 4_000))) } : {}),
    ...(lane === null ? {} : { lane }),
    ...(isChild ? { parent_run_id: 'run_parent' } : {}),
    ...(!session.isFixed && random.chance(0.2) ? { max_concurrent: random.int(1, 3) } : {}),
  }
  const once = random.chance(0.08)
    ? { principal: 'library', route: 'sessions.send', key: mark, body: { key: session.key, input } }
    : undefined
  const submit = async ({ ports, live }: SimulatedNode): Promise<string | null> => {
    const context = { orgId: org.id, defaultAgent: () => null, live, principal: null }
    const receipt = await sendMessage(ports, context, { key: session.key, input, once })
    return 'run_id' in receipt ? receipt.run_id : null
  }
  if (once !== undefined) org.keyed.push({ mark, submit })
  world.ask(about(place, 'message', mark), () => submit(node))
}

/** A message with nothing but a deadline or a lane. */
export function sendPlain(
  place: Place,
  { key, deadline, lane }: { readonly key: string; readonly deadline?: Instant; readonly lane?: string },
): void {
  const { world, org, node } = place
  const mark = markOf(place)
  const input = {
    text: `${mark} lane=${lane ?? 'main'}`,
    message_id: mark,
    debounce_ms: 0,
    ...(deadline === undefined ? {} : { deadline: formatInstant(deadline) }),
    ...(lane === undefined ? {} : { lane }),
  }
  world.ask(about(place, 'message', mark), async () => {
    const context = { orgId: org.id, defaultAgent: () => null, live: node.live, principal: null }
    const receipt = await sendMessage(node.ports, context, { key, input })
    return 'run_id' in receipt ? receipt.run_id : null
  })
}

/** Somebody sends the same again under the same key, perhaps elsewhere, and not always because no answer came. */
function repeat(place: Place): void {
  const { world, org, node } = place
  const [first] = org.keyed
  if (first === undefined) return
  const { mark, submit } = world.random.one(org.keyed.slice(-8))
  world.ask(about(place, 'repeat', mark), () => submit(node))
}

function taskInput({ world, org }: Place, mark: string) {
  const { random } = world
  return {
    agentId: random.chance(0.2) ? 'ghost' : random.one(org.agents).id,
    action: `${mark} lane=task`,
    priority: random.int(-1, 3),
    ...(random.chance(0.3) ? { deadline: formatInstant(later(world.serverNow(), random.int(500, 15_000))) } : {}),
    ...(random.chance(0.2) ? { retry_policy: { max_retries: 1, base_ms: 500 } } : {}),
  }
}

function sendTask(place: Place): void {
  const { world, org, node } = place
  const mark = markOf(place)
  const input = taskInput(place, mark)
  const once = world.random.chance(0.1) ? mark : undefined
  const submit = async ({ ports, live }: SimulatedNode): Promise<string> => {
    const keyed = once === undefined ? undefined : { route: 'task', key: once, body: input }
    const { taskId } = await submitTask(ports, { caller: { ...caller(place), once: keyed }, live }, input)
    return taskId
  }
  if (once !== undefined) org.keyed.push({ mark, submit })
  world.ask(about(place, 'task', mark), () => submit(node))
}

function sendTasks(place: Place): void {
  const { world, node } = place
  const mark = markOf(place)
  const inputs = Array.from({ length: world.random.int(2, 8) }, (_, index) =>
    taskInput(place, index === 0 ? mark : mark.replace('>', `.${index}>`)),
  )
  count(world, 'task', inputs.length)
  world.ask(about(place, 'tasks', mark), async () => {
    const [first] = await submitBatch(node.ports, { caller: caller(place), live: node.live }, { tasks: inputs })
    // A task that waited too long is refused by itself, and nothing of it is on record.
    if (first?.taskId === '') throw new ErrGatewayBusy()
    return first?.taskId ?? null
  })
}

function stop(place: Place, how: 'stop' | 'stopall' | 'reset'): void {
  const { world, org, node } = place
  const { key } = world.random.one(org.sessions)
  world.ask(about(place, how), async () => {
    await node.ports.commands.execute(stopSessionCommand(caller(place), sessionKey(key), { how }))
    return null
  })
}

function cancel(place: Place): void {
  const { world, org, node } = place
  const id = world.random.one([...org.runs.slice(-12), 'run_nobody'])
  world.ask(about(place, 'cancel'), async () => {
    await cancelRunById(node.ports, caller(place), id)
    return null
  })
}

function retry(place: Place): void {
  const { world, org, node } = place
  const id = world.random.one([...org.runs.slice(-20), 'run_nobody'])
  world.ask(about(place, 'retry'), () => retryRun(node.ports, caller(place), { id, force: world.random.chance(0.5) }))
}

function runNow(place: Place): void {
  const { world, org, node } = place
  const { id } = someSchedule(place, org.schedules)
  world.ask(about(place, 'run_now'), async () => {
    const answer = await runScheduleNow(node.ports, caller(place), {
      id,
      mode: world.random.one(['force', 'force', 'due']),
    })
    return answer.run_id ?? null
  })
}

const someSchedule = ({ world }: Place, among: readonly SimulatedSchedule[]): Pick<SimulatedSchedule, 'id'> =>
  world.random.one([...among, ...(among.length === 0 ? [{ id: 'sch_nobody' }] : [])])

const MOST_SCHEDULES = 4

/** A schedule of any policy. The first of an org are left alone, so that the tables must show every occurrence of them. */
export function makeSchedule(place: Place, isFixed = false): void {
  const { world, org, node } = place
  const { random } = world
  if (org.schedules.length >= MOST_SCHEDULES) return
  const mark = markOf(place)
  const everyMs = random.chance(0.85) || isFixed ? random.one([1_000, 3_000, 5_000, 10_000]) : null
  const rules = rulesOf(random)
  const input: ScheduleInput = {
    ...rules,
    agent_id: random.one(org.agents).id,
    ...(everyMs === null
      ? { at: formatInstant(later(world.serverNow(), random.int(500, 20_000))) }
      : { every_seconds: everyMs / 1_000 }),
    session: random.chance(0.4) ? random.one(org.sessions).key : 'isolated',
    payload: { prompt: `${mark} lane=cron` },
    ...(random.chance(0.2) ? { max_fires: random.int(3, 12) } : {}),
  }
  world.ask(about(place, 'schedule'), async () => {
    const { id } = await createSchedule(node.ports, caller(place), input)
    const isLimited = rules.concurrency_policy !== 'PARALLEL' && rules.overlap_action !== 'PARALLEL'
    org.schedules.push({ id, isFixed, everyMs, maxConcurrency: isLimited ? rules.max_concurrency : null })
    return null
  })
}

const rulesOf = (random: Random) => ({
  misfire_policy: random.one(MISFIRE_POLICIES),
  catchup_limit: random.int(1, 4),
  overlap_action: random.one(OVERLAP_ACTIONS),
  failure_action: random.one(FAILURE_ACTIONS),
  concurrency_policy: random.one(CONCURRENCY_POLICIES),
  max_concurrency: random.int(1, 2),
  queue_depth: random.int(0, 3),
})

const loose = ({ org }: Place): readonly SimulatedSchedule[] => org.schedules.filter(({ isFixed }) => !isFixed)

function editSchedule(place: Place): void {
  const { world, node } = place
  const { id } = someSchedule(place, loose(place))
  const { random } = world
  const change: ScheduleInput = random.chance(0.3) ? { every_seconds: random.int(1, 8) } : rulesOf(random)
  world.ask(about(place, 'schedule_rules'), async () => {
    await updateSchedule(node.ports, caller(place), { id, change })
    return null
  })
}

function switchSchedule(place: Place): void {
  const { world, node } = place
  const { id } = someSchedule(place, loose(place))
  const act = world.random.chance(0.5) ? enableSchedule : disableSchedule
  world.ask(about(place, 'schedule_switch'), async () => {
    await act(node.ports, caller(place), { id })
    return null
  })
}

function removeSchedule(place: Place): void {
  const { world, org, node } = place
  const { id } = someSchedule(place, loose(place))
  world.ask(about(place, 'schedule_delete'), async () => {
    await deleteSchedule(node.ports, caller(place), { id })
    const index = org.schedules.findIndex((one) => one.id === id)
    if (index !== -1) org.schedules.splice(index, 1)
    return null
  })
}

function editSession(place: Place): void {
  const { world, org, node } = place
  const { random } = world
  const session = random.one(org.sessions)
  const change = {
    mode: random.one([...SESSION_MODES, 'queue'] as const),
    cap: random.int(1, 5),
    drop: random.one(['old', 'new'] as const),
    debounce_ms: random.one([0, 400, 800, 800]),
    max_concurrent: session.isFixed ? session.maxConcurrent : random.int(1, 3),
  }
  world.ask(about(place, 'session_rules'), async () => {
    await updateSession(node.ports, { ...caller(place), key: session.key }, change)
    return null
  })
}

function editAgent(place: Place): void {
  const { world, org, node } = place
  const { random } = world
  const agent = org.agents.find(({ isFixed }) => !isFixed)
  if (agent === undefined) return
  const change = { max_concurrent: random.one([null, 1, 2]), timeout_seconds: random.int(4, 14) }
  world.ask(about(place, 'agent_rules'), async () => {
    await updateAgent(node.ports, caller(place), { id: agent.id, change })
    return null
  })
}

function resizeLane(place: Place): void {
  const { world, node } = place
  const lane = { name: world.random.one(['main', 'cron', 'task', 'extra']), concurrency: world.random.int(1, 4) }
  world.ask(about(place, 'lane'), async () => {
    await setLane(node.ports, caller(place), lane)
    return null
  })
}

/** Somebody edits the file that all nodes read. */
function changeSettings({ world, node }: Place): void {
  const { random } = world
  const change = {
    sessions: { cap: random.int(2, 5), debounce_ms: random.one([0, 400, 800]) },
    schedules: { catchup_spacing_ms: random.one([0, 1_000]) },
  }
  world.ask({ kind: 'settings', orgId: world.orgs[0]?.id ?? ('' as never), node, mark: null }, () => {
    const read = parseSettings(change, world.settings)
    if (read.ok) world.settings = read.value
    for (const one of world.nodes)
      if (one.state !== 'gone') for (const office of one.parts.actors.values()) office.refresh()
    return Promise.resolve(null)
  })
}
