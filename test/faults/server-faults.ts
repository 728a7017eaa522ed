import { stepClock } from './server-faults/clock-step.ts'
import { holdLock } from './server-faults/lock-held.ts'
import { makeManyDue } from './server-faults/many-due.ts'
import { loseTail } from './server-faults/tail-lost.ts'
import type { ServerFault } from './faults.ts'
import type { World } from './shapes.ts'

interface Strike {
  readonly happen: (world: World) => Promise<void> | void
  /** How likely it is after each step. */
  readonly chance: number
}

const STRIKES: Record<ServerFault, Strike> = {
  tail_lost: { happen: loseTail, chance: 0.15 },
  lock_held: { happen: holdLock, chance: 0.08 },
  clock_step: { happen: stepClock, chance: 0.25 },
  many_due: { happen: makeManyDue, chance: 0.04 },
}

/** What happens to the server of this world happens now, perhaps; at the latest when half of the world is over. */
export async function strikeServer(world: World, over: number): Promise<void> {
  const { serverFault, random, faults } = world
  if (serverFault === null) return
  const { happen, chance } = STRIKES[serverFault]
  if (random.chance(chance) || (over > 0.5 && faults[serverFault] === 0)) await happen(world)
}
