import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from '../../src/api/page.ts'
import { type RunView, run, runDetail, runPage } from '../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { runExplanation } from '../../src/features/explain/schema.ts'

import { scheduleDraft } from '../../src/features/schedules/views-schema.ts'
import { attemptId, principalId, runId } from '../../src/domain/ids.ts'
import { formatInstant, later } from '../../src/domain/instant.ts'
import { because } from '../../src/domain/reasons.ts'
import { insertAttempts } from '../../src/features/runs/attempts-store.ts'
import { ORG, seedRun } from '../platform/db/records.ts'
import { NOW } from '../support/builders.ts'
import { aPrincipal, createHttpWorld, KEYS, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  KEYS.set('runner', aPrincipal('owner', { id: principalId('key_runner'), scopes: ['schedules:run'] }))
  KEYS.set('writer', aPrincipal('owner', { id: principalId('key_writer'), scopes: ['runs:write'] }))
})
afterAll(async () => {
  KEYS.delete('runner')
  KEYS.delete('writer')
  await world.close()
})
beforeEach(async () => {
  world.services.now = NOW
  await world.services.db.query(
    'delete from run; delete from pending; delete from attempt; delete from schedule; delete from idempotency',
  )
})

const URL = '/api/v1/runs'
const seed = (id: string, more: Parameters<typeof seedRun>[2] = {}) => seedRun(world.services.db, id, more)
const counted = async (): Promise<number> =>
  (await world.ask('GET', `${URL}?limit=200`)).json<Page<RunView>>().items.length

describe('a run under the address that seed 002 names', () => {
  it('is shown to readers of schedules if a schedule started it, and to readers of runs in any case', async () => {
    KEYS.set('reader', aPrincipal('owner', { id: principalId('key_reader'), scopes: ['schedules:read'] }))
    await seed('of_schedule', { state: 'failed', schedule: 'sch_1', trigger: 'schedule' })
    await seed('of_message', { state: 'failed' })
    const status = async (as: string, id: string): Promise<number> =>
      (await world.ask('GET', `/api/v1/schedule-runs/${id}`, { as })).statusCode
    expect(await status('reader', 'of_schedule')).toBe(200)
    expect(await status('reader', 'of_message')).toBe(403)
    expect(await status('reader', 'of_nothing')).toBe(404)
    expect(await status('viewer', 'of_message')).toBe(200)
    KEYS.delete('reader')
  })
})

describe('the list of runs', () => {
  beforeEach(async () => {
    const at = (minutes: number) => later(NOW, minutes * 60_000)
    await seed('a', { createdAt: at(1), state: 'success', session: 's/ü', output: 'done' })
    await seed('b', { createdAt: at(2), state: 'timeout', agent: 'reader', errorCode: 'timeout' })
    await seed('c', { createdAt: at(3), state: 'cancelled', schedule: 'sch_1', trigger: 'schedule' })
    await seed('d', { createdAt: at(4), state: 'queued', schedule: 'sch_1', trigger: 'catchup' })
    await seed('e', { createdAt: at(5), state: 'failed', trigger: 'task', agent: 'reader' })
    await seed('f', { createdAt: at(5), state: 'running' })
    await seed('elsewhere', { createdAt: at(9), org: 'other' })
  })

  const ids = async (query: string, as = 'owner'): Promise<string> => {
    const response = await world.ask('GET', `${URL}?${query}`, { as })
    return runPage
      .parse(response.json())
      .items.map(({ id }) => id)
      .join('')
  }

  it.each([
    ['', 'fedcba'],
    ['schedule_id=sch_1', 'dc'],
    ['agent_id=reader', 'eb'],
    [`session=${encodeURIComponent('s/ü')}`, 'a'],
    ['status=SCHEDULED', 'd'],
    ['status=CANCELED', 'c'],
    ['status=FAILED_TIMEOUT', 'b'],
    ['status=failed,%20Timeout', 'eb'],
    ['status=running,success', 'fa'],
    ['trigger=task', 'e'],
    ['trigger=catchup', 'd'],
    ['trigger=schedule', 'c'],
    ['trigger=manual', ''],
    ['trigger=message', 'fba'],
    ['trigger=catchup&schedule_id=sch_1&status=queued', 'd'],
    [`from=${formatInstant(later(NOW, 240_000))}`, 'fed'],
    [`to=${formatInstant(later(NOW, 240_000))}`, 'cba'],
    [`from=${formatInstant(later(NOW, 120_000)).replace('Z', '%2B00:00')}&to=2100-01-01T00:00:00Z`, 'fedcb'],
    ['limit=2', 'fe'],
  ])('answers ?%s', async (query, expected) => {
    expect(await ids(query)).toBe(expected)
  })

  it('goes on where the page before ended, also between runs of one moment', async () => {
    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = runPage.parse((await world.ask('GET', `${URL}?limit=1&cursor=${cursor}`)).json())
      pages.push(page.items.map(({ id }) => id).join(''))
      cursor = page.next_cursor
    }
    expect(pages).toEqual(['f', 'e', 'd', 'c', 'b', 'a'])
  })

  it('shows nothing of another org', async () => {
    expect(await ids('', 'stranger')).toBe('elsewhere')
    expect(await ids('', 'viewer')).toBe('fedcba')
  })

  it.each([
    ['status=odd', ['/status']],
    ['status=', ['/status']],
    ['trigger=odd', ['/trigger']],
    ['from=yesterday', ['/from']],
    ['to=2026-13-01T00:00:00Z', ['/to']],
    ['limit=201', ['/limit']],
    ['cursor=%7B%7D', ['/cursor']],
    ['agentid=x', ['/agentid']],
  ])('refuses ?%s', async (query, pointers) => {
    expect(pointersIn(await world.ask('GET', `${URL}?${query}`))).toEqual(pointers)
  })

  it('says what a state may be called', async () => {
    const { errors } = problemIn(await world.ask('GET', `${URL}?status=odd`), 'VALIDATION')
    expect(errors?.[0]?.allowed).toContain('awaiting_callback')
  })
})

