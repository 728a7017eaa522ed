import type { OrgId } from '../../../src/domain/ids.ts'
import { earlier, later, type Instant } from '../../../src/domain/instant.ts'
import { orgLock } from '../../../src/engine/transaction/history-store.ts'
import { toTimestamp } from '../../../src/platform/db/table.ts'
import { demand } from '../checks/invariants.ts'
import { aliveNodes, type World } from '../shapes.ts'
import { burst } from '../traffic.ts'

/** Until then what was under way when the lock was taken has been answered, however late. */
const SETTLED_MS = 21_000

/** A poll and a little more. */
const MAX_LATE_MS = 10_000

/** Another client holds the lock of one org for up to a minute; nothing else goes wrong meanwhile. */
export async function holdLock(world: World): Promise<void> {
  const { clock, random, quiet, heldLocks } = world
  for (const { faulty } of world.nodes) faulty.disarm()
  const { id } = random.one(world.orgs)
  const [, number] = orgLock(id)
  const began = clock.now()
  const until = later(began, random.int(25_000, 60_000))
  heldLocks.add(number)
  world.faults.lock_held += 1
  world.tell(`another client holds the lock of ${id}`)
  while (clock.now() < until) {
    world.talk = { ...world.talk, org: random.int(0, world.orgs.length - 1) }
    burst(world, random.one(aliveNodes(world)), random.int(0, 2))
    await clock.moveTo(later(clock.now(), random.int(500, 4_000)), quiet.settled)
    if (clock.now() - began > SETTLED_MS) await expectOthersOnTime(world, id)
  }
  heldLocks.delete(number)
  world.tell(`the lock of ${id} is free`)
  await clock.moveTo(later(clock.now(), MAX_LATE_MS), quiet.settled)
}

/** Occurrences of other orgs are decided when they are due, or at the next poll. */
async function expectOthersOnTime({ database, clock, serverNow }: World, held: OrgId): Promise<void> {
  const rows = await database.query(
    `select org_id, id, next_run_at from schedule
      where state = 'active' and org_id <> $1 and next_run_at < $2::timestamptz`,
    [held, toTimestamp(earlier(serverNow(), MAX_LATE_MS))],
  )
  for (const row of rows)
    demand(
      false,
      'others_on_time',
      () =>
        `${String(row['id'])} of ${String(row['org_id'])} is ${clock.now() - (row['next_run_at'] as Instant)} ms late`,
    )
}
