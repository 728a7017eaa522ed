import { later, type Instant } from '../../src/domain/instant.ts'
import { createBudget } from '../../src/features/budgets/service.ts'
import { leaveDeployment } from '../../src/features/nodes/membership.ts'
import { disableSchedule } from '../../src/features/schedules/service.ts'
import { updateSession } from '../../src/features/sessions/view.ts'
import { demand } from './checks/invariants.ts'
import { expectChangesHeard, look } from './look.ts'
import { startTogether } from './start-together.ts'
import { strikeServer } from './server-faults.ts'
import { NODE_FAULTS, STORE_FAULTS, type NodeFault } from './faults.ts'
import { parseSettings } from '../../src/features/config/settings.ts'
import { burst, makeSchedule } from './traffic.ts'
import { aliveNodes, hasBudget, type SimulatedNode, type World } from './shapes.ts'
import { addNode, createWorld, type WorldOptions } from './world.ts'

/** Operations in every world, at least; timers, reports and occurrences come on top. */
export const OPERATIONS = 200

/** How often a round of rest brings three more seconds; more than any world needs. */
const MAX_REST_ROUNDS = 200

/** Lets a whole world happen and come to rest. The same seed gives the same world. */
export async function simulate(options: WorldOptions): Promise<World> {
  const world = await createWorld(options)
  await begin(world)
  while (operationsOf(world) < OPERATIONS) await step(world)
  await comeToRest(world)
  return world
}

const operationsOf = ({ operations }: World): number => [...operations.values()].reduce((sum, count) => sum + count, 0)

const settle = (world: World) => (): Promise<void> => world.quiet.settled()

async function begin(world: World): Promise<void> {
  const [node] = world.nodes
  if (node === undefined) throw new Error('a world has nodes')
  for (const org of world.orgs) {
    for (const { key, maxConcurrent } of org.sessions)
      world.ask({ kind: 'session_rules', orgId: org.id, node, mark: null }, async () => {
        await updateSession(node.ports, { orgId: org.id, principal: null, key }, { max_concurrent: maxConcurrent })
        return null
      })
    makeSchedule({ world, org, node }, true)
    if (hasBudget(world.seed))
      world.ask({ kind: 'budget', orgId: org.id, node, mark: null }, async () => {
        const budget = { unit: 'tokens', amount: 1_000_000, on_exceed: 'queue', default_reserve: 10 } as const
        await createBudget(node.ports, { orgId: org.id, principal: null }, budget)
        return null
      })
    await world.quiet.settled()
  }
}

async function step(world: World): Promise<void> {
  const { random, clock } = world
  if (random.chance(0.02)) clock.jumpTo(later(clock.now(), random.int(1_000, 90_000)))
  const idle = random.int(0, random.chance(0.15) ? 5_000 : 1_200)
  await clock.moveTo(later(clock.now(), idle), settle(world))
  armSomething(world)
  if (random.chance(world.isHarsh ? 0.6 : 0.2)) breakSomething(world)
  if (random.chance(0.04)) drainSomething(world)
  const node = somebody(world)
  world.talk = {
    org: random.chance(0.75) ? 0 : random.int(0, world.orgs.length - 1),
    session: random.int(0, 2),
    sender: random.one(['ann', 'bob']),
  }
  burst(world, node, random.chance(0.2) ? 1 : random.int(4, 18))
  await world.quiet.settled()
  if (random.chance(0.08)) await startTogether(world)
  await strikeServer(world, operationsOf(world) / OPERATIONS)
  if (random.chance(0.4)) await look(world)
}

/** Mostly somebody well; sometimes whoever has just been cut off or frozen, and nobody has noticed. */
function somebody(world: World): SimulatedNode {
  const { random } = world
  const there = world.nodes.filter(({ state }) => state !== 'gone')
  return random.one(random.chance(0.1) ? there : aliveNodes(world))
}

function armSomething(world: World): void {
  const { random } = world
  random.one(aliveNodes(world)).faulty.arm(random.one(STORE_FAULTS))
}

/** Something happens to a whole node, as long as two others are well. */
function breakSomething(world: World): void {
  const { random, clock } = world
  if (aliveNodes(world).length < 3) return
  const node = random.one(aliveNodes(world))
  const fault: NodeFault = random.one(NODE_FAULTS)
  const inMs = (ms: number, then: () => void): void => {
    clock.at(later(clock.now(), ms), world.outside, then)
  }
  if (fault !== 'node_gone_inside') {
    world.faults[fault] += 1
    world.tell(`${node.name}: ${fault}`)
  }
  const awayMs = random.int(1_000, 25_000)
  switch (fault) {
    case 'node_gone':
      node.die()
      break
    case 'node_gone_inside':
      node.faulty.arm(fault)
      break
    case 'node_frozen':
      node.freeze()
      inMs(awayMs, () => {
        if (node.state === 'frozen') node.thaw()
      })
      break
    case 'renewal_missed':
      node.forgetful = random.int(1, 2)
      break
    case 'joined_between':
      joinBetween(world, node)
      break
    case 'node_cut_off':
      node.state = 'cut_off'
      // Sometimes for longer than anybody waits for an answer.
      inMs(random.chance(0.25) ? random.int(60_000, 100_000) : awayMs, () => {
        if (node.state === 'cut_off') node.state = 'alive'
      })
      break
  }
  if (fault === 'node_gone' || fault === 'node_gone_inside') inMs(random.int(500, 15_000), () => addNode(world))
}

