import { describe, expect, it } from 'vitest'
import { ENGINE_KEYS } from '../../../src/platform/config/engine-keys.ts'
import { layerOf } from '../../../src/platform/config/in-code.ts'
import { keysOf } from '../../../src/platform/config/tree.ts'
import { laneName } from '../../../src/domain/ids.ts'
import { describeFlaw } from '../../../src/domain/input.ts'
import { DEFAULT_SETTINGS, parseSettings, type EngineSettings } from '../../../src/features/config/settings.ts'
import { fileWith, otherValue } from '../../platform/config/samples.ts'

function read(change: unknown, current?: EngineSettings): EngineSettings {
  const answer = parseSettings(change, current)
  if (!answer.ok) throw new Error(answer.flaws.map(describeFlaw).join('; '))
  return answer.value
}
const flaws = (change: unknown): readonly string[] => {
  const answer = parseSettings(change)
  return answer.ok ? [] : answer.flaws.map(describeFlaw)
}

describe('settings', () => {
  it('are the defaults when nothing is given, and nobody can change them', () => {
    expect(read({})).toEqual(DEFAULT_SETTINGS)
    expect(Object.isFrozen(read({}))).toBe(true)
    expect(Object.isFrozen(read({ tasks: { max_queue: 5 } }).tasks)).toBe(true)
    expect(Object.fromEntries(DEFAULT_SETTINGS.lanes.byName)).toEqual({
      main: 30,
      subagent: 50,
      team: 100,
      cron: 30,
      task: 20,
    })
  })

  it('take each field under its name', () => {
    const change = {
      node: { lease_ms: 3_000, renew_ms: 1_000, stop_grace_ms: 100 },
      lanes: { main: 2, gpu: 1, delegate: 7 },
      sessions: { mode: 'followup', cap: 3, drop: 'new', debounce_ms: 0, max_concurrent: 2 },
      tasks: {
        max_queue: 1,
        max_per_agent: 2,
        max_inflight: 3,
        max_per_agent_inflight: 4,
        result_ttl_seconds: 5,
        default_deadline_seconds: 6,
      },
      schedules: {
        default_timezone: 'europe/berlin',
        poll_ms: 50,
        misfire_grace_seconds: 1,
        catchup_window_seconds: 2,
        catchup_spacing_ms: 3,
        catchup_max_active: 4,
      },
      retry: { max_retries: 0, base_ms: 1, max_ms: 2, jitter: 0.5 },
      retention: { run_days: null, runs_per_schedule: 1, max_runs_per_schedule: 2, output_bytes: 3 },
      drain_grace_seconds: 1,
    }
    const settings = read(change)
    expect(settings).toMatchObject({
      node: { leaseMs: 3_000, renewMs: 1_000, stopGraceMs: 100 },
      sessions: { mode: 'followup', cap: 3, drop: 'new', debounceMs: 0, maxConcurrent: 2 },
      retry: { maxRetries: 0, baseMs: 1, maxMs: 2, jitter: 0.5 },
      tasks: {
        maxQueue: 1,
        maxPerAgent: 2,
        maxInflight: 3,
        maxPerAgentInflight: 4,
        resultTtlSeconds: 5,
        defaultDeadlineSeconds: 6,
      },
      schedules: {
        defaultTimezone: 'Europe/Berlin',
        pollMs: 50,
        misfireGraceSeconds: 1,
        catchupWindowSeconds: 2,
        catchupSpacingMs: 3,
        catchupMaxActive: 4,
      },
      retention: { runDays: null, runsPerSchedule: 1, maxRunsPerSchedule: 2, outputBytes: 3 },
      drainGraceSeconds: 1,
    })
    expect(settings.lanes.byName.get(laneName('gpu'))).toBe(1)
    expect(settings.lanes.byName.get(laneName('team'))).toBe(7)
    expect(settings.lanes.byName.get(laneName('cron'))).toBe(30)
  })

  it.each(keysOf(ENGINE_KEYS))('keep $path when others change', ({ path, key }) => {
    const valueIn = (settings: EngineSettings): unknown => layerOf(ENGINE_KEYS, settings).get(path)
    const other = otherValue(path === 'drain_grace_seconds' ? `server.${path}` : path)
    const given = read(JSON.parse(fileWith(path, other)))
    expect(valueIn(DEFAULT_SETTINGS)).toEqual(key.default)
    expect(valueIn(given)).toEqual(other)
    expect(valueIn(read({ lanes: { gpu: 1 } }, given))).toEqual(other)
  })

  it('keep what is missing or 0, where 0 would stop everything', () => {
    const current = read({ lanes: { main: 2 }, tasks: { max_queue: 7 }, retention: { run_days: null } })
    const zeros = {
      lanes: { main: 0 },
      tasks: { max_queue: 0, result_ttl_seconds: 0 },
      sessions: { cap: 0, max_concurrent: 0 },
      retention: { run_days: 0 },
    }
    expect(read(zeros, current)).toEqual(current)
    expect(read({ schedules: { misfire_grace_seconds: 0 }, sessions: { debounce_ms: 0 } })).toMatchObject({
      schedules: { misfireGraceSeconds: 0 },
      sessions: { debounceMs: 0 },
    })
  })

  it.each([
    [{ lanes: { main: -1 } }],
    [{ lanes: { main: 1.5 } }],
    [{ lanes: { main: '5' } }],
    [{ tasks: { max_queue: -1 } }],
    [{ sessions: { debounce_ms: -1 } }],
    [{ sessions: { mode: 'loud' } }],
    [{ schedules: { default_timezone: 'Mars/Base' } }],
    [{ retention: { run_days: 0.5 } }],
    [{ node: { renew_ms: 15_000 } }],
    [{ drain_grace_seconds: -1 }],
    [{ tasks: 5 }],
    [null],
  ])('refuse %j', (change) => {
    expect(flaws(change)).toHaveLength(1)
  })

  it('are refused whole, with every flaw and what was probably meant', () => {
    const said = flaws({ lanes: { main: 9, cron: -1 }, task: {}, tasks: { max_qeue: 1 }, session: {} }).join('\n')
    expect(said).toContain('lanes.cron -1')
    expect(said).toContain('did you mean tasks?')
    expect(said).toContain('tasks.max_qeue')
    expect(said).toContain('did you mean max_queue?')
    expect(said).toContain('did you mean sessions?')
    const both = flaws({ lanes: { cron: -1 }, node: { renew_ms: 15_000 } })
    expect(both).toHaveLength(2)
  })
})
