import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scheduleId } from '../../../src/domain/ids.ts'
import { HOUR_MS } from '../../../src/domain/instant.ts'
import { createSchedule } from '../../../src/features/schedules/service.ts'
import { fireCommands } from '../../../src/engine/commands/engine-commands.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { ORG } from '../../platform/db/records.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

const SCHEDULES = 100

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
  for (let index = 0; index < SCHEDULES; index += 1)
    await createSchedule(world.ports, world.caller, { every_seconds: 3_600, payload: `look ${index}` })
})
afterAll(() => world.drop())

const decided = async (): Promise<unknown> =>
  (await world.rows(`select count(*)::int as count from run where trigger = 'schedule'`))[0]?.['count']

describe('an org with many schedules due at once and no time left in a transaction', () => {
  it('decides a piece of them in each transaction, and all of them in the end', async () => {
    world.pass(HOUR_MS)
    const ids = (await world.rows('select id from schedule order by id')).map(({ id }) => scheduleId(id as string))
    const node = await openNode(world, { isOver: () => true })
    const works = fireCommands(ORG, ids) as Command<unknown>[]
    const counts: unknown[] = []
    while (works.length > 0) {
      works.splice(0, (await node.turn(...works)).length)
      counts.push(await decided())
    }
    expect(counts).toEqual([32, 64, 96, 100])
  })
})
