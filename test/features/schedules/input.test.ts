import { describe, expect, it } from 'vitest'
import { agentId, sessionKey } from '../../../src/domain/ids.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { scheduleInput, schedulePatch } from '../../../src/features/schedules/schema.ts'
import { describeFlaw, type Parsed } from '../../../src/domain/input.ts'
import { parseObject } from '../../../src/domain/input-fields.ts'
import { formatInstant, later } from '../../../src/domain/instant.ts'
import { nextOccurrence } from '../../../src/domain/time/timing.ts'
import { parseZone, UTC, type Zone } from '../../../src/domain/time/zone.ts'
import { parseSchedule, type ParsedSchedule, type ScheduleAgent } from '../../../src/features/schedules/input.ts'
import type { ScheduleRow } from '../../../src/features/schedules/store.ts'
import { aScheduleRow } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { SAMPLE } from '../../support/seed-003-sample.ts'

const AGENT: ScheduleAgent = { id: agentId('writer'), executor: { kind: 'http' }, defaultSession: null }

interface Over {
  readonly existing?: ScheduleRow | null
  readonly defaultZone?: Zone
  readonly agent?: ScheduleAgent
}

/** As every way in reads it: its shape by the schema, and then what it is as a whole. */
function parse(input: unknown, over: Over = {}): Parsed<ParsedSchedule> {
  const context = { now: NOW, defaultZone: UTC, agent: AGENT, existing: null, ...over }
  const object = parseObject('schedule', input)
  const fields = object.ok ? readShape(context.existing === null ? scheduleInput : schedulePatch, input) : object
  return fields.ok ? parseSchedule(fields.value, context) : fields
}

function read(input: unknown, over: Over = {}): ParsedSchedule {
  const answer = parse(input, over)
  if (!answer.ok) throw new Error(answer.flaws.map(describeFlaw).join('; '))
  return answer.value
}

const flaws = (input: unknown, over: Over = {}): readonly string[] => {
  const answer = parse(input, over)
  return answer.ok ? [] : answer.flaws.map(describeFlaw)
}
const fieldsOf = (input: unknown, over: Over = {}): readonly string[] => {
  const answer = parse(input, over)
  return answer.ok ? [] : answer.flaws.map(({ field }) => field)
}

/** The row that a schedule becomes, for changes of it. */
const row = (input: unknown, over: Partial<ScheduleRow> = {}): ScheduleRow => {
  const { timingChanged: _timing, enabled: _enabled, ...fields } = read(input)
  return aScheduleRow('sch_1', { ...fields, ...over })
}
const next = (schedule: ParsedSchedule): string => formatInstant(nextOccurrence(schedule.timing, NOW) ?? NOW)

