import { describe, expect, it } from 'vitest'
import { readVariables } from '../../../src/platform/config/environment.ts'
import { combine, type Effective, type Layers, NO_LAYERS } from '../../../src/platform/config/reload.ts'
import { CONFIG_SOURCES } from '../../../src/platform/config/view.ts'
import { PLACED } from './samples.ts'

function effective(layers: Partial<Layers>): Effective {
  const made = combine({ ...NO_LAYERS, ...layers })
  if (!made.ok) throw new Error(made.flaws.map(({ message }) => message).join())
  return made.value
}

describe('who has the last word', () => {
  const above = ['file', 'environment', 'flag', 'stored'] as const
  const rows = Array.from({ length: 16 }, (_, bits) => above.filter((_one, index) => (bits >> index) % 2 === 1))

  it.each(rows.map((said) => [said.join(' + ') || 'nobody', said] as const))('when it was said by %s', (_, said) => {
    const layers = Object.fromEntries(
      said.map((source) => [source, new Map([['tasks.max_queue', 10 + CONFIG_SOURCES.indexOf(source)]])]),
    )
    const strongest = said.at(-1) ?? 'default'
    expect(effective(layers).values.get('tasks.max_queue')).toEqual({
      value: strongest === 'default' ? 1_000 : 10 + CONFIG_SOURCES.indexOf(strongest),
      source: strongest,
    })
  })

  it('is told for each setting by itself', () => {
    const { values, config } = effective({
      file: new Map<string, unknown>([
        ['log.level', 'debug'],
        ['lanes.main', 3],
      ]),
      environment: new Map([['lanes.gpu', 2]]),
    })
    expect([...values.keys()].sort()).toEqual([...PLACED.map(({ path }) => path), 'lanes.gpu'].sort())
    expect([
      values.get('log.level')?.source,
      values.get('lanes.gpu')?.source,
      values.get('lanes.cron')?.source,
    ]).toEqual(['file', 'environment', 'default'])
    expect(config.lanes).toEqual({ main: 3, subagent: 50, team: 100, cron: 30, task: 20, max_org_share: 0.8, gpu: 2 })
  })

  it('does not let pieces from different places contradict each other', () => {
    const made = combine({
      ...NO_LAYERS,
      file: new Map([['node.renew_ms', 9_000]]),
      environment: new Map([['node.lease_ms', 9_000]]),
    })
    expect(made).toMatchObject({ ok: false, flaws: [{ field: 'node.renew_ms', value: 9_000 }] })
  })
})

describe('the environment', () => {
  it('gives lanes in short, in long, under old names, and warns as before', () => {
    const read = readVariables({
      ESCAPEMENT_LANE_MAIN: '5',
      ESCAPEMENT_LANES_MAIN: '6',
      ESCAPEMENT_LANES_GPU: '2',
      ESCAPEMENT_LANE_CRON: 'many',
      GOCLAW_LANE_DELEGATE: '9',
    })
    expect(Object.fromEntries(read.layer)).toEqual({ 'lanes.main': 5, 'lanes.gpu': 2, 'lanes.team': 9 })
    expect([...read.warnings].sort()).toEqual([
      'ESCAPEMENT_LANE_CRON="many" is not a whole number above 0; lane cron keeps 30',
      'GOCLAW_LANE_DELEGATE is deprecated; use ESCAPEMENT_LANE_TEAM',
    ])
  })

  it('says what a lane keeps when the file has set it', () => {
    const read = readVariables({ ESCAPEMENT_LANE_CRON: '0' }, new Map([['lanes.cron', 4]]))
    expect(read.warnings.join()).toContain('lane cron keeps 4')
    expect(read.layer.has('lanes.cron')).toBe(false)
  })

  it('warns of a lane that is set to nothing in short; the long name says it all the same', () => {
    const alone = readVariables({ ESCAPEMENT_LANE_MAIN: '', ESCAPEMENT_LANES_CRON: '' })
    expect(alone.warnings).toEqual(['ESCAPEMENT_LANE_MAIN="" is not a whole number above 0; lane main keeps 30'])
    const both = readVariables({ ESCAPEMENT_LANE_MAIN: '', ESCAPEMENT_LANES_MAIN: '6' })
    expect([both.layer.get('lanes.main'), both.warnings]).toEqual([6, []])
  })

  it('is refused with the name of the variable', () => {
    const { flaws } = readVariables({
      ESCAPEMENT_TASKS_MAX_QUEUE: '-3',
      ESCAPEMENT_LOG_LEVEL: 'loud',
      ESCAPEMENT_TASKS_EXECUTOR_TOKEN: ' ',
    })
    expect(flaws).toEqual([
      'ESCAPEMENT_TASKS_MAX_QUEUE (tasks.max_queue) -3: is out of range (allowed: a whole number from 0 to 100000000)',
      'ESCAPEMENT_LOG_LEVEL (log.level) "loud": is not a known value (allowed: debug, info, warn, error, silent)',
    ])
  })

  it('says nothing by a 0 where 0 would stop everything, and by a variable that is set to nothing', () => {
    const read = readVariables({
      ESCAPEMENT_TASKS_MAX_QUEUE: '0',
      ESCAPEMENT_DATABASE_URL: '',
      ESCAPEMENT_SESSIONS_DEBOUNCE_MS: '0',
    })
    expect([Object.fromEntries(read.layer), read.flaws]).toEqual([{ 'sessions.debounce_ms': 0 }, []])
  })

  it('warns of names that look like settings, and leaves others alone', () => {
    const { warnings } = readVariables({
      ESCAPEMENT_TASK_MAX_QUEUE: '5',
      ESCAPEMENT_NOTHING_OF_THE_KIND: '1',
      ESCAPEMENT_OWNER_KEY: 'x',
      ESCAPEMENT_SERVICE_HOST: '10.0.0.1',
      ESCAPEMENT_PORT_7420_TCP: 'tcp://10.0.0.1:7420',
      PATH: '/bin',
    })
    expect(warnings).toEqual([
      'ESCAPEMENT_TASK_MAX_QUEUE is not a setting and has no effect; did you mean ESCAPEMENT_TASKS_MAX_QUEUE?',
      'ESCAPEMENT_NOTHING_OF_THE_KIND is not a setting and has no effect',
    ])
  })
})
