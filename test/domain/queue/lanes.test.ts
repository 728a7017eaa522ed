import { describe, expect, it } from 'vitest'
import { laneName } from '../../../src/domain/ids.ts'
import { DEFAULT_LANES, defaultLane, readLaneSizes, resolveLane } from '../../../src/domain/queue/lanes.ts'
import { TRIGGERS } from '../../../src/domain/run/run.ts'

const { sizes: defaults } = readLaneSizes({})
const sizeOf = (variables: Record<string, string | undefined>, lane = 'main'): number | undefined =>
  readLaneSizes(variables).sizes.get(laneName(lane))

describe('lane sizes from the environment', () => {
  it('are the defaults when nothing is set', () => {
    expect(Object.fromEntries(defaults)).toEqual({ ...DEFAULT_LANES })
    expect(readLaneSizes({}).warnings).toEqual([])
  })

  it('take a whole number above 0', () => {
    expect(sizeOf({ ESCAPEMENT_LANE_MAIN: '5' })).toBe(5)
  })

  it.each(['0', '-1', 'abc', '', '1.5', '5 6', '1e3', '99999999999'])(
    'keep the default for %j, with a warning',
    (text) => {
      const read = readLaneSizes({ ESCAPEMENT_LANE_MAIN: text })
      expect(read.sizes.get(laneName('main'))).toBe(30)
      expect(read.warnings).toEqual([expect.stringContaining('ESCAPEMENT_LANE_MAIN')])
    },
  )

  it('read DELEGATE only when TEAM is unset or invalid', () => {
    expect(sizeOf({ ESCAPEMENT_LANE_DELEGATE: '7' }, 'team')).toBe(7)
    expect(sizeOf({ ESCAPEMENT_LANE_TEAM: '9', ESCAPEMENT_LANE_DELEGATE: '7' }, 'team')).toBe(9)
    expect(sizeOf({ ESCAPEMENT_LANE_TEAM: '0', ESCAPEMENT_LANE_DELEGATE: '7' }, 'team')).toBe(7)
  })

  it('read the GoClaw names last, with a deprecation warning', () => {
    expect(sizeOf({ GOCLAW_LANE_CRON: '4' }, 'cron')).toBe(4)
    expect(readLaneSizes({ GOCLAW_LANE_CRON: '4' }).warnings).toEqual([expect.stringContaining('deprecated')])
    expect(sizeOf({ GOCLAW_LANE_CRON: '4', ESCAPEMENT_LANE_CRON: '6' }, 'cron')).toBe(6)
    expect(sizeOf({ GOCLAW_LANE_DELEGATE: '3' }, 'team')).toBe(3)
  })

  it('create lanes nobody has heard of', () => {
    expect(sizeOf({ ESCAPEMENT_LANE_RESEARCH: '2' }, 'research')).toBe(2)
  })
})

describe('the lane of a run', () => {
  it('is named for each trigger', () => {
    const lanes = TRIGGERS.map((trigger) => [trigger, defaultLane({ trigger, hasParent: false })])
    expect(Object.fromEntries(lanes)).toEqual({
      message: 'main',
      webhook: 'main',
      task: 'task',
      schedule: 'cron',
      catchup: 'cron',
      heartbeat: 'cron',
      manual: 'cron',
      retry: 'main',
    })
  })

  it('is subagent for a message with a parent run', () => {
    expect(defaultLane({ trigger: 'message', hasParent: true })).toBe('subagent')
  })

  it('stays the same for a retry', () => {
    expect(defaultLane({ trigger: 'retry', hasParent: false, retriedLane: laneName('task') })).toBe('task')
  })

  it('falls back to main when nobody has created it', () => {
    expect(resolveLane('nope', defaults)).toBe('main')
    expect(resolveLane('cron', defaults)).toBe('cron')
  })

  it('understands the old name of team', () => {
    expect(resolveLane('delegate', defaults)).toBe('team')
  })
})

describe('a lane with the name of something in every object', () => {
  it.each(['constructor', '__proto__', 'tostring'])('is a lane like any other: %s', (name) => {
    expect(resolveLane(name, defaults)).toBe('main')
    expect(sizeOf({ [`ESCAPEMENT_LANE_${name.toUpperCase()}`]: '4' }, name)).toBe(4)
  })
})

describe('a warning about a size', () => {
  it('says what the lane has instead', () => {
    expect(readLaneSizes({ ESCAPEMENT_LANE_MAIN: 'abc' }).warnings).toEqual([
      'ESCAPEMENT_LANE_MAIN="abc" is not a whole number above 0; lane main keeps 30',
    ])
    expect(readLaneSizes({ ESCAPEMENT_LANE_TEAM: '0', ESCAPEMENT_LANE_DELEGATE: '7' }).warnings).toEqual([
      'ESCAPEMENT_LANE_TEAM="0" is not a whole number above 0; lane team uses ESCAPEMENT_LANE_DELEGATE instead',
    ])
  })
})
