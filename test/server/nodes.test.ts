import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeView, nodePage } from '../../src/features/nodes/schema.ts'
import type { Page } from '../../src/api/page.ts'

import { later } from '../../src/domain/instant.ts'
import { insertNode } from '../../src/features/nodes/store.ts'
import { createHttpWorld, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

it('nodes are listed for the operator alone, with those that are gone', async () => {
  const { db, now } = world.services
  const node = { draining: false, lost: false, executors: ['echo'], lanes: {}, program: 'test' }
  await insertNode(db, { ...node, id: 'nod_1', startedAt: now, leaseUntil: later(now, 15_000) })
  await insertNode(db, { ...node, id: 'nod_2', startedAt: later(now, 1), leaseUntil: now, lost: true })
  const page = (await world.ask('GET', '/api/v1/nodes', { as: 'operator' })).json<Page<NodeView>>()
  expect(nodePage.parse(page).items.map(({ id, alive, executors }) => [id, alive, executors])).toEqual([
    ['nod_1', true, ['echo']],
    ['nod_2', false, ['echo']],
  ])
  for (const as of ['owner', 'viewer', 'stranger'])
    problemIn(await world.ask('GET', '/api/v1/nodes', { as }), 'FORBIDDEN')
})