describe('a run', () => {
  it('is shown with its attempts, its way and why', async () => {
    await seed('run_1', {
      ...{ state: 'failed', attempt: 2, startedAt: later(NOW, 5), finishedAt: later(NOW, 9) },
      ...{ errorCode: 'network', errorMessage: 'refused', usage: { inputTokens: 3, costMicros: 2_500_000 } },
    })
    await world.services.db.transaction((tx) =>
      insertAttempts(tx, [
        {
          ...{ orgId: ORG, runId: runId('run_1'), number: 1, id: attemptId('att_0'), nodeId: 'nod_1' },
          ...{ startedAt: NOW, finishedAt: later(NOW, 1), status: 'timeout', errorCode: 'timeout', errorMessage: null },
        },
      ]),
    )
    const shown = runDetail.parse((await world.ask('GET', `${URL}/run_1`)).json())
    expect(shown).toMatchObject({
      ...{ id: 'run_1', org_id: 'acme', status: 'failed', error_code: 'network', duration_ms: 9, deliveries: [] },
      usage: { input_tokens: 3, cost: 2.5 },
      attempts: [
        { number: 1, status: 'timeout' },
        { number: 2, status: 'failed' },
      ],
    })
    expect(shown.timeline.map(({ status }) => status)).toEqual(['queued', 'running', 'waiting', 'running', 'failed'])
    expect((await world.ask('GET', '/api/v1/schedule-runs/run_1')).json()).toEqual(shown)
  })

  it('says why it is where it is: what is worked out now, else what is on record', async () => {
    const full = because('lane_full', 'lane', { lane: 'main', size: 30 })
    await seed('run_1', { state: 'queued' })
    const explain = async () => runExplanation.parse((await world.ask('GET', `${URL}/run_1/explain`)).json())
    expect(await explain()).toMatchObject({ run_id: 'run_1', status: 'queued', reason: 'accepted' })
    world.change({
      live: {
        stateOf: () => undefined,
        positionOf: () => null,
        queuedBefore: () => null,
        explainOutside: () => null,
        explain: () => ({ ...full, gate: 'lane' }),
      },
    })
    try {
      expect(await explain()).toMatchObject({ ...full, decision: { reason: 'accepted' } })
      expect((await explain()).sentence).toContain('main')
      expect((await world.ask('GET', `${URL}/run_1`)).json()).toMatchObject({ why: full })
    } finally {
      world.change({
        live: {
          stateOf: () => undefined,
          positionOf: () => null,
          queuedBefore: () => null,
          explainOutside: () => null,
          explain: () => null,
        },
      })
    }
  })

  it('is hidden from other orgs, whatever they try', async () => {
    await seed('run_1', { state: 'failed' })
    const tries = [
      ...[['GET', ''] as const, ['GET', '/explain'] as const, ['POST', '/cancel'] as const],
      ...[['POST', '/retry'] as const, ['POST', '/schedule'] as const],
    ]
    for (const [method, path] of tries) {
      problemIn(await world.ask(method, `${URL}/run_1${path}`, { as: 'stranger' }), 'NOT_FOUND')
      problemIn(await world.ask(method, `${URL}/run_none${path}`), 'NOT_FOUND')
    }
    problemIn(await world.ask('GET', '/api/v1/schedule-runs/run_1', { as: 'stranger' }), 'NOT_FOUND')
    expect(await counted()).toBe(1)
  })

  it('is refused an id that cannot be one', async () => {
    expect(pointersIn(await world.ask('GET', `${URL}/%00`))).toEqual(['/id'])
    expect(pointersIn(await world.ask('GET', `${URL}/${'x'.repeat(600)}`))).toEqual(['/id'])
  })
})