/** A node joins and claims after this one has looked at the nodes and before it hears what it saw. */
function joinBetween(world: World, watcher: SimulatedNode): void {
  const { clock } = world
  const inMs = (ms: number, then: () => void): void => {
    clock.at(later(clock.now(), ms), world.outside, then)
  }
  watcher.faulty.arm('look_late')
  watcher.whenLooked = () => {
    inMs(100, () => {
      const joiner = addNode(world)
      inMs(200, () => {
        burst(world, joiner, 12)
      })
      // The watcher takes turns meanwhile and hears who holds what.
      inMs(1_500, () => {
        if (watcher.state === 'alive') burst(world, watcher, 4)
      })
    })
  }
}

/** A node goes down in order: nothing new, a while for what runs, then the rest is given back. */
function drainSomething(world: World): void {
  const { random, clock } = world
  if (aliveNodes(world).length < 3) return
  const node = random.one(aliveNodes(world))
  const { parts } = node
  world.tell(`${node.name} drains`)
  world.operations.set('drain', (world.operations.get('drain') ?? 0) + 1)
  parts.state.draining = true
  clock.at(later(clock.now(), 2_000), node, () => {
    for (const execution of parts.executions.all()) execution.abort('shutdown')
  })
  clock.at(later(clock.now(), 5_000), node, () => {
    parts.state.stopped = true
    void leaveDeployment(parts.ctx.database, parts.id())
      .catch(() => undefined)
      .finally(node.die)
  })
  clock.at(later(clock.now(), random.int(500, 8_000)), world.outside, () => addNode(world))
}

/** No more traffic, no more faults, no more occurrences: whatever is left must end by itself. */
async function comeToRest(world: World): Promise<void> {
  const { clock } = world
  heal(world)
  for (let round = 0; round < MAX_REST_ROUNDS; round += 1) {
    await clock.moveTo(later(clock.now(), 3_000), settle(world))
    if (round % 4 === 0) await pauseSchedules(world)
    if (round % 5 === 0) await look(world)
    if (round === 20) await skipAhead(world)
    if (!(await isAtRest(world))) continue
    await expectChangesHeard(world)
    // Everybody hears of the last turn, too.
    for (const { parts } of aliveNodes(world)) for (const { id } of world.orgs) parts.actorOf(id).wake()
    await world.quiet.settled()
    return
  }
  const rows = await world.database.query(
    `select p.*, r.trigger, r.agent_id, r.session_key, r.lane from pending p join run r using (org_id, id)`,
  )
  const open = world.journal.requests.filter(({ outcome, node }) => outcome === 'open' && isThere(world, node))
  demand(false, 'nothing_stuck', () => JSON.stringify({ rows, open }))
}

/** What was asked to wait until a time, by a clock that was ahead, waits until then. */
async function skipAhead({ database, clock }: World): Promise<void> {
  const [row] = await database.query(
    `select max(p.not_before) as last from pending p join run r using (org_id, id) where r.decision ->> 'reason' = 'delayed'`,
  )
  const last = row?.['last'] as Instant | null | undefined
  if (last !== null && last !== undefined) clock.jumpTo(last)
}

const isThere = (world: World, name: string): boolean =>
  world.nodes.some((node) => node.name === name && node.state !== 'gone')

function heal(world: World): void {
  world.calmSince = world.clock.now()
  world.skewMs = 0
  world.tell('traffic has ended')
  for (const node of world.nodes) {
    node.faulty.disarm()
    if (node.state === 'frozen') node.thaw()
    if (node.state === 'cut_off') node.state = 'alive'
  }
  widenLanes(world)
  for (const happen of world.whenCalm) happen()
}

/** What still waits need not wait for long: nothing more is learnt from it. */
function widenLanes(world: World): void {
  const read = parseSettings({ lanes: { main: 20, subagent: 20, cron: 20, task: 20 } }, world.settings)
  if (read.ok) world.settings = read.value
  for (const { parts, largestLanes, state } of world.nodes) {
    if (state === 'gone') continue
    for (const [lane, size] of world.settings.lanes.byName) largestLanes.set(lane, size)
    parts.lanes.resize(world.settings.lanes.byName)
    for (const office of parts.actors.values()) office.refresh()
  }
}

/** Also those that nobody was told of, because their creator was gone before the answer. */
async function pauseSchedules(world: World): Promise<void> {
  const rows = await world.database.query(`select org_id, id from schedule where state = 'active'`)
  const node = aliveNodes(world).find(({ parts }) => !parts.state.draining)
  for (const row of rows) {
    const org = world.orgs.find(({ id }) => id === row['org_id'])
    if (node === undefined || org === undefined) continue
    const id = row['id'] as string
    // Refused when it has ended or been deleted meanwhile. Nobody waits here: the node may be waiting for the clock.
    disableSchedule(node.ports, { orgId: org.id, principal: null }, { id }).catch(() => undefined)
  }
  await world.quiet.settled()
}

async function isAtRest(world: World): Promise<boolean> {
  if (world.nodes.some((node) => node.state !== 'gone' && [...node.working.values()].some((count) => count > 0)))
    return false
  if (world.journal.requests.some(({ outcome, node }) => outcome === 'open' && isThere(world, node))) return false
  const [row] = await world.database.query(
    `select (select count(*) from pending) + (select count(*) from backlog) + (select count(*) from schedule where state = 'active' and next_run_at is not null)
       as left_over`,
  )
  return row?.['left_over'] === 0
}
