import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LaneView, lane, lanePage } from '../../src/features/lanes/schema.ts'
import type { Page } from '../../src/api/page.ts'

import { createLiveWorld, type LiveWorld } from './live.ts'
import { pointersIn, problemIn } from './support.ts'

let open: () => void
const gate = new Promise<string>((resolve) => {
  open = () => resolve('done')
})

let world: LiveWorld
beforeAll(async () => {
  world = await createLiveWorld({ worker: () => gate })
  const { lanes } = world.engine.parts
  // As a server does when what is stored has changed.
  const refresh = async (): Promise<void> => {
    const rows = await world.engine.ports.database.query('select name, concurrency from lane', [])
    lanes.resize(new Map(rows.map((row) => [row['name'], row['concurrency']] as never)))
  }
  world.change({ config: { view: () => ({ file: null, values: {} }), refresh } })
})
afterAll(async () => {
  open()
  await world.close()
})

const URL = '/api/v1/lanes'
/** There is one org. */
const UNSHARED = { max_per_org: null, largest_org: null }
const put = (name: string, body: unknown, as = 'operator') => world.ask('PUT', `${URL}/${name}`, { body, as })
const shown = async (as: string): Promise<ReadonlyMap<string, LaneView>> => {
  const page = (await world.ask('GET', URL, { as })).json<Page<LaneView>>()
  lanePage.parse(page)
  return new Map(page.items.map((one) => [one.name, one]))
}

describe('lanes', () => {
  it("show everybody's work to the operator, and their own to the others", async () => {
    for (const session of ['a', 'b'])
      await world.ask('POST', `/api/v1/sessions/${session}/messages`, { body: { text: 'x', debounce_ms: 0 } })
    await world.ask('POST', '/api/v1/sessions/a/messages', { body: { text: 'y', debounce_ms: 0 } })
    const busy = { name: 'main', concurrency: 30, active: 2, pending: 1, ...UNSHARED }
    await expect.poll(async () => (await shown('owner')).get('main')).toEqual(busy)
    expect((await shown('operator')).get('main')).toEqual(busy)
    expect((await shown('stranger')).get('main')).toEqual({ ...busy, active: 0, pending: 0 })
    expect([...(await shown('viewer')).keys()]).toEqual(['main', 'subagent', 'team', 'cron', 'task'])
  })

  it('are set for every node by the operator, and made when they are not there', async () => {
    const response = await put('main', { concurrency: 40 })
    expect(response.statusCode).toBe(200)
    expect(lane.parse(response.json())).toEqual({ name: 'main', concurrency: 40, active: 2, pending: 1, ...UNSHARED })
    expect((await put('slow%20things', { concurrency: 2 })).json()).toEqual({
      ...{ name: 'slow things', concurrency: 2, active: 0, pending: 0, ...UNSHARED },
    })
    expect((await shown('operator')).get('main')).toMatchObject({ concurrency: 40 })
    // The alias means the lane it stands for.
    expect((await put('delegate', { concurrency: 7 })).json()).toMatchObject({ name: 'team', concurrency: 7 })
  })

  it.each([
    [{ concurrency: 0 }, '/concurrency'],
    [{ concurrency: -1 }, '/concurrency'],
    [{ concurrency: 1.5 }, '/concurrency'],
    [{ concurrency: '5' }, '/concurrency'],
    [{ concurrency: 10_000_000_000 }, '/concurrency'],
    [{}, '/concurrency'],
    [{ concurrency: 5, size: 5 }, '/size'],
  ])('are not set to what is no size: %j', async (body, pointer) => {
    expect(pointersIn(await put('cron', body))).toEqual([pointer])
    expect((await shown('operator')).get('cron')).toMatchObject({ concurrency: 30 })
  })

  it('are not set by anybody else', async () => {
    for (const as of ['owner', 'member', 'stranger']) problemIn(await put('cron', { concurrency: 5 }, as), 'FORBIDDEN')
    expect((await shown('operator')).get('cron')).toMatchObject({ concurrency: 30 })
  })
})
