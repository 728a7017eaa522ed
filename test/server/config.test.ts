import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createConfigReloader, type ConfigReloader } from '../../src/platform/config/reload.ts'
import type { ConfigView } from '../../src/platform/config/view.ts'
import { config } from '../../src/features/config/schema.ts'
import { loadStoredSettings } from '../../src/features/config/service.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  const made = createConfigReloader({
    file: new Map<string, unknown>([['tasks.max_queue', 500]]),
    environment: new Map<string, unknown>([['tasks.executor.token', 'hush']]),
    flag: new Map(),
    stored: new Map(),
  })
  if (!made.ok) throw new Error(JSON.stringify(made.flaws))
  const keeper: ConfigReloader = made.value
  const refresh = async (): Promise<void> => {
    keeper.takeStored((await loadStoredSettings(world.services.db)).layer)
  }
  world.change({ config: { view: () => ({ file: '/etc/escapement.yaml', values: keeper.view() }), refresh } })
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('delete from setting', [])
  await world.services.db.query('delete from lane', [])
})

const URL = '/api/v1/config'
const show = async (): Promise<ConfigView> => (await world.ask('GET', URL, { as: 'operator' })).json<ConfigView>()
const patch = (body: unknown, as = 'operator') => world.ask('PATCH', URL, { body, as })

describe('the configuration', () => {
  it('shows every setting with who has set it, and no secrets', async () => {
    const view = await show()
    expect(config.parse(view).file).toBe('/etc/escapement.yaml')
    expect(view.values['tasks.max_queue']).toMatchObject({ value: 500, source: 'file', default: 1_000, hot: true })
    expect(view.values['lanes.main']).toMatchObject({ value: 30, source: 'default' })
    expect(view.values['tasks.executor.token']).toMatchObject({ source: 'environment' })
    expect(JSON.stringify(view)).not.toContain('hush')
  })

  it('is changed while everything runs, whole, and taken back by null', async () => {
    const changed = await patch({ tasks: { max_queue: 2_000 }, lanes: { main: 9 } })
    expect(changed.statusCode).toBe(200)
    const { values } = changed.json<ConfigView>()
    expect([values['tasks.max_queue'], values['lanes.main']]).toMatchObject([
      { value: 2_000, source: 'stored' },
      { value: 9, source: 'stored' },
    ])
    await patch({ tasks: { max_queue: null } })
    expect((await show()).values['tasks.max_queue']).toMatchObject({ value: 500, source: 'file' })
  })

  it.each([
    [{ tasks: { max_queue: -1 } }, '/tasks/max_queue'],
    [{ tasks: { max_queue: 1.5 } }, '/tasks/max_queue'],
    [{ tasks: { max_quue: 5 } }, '/tasks/max_quue'],
    [{ server: { port: 1 } }, '/server/port'],
  ])('is not changed by what is wrong, nor by anything beside it: %j', async (wrong, pointer) => {
    const before = await show()
    expect(pointersIn(await patch({ log: { level: 'debug' }, ...wrong }))).toEqual([pointer])
    expect(await show()).toEqual(before)
  })

  it('belongs to the operator', async () => {
    for (const as of ['owner', 'viewer', 'stranger']) {
      problemIn(await world.ask('GET', URL, { as }), 'FORBIDDEN')
      problemIn(await patch({ log: { level: 'debug' } }, as), 'FORBIDDEN')
    }
  })
})
