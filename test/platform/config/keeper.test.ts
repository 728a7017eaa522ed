import { describe, expect, it } from 'vitest'
import { readConfigText } from '../../../src/platform/config/file.ts'
import {
  type ConfigChange,
  type ConfigReloader,
  createConfigReloader,
  type Layers,
  NO_LAYERS,
} from '../../../src/platform/config/reload.ts'
import { fileWith, layerOf, OTHERS, otherValue, PLACED } from './samples.ts'

function keeperWith(file: string, others: Partial<Layers> = {}): ConfigReloader {
  const made = createConfigReloader({ ...NO_LAYERS, ...others, file: layerOf(file) })
  if (!made.ok) throw new Error('refused')
  return made.value
}

function reload(keeper: ConfigReloader, text: string): ConfigChange {
  const read = readConfigText(text)
  if (!read.ok) throw new Error(read.flaws.map(({ message }) => message).join())
  const change = keeper.takeFile(read.layer)
  if (!change.ok) throw new Error(change.flaws.map(({ message }) => message).join())
  return change.value
}

const holds = (keeper: ConfigReloader, path: string): unknown => keeper.current().values.get(path)?.value

const HOT =
  /^(lanes|sessions|retry|retention|alerts|metrics|log|outbound)\.|^tasks\.(max_|result_ttl|default_deadline)|^server\.(rate_limit|limits)\./

const rowsOf = (hot: boolean): readonly (readonly [string, unknown])[] =>
  PLACED.filter(({ path }) => HOT.test(path) === hot).map(({ path, key }) => [path, key.default])

describe('a new value in the file', () => {
  it.each(rowsOf(true))('takes effect while running: %s', (path, usual) => {
    const keeper = keeperWith('')
    expect(reload(keeper, fileWith(path, OTHERS[path]?.file))).toEqual({
      changed: { [path]: { from: usual, to: otherValue(path) } },
      restart: [],
      kept: [],
      overruled: [],
    })
    expect(holds(keeper, path)).toEqual(otherValue(path))
  })

  it.each(rowsOf(false))('waits for a restart, and the one in force stays: %s', (path, usual) => {
    const keeper = keeperWith('')
    const isOther = JSON.stringify(otherValue(path)) !== JSON.stringify(usual)
    const change = reload(keeper, fileWith(path, OTHERS[path]?.file))
    expect([change.changed, change.restart]).toEqual([{}, isOther ? [path] : []])
    expect(holds(keeper, path)).toEqual(usual)
    expect('after_restart' in (keeper.view()[path] ?? {})).toBe(isOther)
    expect(reload(keeper, '').restart).toEqual([])
  })
})