describe('a new schedule', () => {
  it('may be the sample of the third seed', () => {
    expect(read(SAMPLE)).toMatchObject({
      name: 'demo-task',
      agentId: 'writer',
      timing: { kind: 'cron' },
      rules: {
        concurrencyPolicy: 'SKIP',
        overlapAction: 'CANCEL_PREV',
        failureAction: 'RETRY',
        misfirePolicy: 'CATCH_UP_LIMITED',
        catchupLimit: 3,
        ownMaxRetries: null,
      },
      timeoutSeconds: 8,
      payload: null,
      sessionKey: null,
      lane: null,
      deleteAfterRun: false,
      enabled: null,
      input: { cron: '*/5 * * * * *', catchup_limit: 3 },
    })
  })

  it('needs nothing but a time, and is named by it', () => {
    expect(read({ every_seconds: 90 })).toMatchObject({ name: 'Every 90 seconds', description: '', retryPolicy: null })
  })

  it.each([
    [{ schedule_type: 'interval', interval_seconds: 60 }, { every_seconds: 60 }],
    [{ kind: 'every', everyMs: 1_500 }, { everyMs: 1_500 }],
    [{ kind: 'once', run_at: '2027-01-01T00:00:00Z' }, { at: '2027-01-01T00:00:00.000Z' }],
    [{ atMs: Date.parse('2027-01-01T00:00:00Z') }, { at: '2027-01-01T00:00:00.000Z' }],
    [{ at: Date.parse('2027-01-01T00:00:00Z') }, { at: '2027-01-01T00:00:00.000Z' }],
    [
      { expr: '0 7 * * *', tz: 'asia/shanghai' },
      { cron: '0 7 * * *', timezone: 'Asia/Shanghai' },
    ],
    [
      { rrule: 'FREQ=DAILY', dst: 'vixie' },
      { rrule: 'FREQ=DAILY', dst: 'vixie' },
    ],
  ])('keeps %j without synonyms', (given, input) => {
    expect(read(given).input).toEqual(input)
  })

  it.each([
    [{ cron: '* * * * *', expr: '* * * * *' }],
    [{ cron: '* * * * *', every_seconds: 5 }],
    [{ cron: '* * * * *', tz: 'UTC', timezone: 'UTC' }],
    [{ kind: 'every', schedule_type: 'interval', every_seconds: 5 }],
  ])('refuses both forms at once: %j', (given) => {
    expect(flaws(given).join()).toMatch(/cannot be combined with/)
  })

  it('says which field was probably meant', () => {
    const given = { cron: '* * * * *', misfire_polcy: 'SKIP', maxConcurrency: 2, colour: 'red' }
    const [misspelt, camel, unknown] = flaws(given)
    expect(misspelt).toContain('did you mean misfire_policy?')
    expect(camel).toContain('did you mean max_concurrency?')
    expect(unknown).not.toContain('did you mean')
  })

  it('says everything that is wrong at once', () => {
    const given = {
      cron: '61 * * * *',
      overlap_action: 'perhaps',
      session: '',
      enabled: 'yes',
      name: '',
      timeout_seconds: 1.5,
      lane: 7,
      jitter_ms: 5,
    }
    const named = ['cron', 'overlap_action', 'session', 'enabled', 'name', 'timeout_seconds', 'lane']
    expect([...fieldsOf(given)].sort()).toEqual([...named].sort())
  })

  it('reads policy words in any case', () => {
    expect(read({ cron: '* * * * *', overlap_action: 'cancel_prev' }).rules.overlapAction).toBe('CANCEL_PREV')
  })

  it.each([
    [undefined, null],
    ['isolated', null],
    ['main', 'agent:writer:main'],
    ['room:42', 'room:42'],
  ])('with session %j runs in %j', (session, key) => {
    expect(read({ cron: '* * * * *', ...(session === undefined ? {} : { session }) }).sessionKey).toBe(key)
  })

  it('runs in the session its agent has as main', () => {
    const agent = { ...AGENT, defaultSession: sessionKey('home') }
    expect(read({ cron: '* * * * *', session: 'main' }, { agent }).sessionKey).toBe('home')
  })

  it('takes a text as a prompt, and anything else as it is', () => {
    const payloadOf = (payload: unknown): unknown => read({ cron: '* * * * *', payload }).payload
    expect(payloadOf('Say hello')).toEqual({ prompt: 'Say hello' })
    expect(payloadOf({ prompt: 'x', deep: [1, null] })).toEqual({ prompt: 'x', deep: [1, null] })
    expect(payloadOf(null)).toBeNull()
    expect(fieldsOf({ cron: '* * * * *', payload: 1n })).toEqual(['payload'])
    expect(fieldsOf({ cron: '* * * * *', payload: { a: 'x\u0000' } })).toEqual(['payload'])
    expect(payloadOf({ a: String.raw`\u0000` })).toEqual({ a: String.raw`\u0000` })
  })

  it('is deleted after its run if it fires once, unless somebody says otherwise', () => {
    const at = '2027-01-01T00:00:00Z'
    expect(read({ at }).deleteAfterRun).toBe(true)
    expect(read({ at, delete_after_run: false }).deleteAfterRun).toBe(false)
    expect(read({ cron: '* * * * *' }).deleteAfterRun).toBe(false)
  })

  it('is refused in the past', () => {
    expect(flaws({ at: '2026-01-15T11:59:59Z' })[0]).toContain('is in the past')
  })

  it('has jitter below its shortest interval only', () => {
    expect(read({ every_seconds: 60, jitter_ms: 59_999 }).rules.jitterMs).toBe(59_999)
    expect(fieldsOf({ every_seconds: 60, jitter_ms: 60_000 })).toEqual(['jitter_ms'])
  })

  it('has a retry policy that starts from what it wakes', () => {
    const retry = { cron: '* * * * *', retry_policy: { strategy: 'fixed', base_ms: 5 } }
    expect(read(retry).retryPolicy).toMatchObject({ maxRetries: 3, strategy: 'fixed', baseMs: 5 })
    const agent = { ...AGENT, executor: { kind: 'command' } }
    expect(read(retry, { agent }).retryPolicy?.maxRetries).toBe(0)
    const own = { cron: '* * * * *', retry_policy: { max_retries: 2 } }
    expect(read(own).rules.ownMaxRetries).toBe(2)
  })

  it('takes a timeout that is not above 0 for the default', () => {
    expect(read({ cron: '* * * * *', timeout_seconds: 0 }).timeoutSeconds).toBeNull()
    expect(read({ cron: '* * * * *', timeout_seconds: -1 }).timeoutSeconds).toBeNull()
  })

  it('is read in the zone of the org when it names none', () => {
    const shanghai = parseZone('tz', 'Asia/Shanghai')
    const defaultZone = shanghai.ok ? shanghai.value : UTC
    expect(next(read({ cron: '0 7 * * *' }, { defaultZone }))).toBe('2026-01-15T23:00:00.000Z')
  })

  it.each([[null], ['text'], [[]], [undefined]])('must be an object, not %j', (given) => {
    expect(fieldsOf(given)).toEqual(['schedule'])
  })
})

