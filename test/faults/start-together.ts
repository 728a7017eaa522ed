import { laneName } from '../../src/domain/ids.ts'
import { later } from '../../src/domain/instant.ts'
import { loadVersions } from '../../src/engine/transaction/history-store.ts'
import { demand } from './checks/invariants.ts'
import { aliveNodes, type World } from './shapes.ts'
import { sendPlain } from './traffic.ts'

/** A lane with room that nothing else uses. */
export const QUIET_LANE = 'pair'

/** As long as the answer to a commit is under way here. */
const ANSWERED_MS = 1_600

/** Two orgs have something to start on one node at the same time, and the answer to the commit of the first is late. */
export async function startTogether(world: World): Promise<void> {
  const { random, clock, quiet } = world
  const [first, second] = world.orgs
  const node = random.one(aliveNodes(world))
  if (first === undefined || second === undefined || node.parts.state.draining) return
  node.faulty.disarm()
  await quiet.settled()
  node.faulty.arm('answer_late')
  for (const org of random.chance(0.5) ? [first, second] : [second, first]) {
    sendPlain({ world, org, node }, { key: 'agent:cleo:chat:direct:pair', lane: QUIET_LANE })
    await quiet.settled()
  }
  await clock.moveTo(later(clock.now(), ANSWERED_MS), quiet.settled)
  const { lanes, actors: offices, ctx } = node.parts
  const lane = laneName(QUIET_LANE)
  const versions = await loadVersions(world.database)
  for (const { id } of [first, second]) {
    const memory = offices.get(id)?.loaded()
    if (node.state !== 'alive' || !lanes.hasRoom(lane, id) || memory?.version !== versions.get(id)) continue
    const at = { now: ctx.clock.now(), lane: { name: lane, size: 1, held: 0 }, catchup: { inFlight: 0, limit: 1 } }
    const next = memory?.readyQueue.next(at)
    demand(!next, 'starts_on_time', () => `${node.name} has room in ${lane} and ${next?.id ?? ''} of ${id} for it`)
  }
}
