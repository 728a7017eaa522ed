import { describe, expect, it } from 'vitest'
import { later } from '../../../src/domain/instant.ts'
import type { ParsedSchedule } from '../../../src/features/schedules/input.ts'
import {
  disabledPlanState,
  editedPlanState,
  enabledPlanState,
  initialPlanState,
} from '../../../src/features/schedules/next-run.ts'
import type { ScheduleRow } from '../../../src/features/schedules/store.ts'
import { aScheduleRow } from '../../platform/db/records.ts'
import { NOW, rules } from '../../support/builders.ts'
import { timingOf } from '../../support/schedules.ts'

const LATER = later(NOW, 90_000)
const minutely = aScheduleRow('sch_1', { watermark: later(NOW, -1) })
const once = aScheduleRow('sch_2', { timing: timingOf({ at: '2026-01-15T12:01:00Z' }, NOW), deleteAfterRun: true })

const read = (row: ScheduleRow, over: Partial<ParsedSchedule> = {}): ParsedSchedule => ({
  ...row,
  timingChanged: false,
  enabled: null,
  ...over,
})

describe('a new schedule', () => {
  it('waits for its first occurrence, and nothing before was planned', () => {
    expect(initialPlanState(read(minutely), NOW)).toEqual({
      state: 'active',
      watermark: NOW,
      nextRunAt: NOW + 60_000,
      pace: null,
    })
  })

  it('waits for nothing when it is off or has no occurrence', () => {
    expect(initialPlanState(read(minutely, { enabled: false }), NOW)).toMatchObject({
      state: 'paused',
      nextRunAt: null,
    })
    const never = timingOf({ every_seconds: 60, ends_at: '2026-01-15T12:00:30Z' }, NOW)
    expect(initialPlanState(read(minutely, { timing: never }), NOW)).toMatchObject({
      state: 'finished',
      nextRunAt: null,
    })
  })
})

describe('an edit', () => {
  it('of anything but timing never moves the next occurrence, even one that is overdue', () => {
    expect(editedPlanState(minutely, read(minutely), LATER)).toEqual({
      state: 'active',
      watermark: minutely.watermark,
      nextRunAt: minutely.nextRunAt,
      pace: null,
    })
  })

  it('of timing looks from now', () => {
    const timing = timingOf({ cron: '0 7 * * *' }, NOW)
    const next = Date.parse('2026-01-16T07:00:00Z')
    expect(editedPlanState(minutely, read(minutely, { timing, timingChanged: true }), LATER)).toEqual({
      state: 'active',
      watermark: LATER,
      nextRunAt: next,
      pace: null,
    })
  })

  it('of timing leaves a paused schedule off and wakes a finished one', () => {
    const change = { timingChanged: true }
    const paused = { ...minutely, state: 'paused', nextRunAt: null } as const
    expect(editedPlanState(paused, read(paused, change), LATER)).toMatchObject({ state: 'paused', nextRunAt: null })
    const failed = { ...once, state: 'failed', nextRunAt: null } as const
    const timing = timingOf({ at: '2026-01-15T13:00:00Z' }, NOW)
    expect(editedPlanState(failed, read(failed, { ...change, timing }), LATER).state).toBe('active')
  })

  it('switches on and off', () => {
    expect(editedPlanState(minutely, read(minutely, { enabled: false }), LATER)).toMatchObject({ state: 'paused' })
    const paused = { ...minutely, state: 'paused', nextRunAt: null } as const
    expect(editedPlanState(paused, read(paused, { enabled: true }), LATER)).toMatchObject({ nextRunAt: NOW + 120_000 })
    expect(editedPlanState(minutely, read(minutely, { enabled: true }), LATER).nextRunAt).toBe(minutely.nextRunAt)
  })

  it('of the number of fires ends a schedule that has made them, and goes on with one that has not', () => {
    const fired = { ...minutely, fires: 3 }
    expect(editedPlanState(fired, read(fired, { rules: rules({ maxFires: 3 }) }), LATER).state).toBe('finished')
    expect(editedPlanState(fired, read(fired, { rules: rules({ maxFires: 4 }) }), LATER).nextRunAt).toBe(
      fired.nextRunAt,
    )
    const spent = { ...fired, state: 'finished', nextRunAt: null, rules: rules({ maxFires: 3 }) } as const
    expect(editedPlanState(spent, read(spent, { rules: rules({ maxFires: 4 }) }), LATER)).toMatchObject({
      state: 'active',
      nextRunAt: NOW + 120_000,
    })
  })
})

describe('the switch', () => {
  it('on makes up for nothing', () => {
    const paused = { ...minutely, state: 'paused', nextRunAt: null } as const
    expect(enabledPlanState(paused, LATER)).toEqual({
      state: 'active',
      watermark: LATER,
      nextRunAt: NOW + 120_000,
      pace: null,
    })
  })

  it('on finds that a reminder whose moment has passed is over', () => {
    expect(enabledPlanState({ ...once, state: 'paused', nextRunAt: null }, LATER).state).toBe('finished')
    expect(enabledPlanState({ ...once, state: 'failed', nextRunAt: null }, LATER).state).toBe('failed')
  })

  it('off takes the next occurrence away, and leaves what has ended as it ended', () => {
    expect(disabledPlanState(minutely)).toMatchObject({ state: 'paused', nextRunAt: null })
    expect(disabledPlanState({ ...once, state: 'failed', nextRunAt: null }).state).toBe('failed')
  })
})