describe('cancelling', () => {
  it('ends what waits at once, and refuses what has ended', async () => {
    await seed('run_1', { state: 'queued', session: 's' })
    const cancelled = await world.ask('POST', `${URL}/run_1/cancel`)
    expect(cancelled.statusCode).toBe(200)
    expect(run.parse(cancelled.json())).toMatchObject({ id: 'run_1', status: 'cancelled', reason: 'cancelled' })
    problemIn(await world.ask('POST', `${URL}/run_1/cancel`), 'ALREADY_ENDED')
  })

  it('tells what executes to stop, as often as it is asked', async () => {
    await seed('run_1', { state: 'running' })
    for (const _ of [1, 2])
      expect((await world.ask('POST', `${URL}/run_1/cancel`)).json<RunView>().status).toBe('stopping')
  })

  it('needs runs:write', async () => {
    await seed('run_1', { state: 'queued' })
    for (const as of ['member', 'viewer', 'runner'])
      problemIn(await world.ask('POST', `${URL}/run_1/cancel`, { as }), 'FORBIDDEN')
    expect((await world.ask('POST', `${URL}/run_1/cancel`, { as: 'writer' })).statusCode).toBe(200)
  })
})

describe('retrying', () => {
  const retry = (id: string, more: Parameters<HttpWorld['ask']>[2] = {}) =>
    world.ask('POST', `${URL}/${id}/retry`, more)

  it('makes a new run of one that has ended', async () => {
    await seed('run_1', { state: 'failed', payload: { text: 'hello' } })
    const response = await retry('run_1')
    expect(response.statusCode).toBe(202)
    const made = run.parse(response.json())
    expect(made).toMatchObject({
      ...{ trigger: 'retry', retry_of: 'run_1', status: 'queued', payload: { text: 'hello' } },
      decision: { reason: 'retried', evidence: { of: 'run_1' } },
    })
    problemIn(await retry(made.id), 'NOT_RETRYABLE')
  })

  it('of what succeeded needs force', async () => {
    await seed('run_1', { state: 'success' })
    problemIn(await retry('run_1'), 'NOT_RETRYABLE')
    problemIn(await retry('run_1', { body: { force: false } }), 'NOT_RETRYABLE')
    expect(pointersIn(await retry('run_1', { body: { force: 'yes' } }))).toEqual(['/force'])
    expect(pointersIn(await retry('run_1', { body: { forced: true } }))).toEqual(['/forced'])
    expect(await counted()).toBe(1)
    expect((await retry('run_1', { body: { force: true } })).statusCode).toBe(202)
    expect(await counted()).toBe(2)
  })

  it('happens once for an idempotency key', async () => {
    await seed('run_1', { state: 'failed' })
    const headers = { 'idempotency-key': 'k' }
    const first = (await retry('run_1', { headers })).json<RunView>()
    expect((await retry('run_1', { headers })).json<RunView>().id).toBe(first.id)
    problemIn(await retry('run_1', { headers, body: { force: true } }), 'IDEMPOTENCY_MISMATCH')
    expect(await counted()).toBe(2)
  })

  it("of a schedule's run needs schedules:run, of any other runs:write", async () => {
    const made = await world.ask('POST', '/api/v1/schedules', {
      body: { every_seconds: 3_600, concurrency_policy: 'PARALLEL' },
    })
    const { id } = made.json<ScheduleView>()
    await seed('of_schedule', { state: 'failed', schedule: id, trigger: 'schedule' })
    await seed('of_message', { state: 'failed' })
    const table = [
      ['runner', 'of_schedule', 202],
      ['runner', 'of_message', 403],
      ['writer', 'of_schedule', 403],
      ['writer', 'of_message', 202],
      ['member', 'of_schedule', 202],
      ['member', 'of_message', 403],
      ['viewer', 'of_schedule', 403],
    ] as const
    for (const [as, which, status] of table)
      for (const url of [`${URL}/${which}/retry`, `/api/v1/schedule-runs/${which}/retry`])
        expect([as, url, (await world.ask('POST', url, { as })).statusCode]).toEqual([as, url, status])
    expect(await counted()).toBe(2 + 6)
  })

  it('of a run of a schedule keeps the time limit and the retries of the schedule', async () => {
    const retry_policy = { max_retries: 0 }
    const made = await world.ask('POST', '/api/v1/schedules', {
      body: { every_seconds: 3_600, timeout_seconds: 2, retry_policy, concurrency_policy: 'PARALLEL' },
    })
    const { id: schedule } = made.json<ScheduleView>()
    await seed('run_1', { state: 'failed', schedule, trigger: 'schedule' })
    const { id } = (await retry('run_1')).json<RunView>()
    const [row] = await world.services.db.query('select timeout_seconds, retry_policy from run where id = $1', [id])
    expect(row).toMatchObject({ timeout_seconds: 2, retry_policy: { maxRetries: 0 } })
  })

  it('is new work: a node that goes down refuses it', async () => {
    await seed('run_1', { state: 'failed' })
    world.change({ isDraining: () => true })
    try {
      const response = await retry('run_1')
      problemIn(response, 'DRAINING')
      expect(response.headers['retry-after']).toBe('5')
    } finally {
      world.change({ isDraining: () => false })
    }
    expect(await counted()).toBe(1)
  })
})

