import type { RunId } from '../../src/domain/ids.ts'
import { later } from '../../src/domain/instant.ts'
import { isTerminal } from '../../src/domain/run/run-machine.ts'
import { noChanges, type Changes } from '../../src/engine/org-state/org-state.ts'
import { clearedChanges, runTransactionInMemory, type StateCommand } from '../../src/engine/transaction/in-memory.ts'
import { claimRuns, type Claim, type SlotOffer } from '../../src/engine/transaction/claim.ts'
import { nextDueTime, reasonToAbort } from '../../src/engine/transaction/pass-time.ts'
import type { RunRow } from '../../src/features/runs/store.ts'
import { isAlive, isHeldRow, type Execution, type Node, type Org, type World } from './world.ts'

/** Something is done in an org, by a node that takes on no work. */
export function act(world: World, org: Org, works: readonly StateCommand[]): void {
  transact(world, org, { works, node: null })
}

/** Time passes in every org in which something has become due. */
export function passTime(world: World): void {
  for (const org of world.orgs) if ((nextDueTime(org.memory) ?? Infinity) <= world.now) act(world, org, [])
}

/** More rounds than it ever takes until no node finds anything more to do. */
const MAX_ROUNDS = 50

/** Nodes start what they can, again and again until nobody finds anything. */
export function startWhatMay(world: World): void {
  const nodes = world.nodes.filter((node) => isAlive(node) && !node.draining)
  let isBusy = true
  for (let round = 0; isBusy && round < MAX_ROUNDS; round += 1) {
    isBusy = false
    for (const node of nodes) {
      node.hasFreed = false
      for (const org of world.orgs)
        if (isWanted(world, org, node)) isBusy = transact(world, org, { works: [], node }) || isBusy
      isBusy ||= node.hasFreed
    }
  }
}

/** Whether the node has a reason to look at the org. */
function isWanted(
  { now }: World,
  { id, memory: { readyQueue: lineUp, held, state: desk } }: Org,
  { sizes, lanes }: Node,
): boolean {
  if (lanes.waiting().has(id)) return true
  for (const lane of sizes.keys()) if (lineUp.hasReady(lane)) return true
  return (held.next() ?? Infinity) <= Math.max(now, desk.now)
}

interface Asked {
  readonly works: readonly StateCommand[]
  readonly node: Node | null
}

/** One transaction of an org, as the product takes it, watched. Answers whether anything has changed. */
function transact(world: World, org: Org, { works, node }: Asked): boolean {
  const { memory, id } = org
  org.transactions += 1
  const changes = clearedChanges(changesOf(world, org))
  const claims = runTransactionInMemory(memory, org.facts(node), {
    at: { now: world.now, no: org.transactions, changes },
    commands: works,
    claim: () => (node === null ? [] : claimRuns(memory, offerOf(org, node))),
  })
  for (const [run, behind] of changes.backlogged) org.backlog.set(run.id, { run, behind })
  node?.lanes.settleOffer(id)
  if (node !== null) for (const claim of claims) begin(world, { org, node, claim })
  node?.lanes.withdrawOffer(id)
  for (const execution of world.executions.values()) if (changes.changed.has(execution.run)) look(world, execution)
  memory.idleSchedules.clear()
  return changes.created.size + changes.changed.size > 0
}

const offerOf = ({ id, memory }: Org, { name, lanes }: Node): SlotOffer =>
  lanes.offer({
    orgId: id,
    nodeId: name,
    isReady: memory.readyQueue.hasReady,
    catchupLimit: memory.state.settings.schedules.catchupMaxActive,
    awaitsCatchup: () => memory.held.isBlocked,
  })

const WATCHED = new WeakMap<Org, Changes>()

function changesOf(world: World, org: Org): Changes {
  const changes = WATCHED.get(org) ?? watched(world, org)
  WATCHED.set(org, changes)
  return changes
}

/** Changes that are told to the observer as they are made: every run says when it is made and when its state changes. */
function watched(world: World, org: Org): Changes {
  const changes = noChanges()
  const { created: made, events } = changes
  let newest: RunRow | null = null
  made.add = (run) => {
    newest = run
    return Set.prototype.add.call(made, run) as typeof made
  }
  events.push = (...told) => {
    for (const event of told) {
      events[events.length] = event
      if (event.kind !== 'run.changed') continue
      const run = newest?.id === event.subject ? newest : org.memory.state.runs.get(event.subject as RunId)
      if (run === undefined) throw new Error(`${event.subject} has changed and is nowhere`)
      tell(world, run)
    }
    return events.length
  }
  return changes
}

function tell(world: World, run: RunRow): void {
  const { told, runs, observer } = world
  const before = told.get(run.id)
  told.set(run.id, { state: run.state, held: isHeldRow(run) })
  if (before === undefined) {
    runs.set(run.id, run)
    observer.created(world, run)
    return
  }
  if (before.held && run.state !== 'cancelled') observer.released(world, run)
  observer.moved(world, run, before)
}

function begin(
  world: World,
  { org, node, claim }: { readonly org: Org; readonly node: Node; readonly claim: Claim },
): void {
  const { random, settings } = world
  const { run, attemptId, lane } = claim
  world.executions.set(attemptId, {
    ...{ org, node, run, runId: run.id, attemptId, wasAskedToStop: false },
    release: node.lanes.hold({ orgId: org.id, lane, catchup: run.trigger === 'catchup' }),
    reportsAt: later(world.now, random.int(0, 6_000) * settings.pace),
    report: drawReport(world),
  })
  world.observer.started(world, run, node)
}

function drawReport(world: World): Execution['report'] {
  const drawn = world.random.next()
  if (drawn < 0.6) return 'succeed'
  if (drawn < 0.75) return 'fail'
  if (drawn < 0.8) return 'refuse'
  if (drawn < 0.9) return 'accept'
  return drawn < 0.93 ? 'stop' : 'nothing'
}

/** Whoever works on the run looks whether it still should: it mostly obeys, and its slot is free at once. */
function look(world: World, execution: Execution): void {
  const { org, run, node, attemptId } = execution
  const isHolder = run.attemptId === attemptId && run.nodeId === node.name && !isTerminal(run.state)
  if (!isHolder) {
    execution.release?.()
    execution.release = null
  }
  if (!execution.wasAskedToStop && reasonToAbort(org.memory, execution) !== null) {
    execution.wasAskedToStop = true
    if (execution.reportsAt < Infinity && world.random.chance(0.8)) {
      execution.report = 'stop'
      execution.reportsAt = later(world.now, world.random.int(0, 2_000))
    }
  }
  forgetIfOver(world, execution)
}

/** It holds nothing and has nothing more to say. */
export function forgetIfOver(world: World, { attemptId, release, reportsAt }: Execution): void {
  if (release === null && reportsAt === Infinity) world.executions.delete(attemptId)
}
