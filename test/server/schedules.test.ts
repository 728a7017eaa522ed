import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from '../../src/api/page.ts'
import { type BulkAnswer, type PreviewView, scheduleOutcomes } from '../../src/features/schedules/views-schema.ts'
import { type RunNowAnswer, type ScheduleView, schedule, schedulePage } from '../../src/features/schedules/schema.ts'

import { SAMPLE_JSON, SAMPLE_POLICIES } from '../support/seed-003-sample.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('delete from schedule', [])
})

const URL = '/api/v1/schedules'
const hourly = { name: 'Hourly', cron: '0 * * * *', payload: 'Look at the inbox' }

const create = async (body: unknown, headers = {}): Promise<ScheduleView> => {
  const response = await world.ask('POST', URL, { body, headers })
  expect(response.json()).not.toHaveProperty('code')
  expect(response.statusCode).toBe(201)
  return response.json<ScheduleView>()
}
const counted = async (): Promise<number> => (await world.ask('GET', URL)).json<Page<ScheduleView>>().items.length

describe('a schedule', () => {
  it('is made, shown with its version as entity tag, changed and deleted', async () => {
    const made = await world.ask('POST', URL, { body: hourly })
    expect(made.statusCode).toBe(201)
    expect(made.headers.etag).toBe('"1"')
    const { id } = schedule.parse(made.json())
    const shown = await world.ask('GET', `${URL}/${id}`)
    expect(shown.json()).toEqual(made.json())
    expect(shown.headers.etag).toBe('"1"')
    expect(shown.json<ScheduleView>()).toMatchObject({ name: 'Hourly', created_by: 'key_owner', version: 1 })
    const changed = await world.ask('PATCH', `${URL}/${id}`, { body: { name: 'Every hour' } })
    expect(changed.statusCode).toBe(200)
    expect(changed.headers.etag).toBe('"2"')
    expect(changed.json<ScheduleView>()).toMatchObject({ name: 'Every hour', cron: '0 * * * *', version: 2 })
    const gone = await world.ask('DELETE', `${URL}/${id}`)
    expect([gone.statusCode, gone.body]).toEqual([204, ''])
    problemIn(await world.ask('GET', `${URL}/${id}`), 'NOT_FOUND')
  })

  it('is switched off and on', async () => {
    const { id } = await create(hourly)
    const off = (await world.ask('POST', `${URL}/${id}/disable`)).json<ScheduleView>()
    expect(off).toMatchObject({ state: 'paused', enabled: false, next_run_at: null })
    const on = (await world.ask('POST', `${URL}/${id}/enable`)).json<ScheduleView>()
    expect(on).toMatchObject({ state: 'active', enabled: true, version: 3 })
  })

  it('is changed only in the version that If-Match names', async () => {
    const { id } = await create(hourly)
    const patch = (tag: string) =>
      world.ask('PATCH', `${URL}/${id}`, { body: { name: tag }, headers: { 'if-match': tag } })
    expect((await patch('"1"')).statusCode).toBe(200)
    for (const stale of ['"1"', 'W/"2"', '"two"', '2', '"1", "2"'])
      expect(problemIn(await patch(stale), 'STALE_VERSION').details).toEqual({ version: 2 })
    const remove = await world.ask('DELETE', `${URL}/${id}`, { headers: { 'if-match': '"1"' } })
    problemIn(remove, 'STALE_VERSION')
    expect((await patch('*')).json<ScheduleView>()).toMatchObject({ name: '*', version: 3 })
    expect((await world.ask('DELETE', `${URL}/${id}`, { headers: { 'if-match': '"3"' } })).statusCode).toBe(204)
  })

  it('is not sent again to who has it already', async () => {
    const { id } = await create(hourly)
    const again = (tag: string) => world.ask('GET', `${URL}/${id}`, { headers: { 'if-none-match': tag } })
    const known = await again('"0", W/"1"')
    expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', '"1"'])
    expect((await again('"2"')).statusCode).toBe(200)
  })

  it('is made once for an idempotency key, whatever happens to it later', async () => {
    const headers = { 'idempotency-key': 'one' }
    const first = await create(hourly, headers)
    await world.ask('PATCH', `${URL}/${first.id}`, { body: { name: 'changed' } })
    expect(await create(hourly, headers)).toEqual(first)
    expect(await counted()).toBe(1)
    problemIn(await world.ask('POST', URL, { body: { ...hourly, name: 'other' }, headers }), 'IDEMPOTENCY_MISMATCH')
    // A key belongs to who uses it.
    await world.ask('POST', URL, { body: { ...hourly, name: 'other' }, headers, as: 'member' })
    expect(await counted()).toBe(2)
    const long = await world.ask('POST', URL, { body: hourly, headers: { 'idempotency-key': 'x'.repeat(513) } })
    expect(pointersIn(long)).toEqual(['/Idempotency-Key'])
  })

  it('is hidden from other orgs, whatever they try', async () => {
    const { id } = await create(hourly)
    const tries = [
      ['GET', ''],
      ['PATCH', '', { name: 'x' }],
      ['DELETE', ''],
      ['POST', '/enable'],
      ['POST', '/disable'],
      ['POST', '/run-now'],
      ['GET', '/runs'],
      ['GET', '/explain?at=2026-05-01T00:00:00Z'],
    ] as const
    for (const [method, path, body] of tries)
      problemIn(await world.ask(method, `${URL}/${id}${path}`, { as: 'stranger', body }), 'NOT_FOUND')
    expect((await world.ask('GET', URL, { as: 'stranger' })).json()).toEqual({ items: [], next_cursor: null })
  })
})

