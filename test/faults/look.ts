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

async function lookInto(world: World, node: SimulatedNode, { id }: SimulatedOrg): Promise<void> {
  const office = node.parts.officeOf(id)
  office.wake()
  await world.quiet.settled()
  await expectTrueMemory(world, node, id)
  await expectKnownAttempts(world, node, id)
}
