import { later } from '../../src/core/instant.ts'
import { findVersions } from '../../src/service/turn/lookups.ts'
import { expectTrueMemory, expectKnownAttempts } from './checks/memory.ts'
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
  const versions = await findVersions(database)
  for (const { name, parts, isFrozen } of aliveNodes(world))
    for (const [orgId, office] of parts.offices) {
      const [known, newest] = [office.memory()?.version ?? null, versions.get(orgId) ?? 0]
      demand(
        isFrozen() || known === null || known === newest,
        'changes_are_heard',
        () => `${name} knows turn ${known ?? 0} of ${orgId}, which is at ${newest}`,
      )
    }
}

async function lookInto(world: World, node: SimulatedNode, { id }: SimulatedOrg): Promise<void> {
  const office = node.parts.officeOf(id)
  office.wake()
  await world.quiet.settled()
  await expectTrueMemory(world, node, id)
  await expectKnownAttempts(world, node, id)
}