describe('bodies that others send', () => {
  it('takes the sample of the cron strategy document as it stands', async () => {
    const response = await world.ask('POST', URL, { raw: SAMPLE_JSON })
    expect(response.statusCode).toBe(201)
    expect(schedule.parse(response.json())).toMatchObject({
      ...{ name: 'demo-task', kind: 'cron', cron: '*/5 * * * * *', agent_id: 'writer', state: 'active' },
      ...{ ...SAMPLE_POLICIES, payload: null },
    })
  })

  it.each([
    [
      'kind, expr, tz',
      { kind: 'cron', expr: '0 9 * * *', tz: 'Asia/Shanghai' },
      { cron: '0 9 * * *', timezone: 'Asia/Shanghai' },
    ],
    ['kind, everyMs', { kind: 'every', everyMs: 90_000 }, { kind: 'every', every_seconds: 90 }],
    ['kind, atMs', { kind: 'at', atMs: 4_102_444_800_000 }, { kind: 'at', at: '2100-01-01T00:00:00.000Z' }],
    [
      'schedule_type interval',
      { schedule_type: 'interval', interval_seconds: 60 },
      { kind: 'every', every_seconds: 60 },
    ],
    [
      'schedule_type once',
      { schedule_type: 'once', run_at: '2100-01-01T08:00:00+08:00' },
      { at: '2100-01-01T00:00:00.000Z' },
    ],
    ['schedule_type cron', { schedule_type: 'cron', cron_expr: '5 4 * * *', timezone: 'UTC' }, { cron: '5 4 * * *' }],
    ['status', { every_seconds: 60, status: 'DISABLED' }, { enabled: false, state: 'paused' }],
    ['status in any case', { every_seconds: 60, status: 'enabled' }, { enabled: true, state: 'active' }],
    [
      'times as milliseconds',
      { at: 4_102_444_800_000, starts_at: 4_102_358_400_000, ends_at: 4_102_531_200_000 },
      { at: '2100-01-01T00:00:00.000Z', starts_at: '2099-12-31T00:00:00.000Z', ends_at: '2100-01-02T00:00:00.000Z' },
    ],
    ['run_at as milliseconds', { run_at: 4_102_444_800_000 }, { at: '2100-01-01T00:00:00.000Z' }],
    [
      'an anchor as milliseconds',
      { every_seconds: 60, anchor: 4_102_444_800_000 },
      { anchor: '2100-01-01T00:00:00.000Z' },
    ],
    ['words in any case', { every_seconds: 60, overlap_action: 'buffer_one' }, { overlap_action: 'BUFFER_ONE' }],
  ])('takes synonyms: %s', async (_, body, expected) => {
    const made = await create({ ...body, payload: { prompt: 'go' } })
    expect(made).toMatchObject(expected)
    schedule.parse(made)
  })

  it.each([
    ['two names of one field', { cron: '* * * * *', cron_expr: '* * * * *' }, ['/cron_expr']],
    ['two names of one switch', { cron: '* * * * *', enabled: true, status: 'ENABLED' }, ['/status']],
    ['a status that is none', { cron: '* * * * *', status: 'ARCHIVED' }, ['/status']],
    ['two plans', { cron: '* * * * *', every_seconds: 5 }, ['/cron']],
    ['no plan', { name: 'x' }, ['/cron']],
    ['a misspelt field', { cron: '* * * * *', misfirePolicy: 'SKIP' }, ['/misfirePolicy']],
    [
      'a flaw inside',
      { cron: '* * * * *', retry_policy: { base_ms: -1, nope: 1 } },
      ['/retry_policy/base_ms', '/retry_policy/nope'],
    ],
    ['wrong types', { cron: 5, name: [], enabled: 'yes' }, ['/cron', '/name', '/enabled']],
    ['an agent that is not there', { cron: '* * * * *', agent_id: 'nobody' }, ['/agent_id']],
    ['a name with a dot', { cron: '* * * * *', 'a.b/c': 1 }, ['/a.b~1c']],
    ['an empty object', {}, ['/cron']],
  ])('refuses %s and changes nothing', async (_, body, pointers) => {
    expect((await pointersOf(body)).toSorted()).toEqual(pointers.toSorted())
    expect(await counted()).toBe(0)
  })

  it.each([
    [
      { schedule_type: 'cron', cron_expr: '5 4 * * *', timezone: 'UTC' },
      { schedule_type: 'cron', cron_expr: '5 4 * * *', kind: 'cron', cron: '5 4 * * *' },
    ],
    [
      { schedule_type: 'interval', interval_seconds: 60 },
      { schedule_type: 'interval', interval_seconds: 60, kind: 'every', every_seconds: 60 },
    ],
    [{ everyMs: 1_500 }, { schedule_type: 'interval', interval_seconds: 1.5, everyMs: 1_500 }],
    [
      { schedule_type: 'once', run_at: '2100-01-01T08:00:00+08:00' },
      { schedule_type: 'once', run_at: '2100-01-01T00:00:00.000Z', at: '2100-01-01T00:00:00.000Z' },
    ],
    [{ rrule: 'FREQ=DAILY;BYHOUR=9' }, { schedule_type: 'rrule', kind: 'rrule' }],
  ])('shows %j under those names too, on every route that shows it', async (body, shown) => {
    const made = await create(body)
    expect(made).toMatchObject(shown)
    const { items } = (await world.ask('GET', URL)).json<Page<ScheduleView>>()
    const one = `${URL}/${made.id}`
    const others = [
      await world.ask('GET', one),
      await world.ask('PATCH', one, { body: { status: 'DISABLED' } }),
      await world.ask('POST', `${one}/enable`),
      await world.ask('POST', `${one}/disable`),
    ]
    for (const view of [items[0], ...others.map((answer) => answer.json<ScheduleView>())]) {
      expect(view).toMatchObject(shown)
      schedule.parse(view)
    }
    expect(others.map((answer) => answer.json<ScheduleView>().enabled)).toEqual([true, false, true, false])
  })

  const pointersOf = async (body: unknown): Promise<readonly string[]> =>
    pointersIn(await world.ask('POST', URL, { body }))
})

