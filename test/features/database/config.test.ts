import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ConfigReloader, createConfigReloader, NO_LAYERS } from '../../../src/platform/config/reload.ts'
import { configPatch } from '../../../src/features/config/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { Refusal } from '../../../src/api/refusals.ts'
import {
  updateConfig,
  loadStoredSettings,
  recordReload,
  type ConfigPort,
} from '../../../src/features/config/service.ts'
import { ensureOrg } from '../../../src/features/access/orgs-store.ts'
import { OPERATOR_ORG } from '../../../src/domain/access/access.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
let keeper: ConfigReloader

const caller = { orgId: OPERATOR_ORG, principal: 'key_1' }

beforeAll(async () => {
  world = await createServiceWorld()
  const org = { id: OPERATOR_ORG, name: 'operator', defaultTimezone: 'UTC', defaultAgentId: null, at: world.now }
  await ensureOrg(world.db, org)
})

afterAll(() => world.drop())

beforeEach(async () => {
  await world.db.query('delete from setting', [])
  await world.db.query('delete from lane', [])
  const made = createConfigReloader({ ...NO_LAYERS, file: new Map([['tasks.max_queue', 7]]) })
  if (!made.ok) throw new Error('refused')
  keeper = made.value
})

const config: ConfigPort = {
  view: () => ({ file: null, values: keeper.view() }),
  refresh: async () => {
    keeper.takeStored((await loadStoredSettings(world.db)).layer)
  },
}
const change = async (patch: unknown) =>
  updateConfig({ ...world.ports, config }, caller, schemaReader(configPatch)(patch))
const stored = async (): Promise<unknown> => Object.fromEntries((await loadStoredSettings(world.db)).layer)
const recorded = async (): Promise<readonly unknown[]> =>
  (await world.rows(`select actor, action, before, after from audit where object_kind = 'config' order by no`)).map(
    (row) => ({ ...row }),
  )
const told = async (): Promise<readonly unknown[]> =>
  (
    await world.rows(
      `select e from turn t, json_array_elements(t.events) e where e ->> 0 = 'config.reloaded' order by t.no`,
    )
  ).map((row) => row['e'])

describe('a change of the configuration', () => {
  it('is stored, holds at once, and is on record and told with what was before', async () => {
    const view = await change({ tasks: { max_queue: 9 }, lanes: { gpu: 2, delegate: 3 }, log: { level: 'DEBUG' } })
    expect(view.values['tasks.max_queue']).toEqual({ value: 9, source: 'stored', default: 1_000, hot: true })
    expect(await stored()).toEqual({ 'tasks.max_queue': 9, 'lanes.gpu': 2, 'lanes.team': 3, 'log.level': 'debug' })
    expect((await recorded()).at(-1)).toEqual({
      actor: 'key_1',
      action: 'config.update',
      before: { 'tasks.max_queue': null, 'lanes.gpu': null, 'lanes.team': null, 'log.level': null },
      after: { 'tasks.max_queue': 9, 'lanes.gpu': 2, 'lanes.team': 3, 'log.level': 'debug' },
    })
    expect((await told()).at(-1)).toEqual([
      'config.reloaded',
      'deployment',
      {
        source: 'stored',
        changed: {
          'tasks.max_queue': { from: 7, to: 9 },
          'lanes.gpu': { from: null, to: 2 },
          'lanes.team': { from: 100, to: 3 },
          'log.level': { from: 'info', to: 'debug' },
        },
      },
    ])
  })

  it('that says what holds already is no change', async () => {
    await change({ tasks: { max_queue: 9 } })
    const before = [(await recorded()).length, (await told()).length]
    await change({ tasks: { max_queue: 9 } })
    await change({})
    expect([(await recorded()).length, (await told()).length]).toEqual(before)
  })

  it('keeps what is 0 where nothing would work, and takes 0 where it means "off"', async () => {
    await change({
      tasks: { max_queue: 0 },
      lanes: { main: 0 },
      sessions: { debounce_ms: 0 },
      server: { rate_limit: { per_second: 0 } },
    })
    expect(await stored()).toEqual({ 'sessions.debounce_ms': 0, 'server.rate_limit.per_second': 0 })
  })

  it('takes back with null what was stored, and "for ever" stays a value', async () => {
    await change({ tasks: { max_queue: 9 }, lanes: { gpu: 2 }, retention: { run_days: null } })
    expect(await stored()).toEqual({ 'tasks.max_queue': 9, 'lanes.gpu': 2, 'retention.run_days': null })
    const view = await change({ tasks: { max_queue: null }, lanes: { gpu: null } })
    expect(await stored()).toEqual({ 'retention.run_days': null })
    expect(view.values['tasks.max_queue']).toMatchObject({ value: 7, source: 'file' })
    expect((await recorded()).at(-1)).toMatchObject({
      before: { 'tasks.max_queue': 9, 'lanes.gpu': 2 },
      after: { 'tasks.max_queue': null },
    })
  })

  it.each([
    [{ tasks: { max_queue: -1 } }, ['tasks.max_queue']],
    [{ tasks: { max_queue: 1.5 }, lanes: { main: 'many' } }, ['lanes.main', 'tasks.max_queue']],
    [{ tasks: { result_ttl_seconds: '30m' } }, ['tasks.result_ttl_seconds']],
    [{ server: { port: 80 }, tasks: { max_queue: 5 } }, ['server.port']],
    [{ tasks: { executor: { token: 'sesame' } } }, ['tasks.executor.token']],
    [{ database: { url: null } }, ['database.url']],
    [{ task: {} }, ['task']],
    [{ lanes: { 'a\u0000b': 1 } }, ['lanes']],
    [{ lanes: { ['x'.repeat(101)]: 1 } }, ['lanes']],
    [[], ['settings']],
    [null, ['settings']],
  ])('is refused whole: %j', async (patch, fields) => {
    const refusal = await change(patch).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect((refusal as Refusal).flaws.map(({ field }) => field)).toEqual(fields)
    expect((refusal as Refusal).message).not.toContain('sesame')
    expect(await stored()).toEqual({})
  })

  it('leaves alone what another release has stored, and names it', async () => {
    await world.db.query(
      `insert into setting (path, value, updated_at) values ('tasks.later', '1', $1), ('log.level', '"loud"', $1)`,
      ['2026-11-15T12:00:00Z'],
    )
    expect(await loadStoredSettings(world.db)).toEqual({ layer: new Map(), unreadable: ['log.level', 'tasks.later'] })
  })
})

describe('a reload of a file', () => {
  it('is on record as what the system did', async () => {
    await recordReload(world.ports, {
      nodeId: 'nod_1',
      changed: { 'lanes.main': { from: 30, to: 5 } },
      restart: ['data'],
    })
    expect((await recorded()).at(-1)).toEqual({
      actor: 'system',
      action: 'config.reload',
      before: { 'lanes.main': 30 },
      after: { 'lanes.main': 5 },
    })
    expect((await told()).at(-1)).toEqual([
      'config.reloaded',
      'nod_1',
      { source: 'file', changed: { 'lanes.main': { from: 30, to: 5 } }, needs_restart: ['data'] },
    ])
  })
})
