import type { OrgId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { DatabaseError } from '../../../src/platform/db/database-error.ts'
import { loadVersions } from '../../../src/engine/transaction/history-store.ts'
import { expectKnownAttempts } from '../checks/memory.ts'
import { expectOnRecord, lookEverywhere } from '../look.ts'
import { aliveNodes, type World } from '../shapes.ts'
import { COPY, REWIND } from '../tables.ts'
import { burst } from '../traffic.ts'

/** A failover to a copy without the last transactions, while the nodes go on with the memories they have. */
export async function loseTail(world: World): Promise<void> {
  const { clock, random, quiet, journal } = world
  await quiet.run(() => world.database.query(COPY))
  const from = clock.now()
  for (let rounds = random.int(1, 3); rounds > 0; rounds -= 1) await pass(world, random.int(1, 4))
  for (const { parts } of aliveNodes(world)) for (const { id } of world.orgs) parts.actorOf(id).wake()
  await quiet.settled()
  const before = await versionOf(world)
  await quiet.run(() => world.database.query(REWIND))
  // Whatever was under way has failed.
  for (const { parts } of world.nodes) parts.health.failed(new DatabaseError('connection_lost'))
  // A failover takes its time.
  clock.jumpTo(later(clock.now(), random.int(500, 3_000)))
  const to = clock.now()
  journal.tails.push({ from, to })
  // Renewals of leases are lost, too.
  for (const [id, renewals] of journal.leases)
    journal.leases.set(
      id,
      renewals.filter((at) => at < from || at > to),
    )
  world.faults.tail_lost += 1
  world.tell('the server has lost its last transactions')
  if (random.chance(0.7)) await writeAnew(world, before + random.int(0, 2))
  if (random.chance(0.4)) await lookLater(world)
  await lookEverywhere(world)
}

const versionOf = async ({ database, orgs, talk }: World): Promise<number> =>
  (await loadVersions(database)).get(orgs[talk.org]?.id as OrgId) ?? 0

const MAX_REQUESTS = 15

/** One node writes as many turns as were lost, or more, before the others look. */
async function writeAnew(world: World, until: number): Promise<void> {
  const writer = world.random.one(aliveNodes(world))
  for (let asked = 0; asked < MAX_REQUESTS && (await versionOf(world)) < until; asked += 1) {
    burst(world, writer, 1)
    await world.quiet.settled()
  }
}

/** By then every answer has come and every node has looked; the look that comes by itself may come later. */
const LOOKED_MS = 25_000

async function lookLater(world: World): Promise<void> {
  const { clock, quiet } = world
  for (const { faulty } of world.nodes) faulty.disarm()
  await clock.moveTo(later(clock.now(), LOOKED_MS), quiet.settled)
  await expectOnRecord(world)
  for (const node of aliveNodes(world)) for (const { id } of world.orgs) await expectKnownAttempts(world, node, id)
}

async function pass(world: World, requests: number): Promise<void> {
  const { clock, random, quiet } = world
  for (let asked = 0; asked < requests; asked += 1) {
    burst(world, random.one(aliveNodes(world)), 1)
    await quiet.settled()
  }
  await clock.moveTo(later(clock.now(), random.int(0, 1_500)), quiet.settled)
}