describe('a schedule of a run', () => {
  const draft = async (id: string) =>
    scheduleDraft.parse((await world.ask('POST', `${URL}/${id}/schedule`, { as: 'member' })).json())

  it('is drafted from a message, and is a schedule once it says when', async () => {
    const text = `Look at the inbox and answer what is urgent, but nothing that can wait\nBe short.`
    await seed('run_1', { state: 'success', payload: { text, attachments: [{ a: 1 }], messageIds: ['m'], fields: {} } })
    const drafted = await draft('run_1')
    expect(drafted).toEqual({
      name: 'Look at the inbox and answer what is urgent, but nothing th…',
      agent_id: 'writer',
      payload: { prompt: text, context: { attachments: [{ a: 1 }] } },
      timezone: 'UTC',
    })
    const made = await world.ask('POST', '/api/v1/schedules', { body: { ...drafted, cron: '0 9 * * *' } })
    expect(made.statusCode).toBe(201)
    expect(made.json<ScheduleView>()).toMatchObject({ ...drafted, cron: '0 9 * * *' })
  })

  it('keeps the payload of a schedule, and names no agent that is gone', async () => {
    await seed('run_1', {
      agent: 'gone',
      trigger: 'schedule',
      state: 'failed',
      payload: { prompt: 'Go', output: 'md' },
    })
    expect(await draft('run_1')).toEqual({ name: 'Go', payload: { prompt: 'Go', output: 'md' }, timezone: 'UTC' })
    await seed('run_2', { trigger: 'task', state: 'success', payload: { action: 'click' } })
    expect(await draft('run_2')).toMatchObject({ name: 'Like run_2', payload: { action: 'click' } })
  })

  it('needs schedules:write and keeps nothing', async () => {
    await seed('run_1', { state: 'success' })
    problemIn(await world.ask('POST', `${URL}/run_1/schedule`, { as: 'viewer' }), 'FORBIDDEN')
    await draft('run_1')
    expect((await world.ask('GET', '/api/v1/schedules')).json<Page<unknown>>().items).toEqual([])
  })
})