describe('a reload', () => {
  const rows: readonly (readonly [what: string, path: string, before: unknown, after: unknown, holds: unknown])[] = [
    ['a lane of 0 keeps', 'lanes.main', 7, 0, 7],
    ['a limit of 0 keeps', 'tasks.max_queue', 7, 0, 7],
    ['a time to live of 0 keeps', 'tasks.result_ttl_seconds', 7, 0, 7],
    ['a session limit of 0 keeps', 'sessions.cap', 7, 0, 7],
    ['days of 0 keep', 'retention.run_days', 7, 0, 7],
    ['days of 0 keep "for ever"', 'retention.run_days', null, 0, null],
    ['null days are for ever', 'retention.run_days', 7, null, null],
    ['no debounce is a value', 'sessions.debounce_ms', 7, 0, 0],
    ['no rate limit is a value', 'server.rate_limit.per_second', 7, 0, 0],
    ['a new size counts', 'lanes.main', 7, 8, 8],
    ['a new lane counts', 'lanes.gpu', 7, 8, 8],
    ['a new duration counts', 'tasks.result_ttl_seconds', 7, '1m', 60],
  ]

  it.each(rows)('follows the rule: %s', (_what, path, before, after, expected) => {
    const keeper = keeperWith(fileWith(path, before))
    const change = reload(keeper, fileWith(path, after))
    expect(holds(keeper, path)).toEqual(expected)
    expect(Object.keys(change.changed)).toEqual(before === expected ? [] : [path])
    expect(change.kept).toEqual(before === expected ? [path] : [])
  })

  it('keeps what is missing', () => {
    const keeper = keeperWith('tasks: { max_queue: 7 }\nlanes: { main: 3 }')
    expect(reload(keeper, 'lanes: { main: 4 }')).toMatchObject({ kept: ['tasks.max_queue'], restart: [] })
    expect([holds(keeper, 'tasks.max_queue'), holds(keeper, 'lanes.main')]).toEqual([7, 4])
  })

  it('does not overrule whoever is above the file, and says so', () => {
    const keeper = keeperWith('', { environment: new Map([['tasks.max_queue', 5]]) })
    expect(keeper.takeStored(new Map([['lanes.main', 9]]))).toMatchObject({
      ok: true,
      value: { changed: { 'lanes.main': { from: 30, to: 9 } } },
    })
    const change = reload(keeper, 'tasks: { max_queue: 7 }\nlanes: { main: 2 }\nlog: { level: warn }')
    expect(change.changed).toEqual({ 'log.level': { from: 'info', to: 'warn' } })
    expect(change.overruled).toEqual(['tasks.max_queue', 'lanes.main'])
  })

  it('gives back what the file says when what was stored is taken away', () => {
    const keeper = keeperWith('tasks: { max_queue: 7 }')
    keeper.takeStored(new Map([['tasks.max_queue', 9]]))
    expect(keeper.current().values.get('tasks.max_queue')).toEqual({ value: 9, source: 'stored' })
    keeper.takeStored(new Map())
    expect(keeper.current().values.get('tasks.max_queue')).toEqual({ value: 7, source: 'file' })
  })

  it('takes nothing that is stored where only a start can take it', () => {
    const keeper = keeperWith('')
    keeper.takeStored(new Map([['server.port', 9]]))
    expect(holds(keeper, 'server.port')).toBe(7_420)
  })

  it('that contradicts itself changes nothing', () => {
    const keeper = keeperWith('log: { level: info }')
    const before = keeper.current()
    const read = readConfigText('log: { level: debug }\nnode: { lease_ms: 1000 }')
    if (!read.ok) throw new Error('refused too early')
    expect(keeper.takeFile(read.layer)).toMatchObject({ ok: false, flaws: [{ field: 'node.renew_ms' }] })
    expect(keeper.current()).toBe(before)
  })

  it('remembers what waits for a restart while other things change', () => {
    const keeper = keeperWith('server: { port: 1 }')
    expect(reload(keeper, 'database: { pool: 20 }').restart).toEqual(['server.port', 'database.pool'])
    const stored = keeper.takeStored(new Map([['lanes.main', 9]]))
    expect(stored).toMatchObject({ ok: true, value: { restart: ['server.port', 'database.pool'] } })
    expect(keeper.view()['server.port']).toEqual({
      value: 1,
      source: 'file',
      default: 7_420,
      hot: false,
      after_restart: 7_420,
    })
  })
})

describe('what is shown', () => {
  it('has secrets masked and everything else as it is', () => {
    const keeper = keeperWith(
      'database: { url: "postgres://u:sesame@db/x?sslpassword=sesame" }\ntasks: { executor: { token: sesame } }\nlanes: { gpu: 2 }',
    )
    const view = keeper.view()
    expect(JSON.stringify(view)).not.toContain('sesame')
    expect(view['database.url']).toEqual({
      value: 'postgres://u:***@db/x?sslpassword=***',
      source: 'file',
      default: null,
      hot: false,
    })
    expect(view['tasks.executor.token']?.value).toBe('***')
    expect(view['lanes.gpu']).toEqual({ value: 2, source: 'file', default: null, hot: true })
    expect(Object.keys(view)).toHaveLength(PLACED.length + 1)
    expect(JSON.stringify(reload(keeper, 'tasks: { executor: { token: sesame2 } }'))).not.toContain('sesame')
  })
})