describe('the list of schedules', () => {
  beforeEach(async () => {
    for (const name of ['Beta', 'alpha', 'Gamma']) {
      world.services.pass(1_000)
      await create({
        name,
        every_seconds: name === 'Gamma' ? 60 : 3_600,
        agent_id: name === 'alpha' ? 'reader' : 'writer',
      })
    }
  })

  const names = async (query: string): Promise<readonly string[]> => {
    const page = schedulePage.parse((await world.ask('GET', `${URL}?${query}`)).json())
    return page.items.map(({ name }) => name)
  }

  it.each([
    ['', ['Gamma', 'alpha', 'Beta']],
    ['sort=created_at', ['Beta', 'alpha', 'Gamma']],
    ['sort=name', ['alpha', 'Beta', 'Gamma']],
    ['sort=-name', ['Gamma', 'Beta', 'alpha']],
    ['sort=next_run_at', ['Gamma', 'Beta', 'alpha']],
    ['agent_id=reader', ['alpha']],
    ['q=ET', ['Beta']],
    ['kind=interval&limit=2', ['Gamma', 'alpha']],
    ['state=paused', []],
    ['failing=true', []],
    ['failing=false', ['Gamma', 'alpha', 'Beta']],
  ])('answers ?%s', async (query, expected) => {
    expect(await names(query)).toEqual(expected)
  })

  it('goes on where the page before ended, in its own order only', async () => {
    const { next_cursor: cursor } = (await world.ask('GET', `${URL}?sort=name&limit=2`)).json<Page<unknown>>()
    expect(await names(`sort=name&limit=2&cursor=${cursor ?? ''}`)).toEqual(['Gamma'])
    expect(pointersIn(await world.ask('GET', `${URL}?cursor=${cursor ?? ''}`))).toEqual(['/cursor'])
  })

  it.each([
    ['limit=0', ['/limit']],
    ['limit=abc', ['/limit']],
    ['limit=1&limit=2', ['/limit']],
    ['limit=1e3', ['/limit']],
    ['cursor=nonsense', ['/cursor']],
    [`cursor=${Buffer.from('["-created_at",9e15,"x"]').toString('base64url')}`, ['/cursor']],
    [`cursor=${Buffer.from('["-created_at",1,"\\u0000"]').toString('base64url')}`, ['/cursor']],
    ['state=sleeping', ['/state']],
    ['sort=id', ['/sort']],
    ['failing=maybe', ['/failing']],
    ['stat=active', ['/stat']],
    ['q=%00', ['/q']],
    ['__proto__=1', ['/__proto__']],
  ])('refuses ?%s', async (query, pointers) => {
    expect(pointersIn(await world.ask('GET', `${URL}?${query}`))).toEqual(pointers)
  })

  it('finds those that fail, the longest failing first, page by page', async () => {
    const set = (name: string, streak: number, state = 'active') =>
      world.services.db.query('update schedule set failure_streak = $2, state = $3 where name = $1', [
        name,
        streak,
        state,
      ])
    await set('Beta', 3)
    await set('alpha', 0, 'failed')
    expect(await names('failing=true&sort=-failure_streak')).toEqual(['Beta', 'alpha'])
    expect(await names('failing=false')).toEqual(['Gamma'])
    const first = (await world.ask('GET', `${URL}?sort=-failure_streak&limit=1`)).json<Page<ScheduleView>>()
    expect(first.items.map(({ name }) => name)).toEqual(['Beta'])
    const rest = await names(`sort=-failure_streak&cursor=${first.next_cursor ?? ''}`)
    expect(rest.toSorted()).toEqual(['Gamma', 'alpha'])
  })

  it('suggests the filter that was probably meant', async () => {
    const { errors } = problemIn(await world.ask('GET', `${URL}?agentid=x`), 'VALIDATION')
    expect(errors?.[0]?.message).toBe('is not a known field; did you mean agent_id?')
  })
})