describe('a change', () => {
  const daily = row({ cron: '0 7 * * *', timezone: 'Asia/Shanghai', overlap_action: 'SKIP', payload: 'hi' })

  it('leaves what it does not name', () => {
    const changed = read({ name: 'new' }, { existing: daily })
    expect(changed).toMatchObject({ name: 'new', timingChanged: false, payload: { prompt: 'hi' }, input: daily.input })
    expect(changed.rules.overlapAction).toBe('SKIP')
    expect(changed.timing).toBe(daily.timing)
  })

  it('of the zone alone changes when it fires', () => {
    const changed = read({ timezone: 'UTC' }, { existing: daily })
    expect(changed.timingChanged).toBe(true)
    expect(next(changed)).toBe('2026-01-16T07:00:00.000Z')
    expect(changed.input).toMatchObject({ cron: '0 7 * * *', timezone: 'UTC' })
  })

  it('that says what is so already changes no timing', () => {
    for (const change of [{ cron: '0 7 * * *' }, { cron_expr: '0 7 * * *', tz: 'Asia/Shanghai' }, { dst: 'vixie' }])
      expect(read(change, { existing: daily }).timingChanged).toBe(false)
  })

  it('from one kind to another leaves nothing of the first behind', () => {
    const every = read({ every_seconds: 60 }, { existing: daily })
    expect(every.timing).toMatchObject({ kind: 'every', intervalMs: 60_000, anchor: NOW })
    expect(every.input).toMatchObject({ every_seconds: 60, timezone: 'Asia/Shanghai' })
    expect(every.input).not.toHaveProperty('cron')
    const anchored = row({ every_seconds: 60, anchor: '2026-01-01T00:00:00Z' })
    expect(read({ cron: '* * * * *' }, { existing: anchored }).input).not.toHaveProperty('anchor')
  })

  it('keeps the beat of an interval that nobody rewrites', () => {
    const existing = row({ every_seconds: 60 })
    const changed = parseSchedule(
      { ends_at: '2027-01-01T00:00:00Z' },
      { now: later(NOW, 25_000), defaultZone: UTC, agent: AGENT, existing },
    )
    expect(changed).toMatchObject({ ok: true, value: { timingChanged: true, timing: { anchor: NOW } } })
    const sooner = parseSchedule(
      { every_seconds: 30 },
      { now: later(NOW, 25_000), defaultZone: UTC, agent: AGENT, existing },
    )
    expect(sooner).toMatchObject({ ok: true, value: { timing: { intervalMs: 30_000, anchor: NOW + 25_000 } } })
  })

  it('keeps the beginning of a rule that nobody rewrites', () => {
    const existing = row({ rrule: 'FREQ=HOURLY;INTERVAL=7' })
    const now = later(NOW, 3_600_000)
    const changed = parseSchedule({ exclude: ['2026-12-24'] }, { now, defaultZone: UTC, agent: AGENT, existing })
    expect(changed).toMatchObject({ ok: true, value: { timingChanged: true, timing: { rule: { start: NOW } } } })
  })

  it('may leave an `at` whose moment has passed as it is', () => {
    const existing = row({ at: '2026-02-01T00:00:00Z' }, { state: 'failed' })
    const now = later(NOW, 90 * 86_400_000)
    const context = { now, defaultZone: UTC, agent: AGENT, existing }
    const same = { at: '2026-02-01T00:00:00Z', timezone: 'UTC', name: 'seen' }
    expect(parseSchedule(same, context)).toMatchObject({ ok: true, value: { timingChanged: false, name: 'seen' } })
    expect(parseSchedule({ at: '2026-02-02T00:00:00Z' }, context).ok).toBe(false)
  })

  it('with null brings back the default', () => {
    const existing = row({
      cron: '* * * * *',
      lane: 'team',
      session: 'main',
      max_parallel: 3,
      retry_policy: { max_retries: 1 },
    })
    const change = {
      lane: null,
      session: null,
      max_parallel: null,
      retry_policy: null,
      payload: null,
      description: null,
    }
    const changed = read(change, { existing })
    expect(changed).toMatchObject({ lane: null, sessionKey: null, retryPolicy: null, payload: null, description: '' })
    expect(changed.rules).toMatchObject({ maxParallel: null, ownMaxRetries: null })
    expect(changed.input).toEqual({ cron: '* * * * *' })
  })

  it('takes away the plan only for another', () => {
    expect(flaws({ cron: null }, { existing: daily })[0]).toContain('is missing')
    expect(read({ cron: null, every_seconds: 5 }, { existing: daily }).timing.kind).toBe('every')
  })

  it('checks jitter against the new interval', () => {
    const existing = row({ every_seconds: 60, jitter_ms: 30_000 })
    expect(fieldsOf({ every_seconds: 20 }, { existing })).toEqual(['jitter_ms'])
  })
})
