import { formatInstant, later } from '../../../src/domain/instant.ts'
import { toTimestamp } from '../../../src/platform/db/table.ts'
import { demand } from '../checks/invariants.ts'
import { aliveNodes, type World } from '../shapes.ts'
import { sendPlain } from '../traffic.ts'

/** A session takes so many, and the others are dropped. */
const PER_SESSION = 4
const MAX_DUE = 320
const MAX_TURNS = 50
const DEADLINE_MS = 4_000

/** From their deadline on, everything has ended after this time. */
const MAX_LATE_MS = 20_000

/** Hundreds of messages of one org have the same deadline, and nothing is looked at until it has passed. */
export async function makeManyDue(world: World): Promise<void> {
  const { clock, random, quiet, database } = world
  for (const { faulty } of world.nodes) faulty.disarm()
  const org = random.one(world.orgs)
  const node = random.one(aliveNodes(world))
  const deadline = later(world.serverNow(), DEADLINE_MS)
  world.faults.many_due += 1
  world.tell(`many messages to ${org.id} are due at ${formatInstant(deadline)}`)
  const count = Math.min(MAX_DUE, MAX_TURNS * world.turnLimits.maxChanges)
  for (let index = 0; index < count; index += 1)
    sendPlain({ world, org, node }, { key: `agent:ada:chat:direct:due${Math.floor(index / PER_SESSION)}`, deadline })
  await quiet.settled()
  clock.jumpTo(later(clock.now(), 2 * DEADLINE_MS))
  await clock.moveTo(later(clock.now(), MAX_LATE_MS), quiet.settled)
  const [left] = await database.query(
    `select count(*)::int as count from pending p join run r using (org_id, id)
      where r.deadline <= $1::timestamptz and p.attempt_id is null`,
    [toTimestamp(deadline)],
  )
  demand(left?.['count'] === 0, 'nothing_stuck', () => `${String(left?.['count'])} are overdue`)
}
