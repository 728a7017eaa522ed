import { later } from '../../src/domain/instant.ts'
import { loadTransactionWriter, loadVersion } from '../../src/engine/transaction/history-store.ts'
import { expectKnownAttempts, expectTrueMemory, isAt } from './checks/memory.ts'
import { expectNoDeadHolders } from './checks/holders.ts'
import { expectAnswers } from './checks/answers.ts'
import { demand } from './checks/invariants.ts'
import { aliveNodes, type SimulatedNode, type SimulatedOrg, type World } from './shapes.ts'

/** Holds what some node remembers of some org, and what everybody was told, against the tables. */
export async function look(world: World): Promise<void> {
  await lookInto(world, world.random.one(aliveNodes(world)), world.random.one(world.orgs))
  expectNothingBroken(world)
  expectAnswers(world)
  await expectNoDeadHolders(world)
}

/** What was seen to be wrong while it happened. */
export function expectNothingBroken({ journal }: World): void {
  for (const { invariant, message } of journal.broken) demand(false, invariant, () => message)
}

/** Holds what every node remembers against the tables. */
export async function lookEverywhere(world: World): Promise<void> {
  for (const node of aliveNodes(world)) for (const org of world.orgs) await lookInto(world, node, org)
}

/** A poll, and what may keep it. */
const POLLED_MS = 9_000

/** Whatever became of notifications, every node finds out by itself what others have changed. */
export async function expectChangesHeard(world: World): Promise<void> {
  const { clock, quiet, database } = world
  await clock.moveTo(later(clock.now(), POLLED_MS), quiet.settled)
  for (const { name, parts, isFrozen } of aliveNodes(world))
    for (const [orgId, office] of parts.actors) {
      const [memory, newest] = [office.loaded(), await loadVersion(database, orgId)]
      demand(
        isFrozen() || memory === null || isAt(memory, newest),
        'changes_are_heard',
        () => `${name} knows turn ${memory?.version ?? 0} of ${orgId}, which is at ${newest.version}`,
      )
    }
}

/** Nobody goes on with a memory that ends with a turn which the server has lost. */
export async function expectOnRecord(world: World): Promise<void> {
  for (const { name, parts } of aliveNodes(world))
    for (const [orgId, office] of parts.actors) {
      const memory = office.loaded()
      if (memory === null || memory.isUnsettled || memory.version === 0) continue
      const { version, newest } = memory
      const writer = await world.database.transaction((tx) => loadTransactionWriter(tx, { orgId, no: version }))
      demand(
        writer?.nodeId === newest.writer && writer.at === newest.at,
        'memory_is_on_record',
        () => `${name} remembers ${orgId} up to turn ${version} of ${String(newest.writer)}, which is not on record`,
      )
    }
}

async function lookInto(world: World, node: SimulatedNode, { id }: SimulatedOrg): Promise<void> {
  const office = node.parts.actorOf(id)
  office.wake()
  await world.quiet.settled()
  await expectTrueMemory(world, node, id)
  await expectKnownAttempts(world, node, id)
}
