import { afterAll, beforeAll, expect, it } from 'vitest'
import { later } from '../../src/domain/instant.ts'
import { leasePass } from '../../src/engine/loops/loops.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { askedSeed } from '../support/seeds.ts'
import { PATIENCE_MS } from './run-seeds.ts'
import { QUIET_LANE } from './start-together.ts'
import { sendPlain } from './traffic.ts'
import { createWorld } from './world.ts'

let test: TestDatabase
let database: Database
beforeAll(async () => {
  test = await createTestDatabase('migrated')
  database = await test.open({ pool: 3, pinPlans: true })
}, PATIENCE_MS)
afterAll(() => test.drop())

/** Longer than a lease, and no time at which the node would look by itself afterwards is waited for. */
const LAPSED_MS = 6_000

it.skipIf(askedSeed() !== null)(
  'what came while the lease had lapsed starts when it is renewed',
  async () => {
    const world = await createWorld({ seed: 0, database })
    const { clock, quiet } = world
    const [node, ...others] = world.nodes
    const [org] = world.orgs
    if (node === undefined || org === undefined) throw new Error('a world has nodes and orgs')
    for (const other of others) other.die()
    node.forgetful = Infinity
    await clock.moveTo(later(clock.now(), LAPSED_MS), quiet.settled)
    sendPlain({ world, org, node }, { key: 'agent:cleo:chat:direct:pair', lane: QUIET_LANE })
    await quiet.settled()
    const before = world.journal.performances.size
    await leasePass(node.parts)
    await quiet.settled()
    expect([before, world.journal.performances.size]).toEqual([0, 1])
  },
  PATIENCE_MS,
)