describe('what a schedule does', () => {
  it('runs now, lists its runs and explains a moment', async () => {
    const { id } = await create(hourly)
    const response = await world.ask('POST', `${URL}/${id}/run-now`)
    expect(response.statusCode).toBe(202)
    const { ran, run_id: run } = response.json<RunNowAnswer>()
    expect(ran).toBe(true)
    const runs = (await world.ask('GET', `${URL}/${id}/runs`)).json<Page<{ id: string; trigger: string }>>()
    expect(runs.items.map((one) => [one.id, one.trigger])).toEqual([[run, 'manual']])
    const due = await world.ask('POST', `${URL}/${id}/run-now`, { body: { mode: 'due' } })
    expect([due.statusCode, due.json()]).toEqual([202, { ran: false, reason: 'not-due' }])
    const explained = await world.ask('GET', `${URL}/${id}/explain?at=2100-01-01T00:00:00Z`)
    expect(explained.json()).toMatchObject({ reason: 'not_yet', run_id: null })
    expect(pointersIn(await world.ask('GET', `${URL}/${id}/explain`))).toEqual(['/at'])
    expect(pointersIn(await world.ask('GET', `${URL}/${id}/explain?at=soon`))).toEqual(['/at'])
    expect(pointersIn(await world.ask('POST', `${URL}/${id}/run-now`, { body: { mode: 'now' } }))).toEqual(['/mode'])
    expect(pointersIn(await world.ask('GET', `${URL}/${id}/runs?status=odd`))).toEqual(['/status'])
  })

  it('shows how the last runs of many went, in one answer', async () => {
    const [one, two] = [await create(hourly), await create({ ...hourly, name: 'Never ran' })]
    const ran: (string | undefined)[] = []
    for (let run = 0; run < 3; run++) {
      world.services.pass(1_000)
      ran.push((await world.ask('POST', `${URL}/${one.id}/run-now`)).json<RunNowAnswer>().run_id)
    }
    const ask = (query: string, as = 'viewer') => world.ask('GET', `${URL}/outcomes?${query}`, { as })
    const both = scheduleOutcomes.parse((await ask(`ids=${two.id},sch_nobody,${one.id},${one.id}&limit=2`)).json())
    expect(both.items.map((item) => [item.schedule_id, item.runs.map(({ id, status }) => [id, status])])).toEqual([
      [two.id, []],
      [
        one.id,
        [
          [ran[2], 'queued'],
          [ran[1], 'queued'],
        ],
      ],
    ])
    expect((await ask(`ids=${one.id}`, 'stranger')).json()).toEqual({ items: [] })
    expect(pointersIn(await ask('limit=2'))).toEqual(['/ids'])
    expect(pointersIn(await ask('ids=,'))).toEqual(['/ids'])
    expect(pointersIn(await ask(`ids=${Array.from({ length: 201 }, (_, n) => `sch_${n}`).join(',')}`))).toEqual([
      '/ids',
    ])
    expect(pointersIn(await ask(`ids=${one.id}&limit=51`))).toEqual(['/limit'])
  })

  it('runs now once for an idempotency key, which belongs to the schedule too', async () => {
    const [one, two] = [await create({ ...hourly, concurrency_policy: 'PARALLEL' }), await create(hourly)]
    const headers = { 'idempotency-key': 'again' }
    const run = (id: string) => world.ask('POST', `${URL}/${id}/run-now`, { headers })
    expect((await run(one.id)).json()).toEqual((await run(one.id)).json())
    expect((await world.ask('GET', `${URL}/${one.id}/runs`)).json<Page<unknown>>().items).toHaveLength(1)
    problemIn(await run(two.id), 'IDEMPOTENCY_MISMATCH')
  })

  it('says that it is full under concurrency SKIP', async () => {
    const { id } = await create({ ...hourly, concurrency_policy: 'SKIP' })
    expect((await world.ask('POST', `${URL}/${id}/run-now`)).statusCode).toBe(202)
    problemIn(await world.ask('POST', `${URL}/${id}/run-now`), 'CONCURRENCY_LIMIT')
  })

  it('is previewed in words and dates, with the changes of the clock', async () => {
    const body = {
      cron: '30 2 * * *',
      tz: 'Europe/Berlin',
      from: '2026-03-27T12:00:00Z',
      count: 3,
      name: 'not looked at',
    }
    const preview = (await world.ask('POST', `${URL}/preview`, { body })).json<PreviewView>()
    expect(preview.sentence).toContain('02:30')
    expect(preview.next).toHaveLength(3)
    expect(preview.next[0]).toBe('2026-03-28T01:30:00.000Z')
    expect(preview.dst_notes).toMatchObject([{ kind: 'gap', offset_before: '+01:00', offset_after: '+02:00' }])
    expect(
      pointersIn(
        await world.ask('POST', `${URL}/preview`, { body: { cron: '61 * * * *', count: 0, counts: 1 } }),
      ).toSorted(),
    ).toEqual(['/count', '/counts', '/cron'])
    expect(await counted()).toBe(0)
  })
})

describe('many schedules at once', () => {
  const bulk = (body: unknown, as = 'owner') => world.ask('POST', `${URL}/bulk`, { body, as })

  it('are decided one by one', async () => {
    const [one, two] = [await create(hourly), await create(hourly)]
    const answer = (await bulk({ action: 'disable', ids: [one.id, 'sch_none', two.id] })).json<BulkAnswer>()
    expect(answer).toMatchObject({ done: 2, refused: 1 })
    expect(answer.items).toMatchObject([
      { id: one.id, ok: true, state: 'paused' },
      { id: 'sch_none', ok: false, code: 'NOT_FOUND' },
      { id: two.id, ok: true, state: 'paused' },
    ])
    expect((await bulk({ action: 'enable', ids: [two.id] })).json()).toMatchObject({ items: [{ state: 'active' }] })
    expect((await bulk({ action: 'delete', ids: [one.id, two.id] })).json()).toMatchObject({ done: 2, refused: 0 })
    expect(await counted()).toBe(0)
  })

  it('are deleted only by who may delete', async () => {
    const { id } = await create(hourly)
    expect((await bulk({ action: 'disable', ids: [id] }, 'member')).statusCode).toBe(200)
    problemIn(await bulk({ action: 'delete', ids: [id] }, 'member'), 'FORBIDDEN')
    problemIn(await bulk({ action: 'disable', ids: [id] }, 'viewer'), 'FORBIDDEN')
    expect(await counted()).toBe(1)
  })

  it('are refused whole when the request is not valid', async () => {
    expect(pointersIn(await bulk({ action: 'explode', ids: [] })).toSorted()).toEqual(['/action', '/ids'])
    expect(pointersIn(await bulk({ action: 'enable', ids: ['a', 5] }))).toEqual(['/ids/1'])
    expect(pointersIn(await bulk({ action: 'enable', ids: ['a'], idz: 1 }))).toEqual(['/idz'])
  })
})
