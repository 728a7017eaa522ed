import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { simulateAnswer, type SimulateAnswer, type SimulateInput } from '../../src/features/simulation/schema.ts'

import { Refusal } from '../../src/api/refusals.ts'
import { formatInstant, later } from '../../src/domain/instant.ts'
import { computeSimulation } from '../../src/features/simulation/compute.ts'
import type { SimulationPort } from '../../src/features/simulation/port.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(async () => {
  world.app.server.closeAllConnections()
  await world.close()
})
beforeEach(async () => {
  for (const table of ['schedule', 'pending', 'run', 'decision'])
    await world.services.db.query(`delete from ${table}`, [])
})

const URL = '/api/v1/schedules/simulate'
const MINUTE = 60_000

const simulate = async (body: SimulateInput): Promise<SimulateAnswer> => {
  const response = await world.ask('POST', URL, { body, as: 'viewer' })
  expect(response.json()).not.toHaveProperty('code')
  return simulateAnswer.parse(response.json())
}
const create = async (body: unknown): Promise<ScheduleView> =>
  (await world.ask('POST', '/api/v1/schedules', { body })).json<ScheduleView>()
const ago = (ms: number): string => formatInstant(later(world.services.now, -ms))

interface PastRun {
  readonly schedule: string
  readonly at: number
  readonly seen?: number
  readonly took?: number
  readonly state?: string
}

/** Puts runs on record as a node would have: planned so long ago, seen so much later, and how they went. */
async function record(runs: readonly PastRun[]): Promise<void> {
  for (const [index, { schedule, at, seen = 0, took = 1_000, state = 'success' }] of runs.entries()) {
    const start = later(world.services.now, seen - at)
    await world.services.db.query(
      `insert into run (org_id, id, agent_id, executor_key, schedule_id, nominal_at, trigger, lane, created_at, state,
         attempt, started_at, finished_at, superseded, error_code, usage, attempt_id, node_id)
       values ('acme', $1, 'writer', 'echo', $2, $3::timestamptz, 'schedule', 'cron', $4::timestamptz, $5, 1,
         $6::timestamptz, $7::timestamptz, false, $8, '{"inputTokens": 30, "costMicros": 2000}', $9, 'nod_1')`,
      [
        ...[`run_${index}`, schedule, ago(at), formatInstant(start), state],
        ...(state === 'skipped'
          ? [null, formatInstant(start)]
          : [formatInstant(start), formatInstant(later(start, took))]),
        ...[state === 'failed' ? 'executor_http_5xx' : null, state === 'skipped' ? null : `att_${index}`],
      ],
    )
  }
}

describe('a simulation of schedules that are given', () => {
  it('says what would become of each moment, and what other policies change', async () => {
    const answer = await simulate({
      schedules: [{ name: 'Slow', every_seconds: 60, overlap_action: 'SKIP', timeout_seconds: 600 }],
      window_seconds: 600,
      assume: { duration_ms: 90_000 },
      against: [{ set: { overlap_action: 'CANCEL_PREV' } }],
    })
    expect(answer.from).toBe(formatInstant(world.services.now))
    expect(answer.rows.map(({ status }) => status)).toEqual([
      ...['success', 'skipped', 'success', 'skipped', 'success', 'skipped', 'success', 'skipped', 'running'],
    ])
    expect(answer.totals.skipped_by_reason).toEqual({ overlap: 4 })
    expect(answer.against?.totals).toMatchObject({ superseded: 8, skipped_by_reason: {} })
    expect(answer.diff).toMatchObject({ changed: 8, before: answer.totals, after: answer.against?.totals })
    expect(answer.basis).toEqual([{ schedule_id: 'new_1', source: 'given', observed_runs: 0, recorded_attempts: 0 }])
    expect(await world.services.rows('select 1 from run')).toEqual([])
  })

  it('takes assumptions by name, outages by their length, and gives the same for the same seed', async () => {
    const asked: SimulateInput = {
      schedules: [
        { name: 'Good', every_seconds: 60 },
        { name: 'Bad', every_seconds: 60, retry_policy: { max_retries: 0 } },
      ],
      assume_for: [{ schedules: ['Bad'], assume: { failure_rate: 0.5 } }],
      outages: [{ kind: 'stall', from: world.services.now + 2 * MINUTE, seconds: 180 }],
      ...{ window_seconds: 3_600, seed: 7 },
    }
    const [good, bad] = (await simulate(asked)).schedules
    expect(good?.totals.by_status).toMatchObject({ skipped: 3, success: 56 })
    expect(bad?.totals.by_status.failed).toBeGreaterThan(15)
    expect(await simulate(asked)).toEqual(await simulate(asked))
  })

  it.each<[unknown, readonly string[]]>([
    [{}, ['/schedules']],
    [
      { schedules: [{ cron: '61 * * * *', overlap_acton: 'SKIP' }] },
      ['/schedules/0/overlap_acton', '/schedules/0/cron'],
    ],
    [
      { schedules: [{ every_seconds: 5 }], against: [{ set: { overlap_action: 'NO' } }] },
      ['/against/0/set/overlap_action'],
    ],
    [{ schedules: [{ every_seconds: 5 }], windw_seconds: 5 }, ['/windw_seconds']],
    [{ schedules: [{ every_seconds: 5 }], window_seconds: 8_000_000 }, ['/window_seconds']],
    [{ schedules: [{ every_seconds: 5 }], from: '2026-01-01T00:00:00Z', to: '2026-12-31T00:00:00Z' }, ['/to']],
    [{ schedules: [{ every_seconds: 5 }], agent_id: 'writer' }, ['/agent_id']],
    [{ schedules: [{ every_seconds: 5, agent_id: 'nobody' }] }, ['/schedules/0/agent_id']],
    [{ ids: ['sch_nobody'] }, ['/ids/0']],
    [{ all: true, assume: { failure_rate: 2, took: 5 } }, ['/assume/failure_rate', '/assume/took']],
    [{ all: true, outages: [{ kind: 'stall', from: '2026-01-01T00:00:00Z' }] }, ['/outages/0/to']],
    [{ all: true, replay: true, to: '2999-01-01T00:00:00Z' }, ['/to']],
    [{ schedules: [{ every_seconds: 5 }], replay: true }, ['/schedules']],
  ])('is refused with the field that is wrong: %j', async (body, pointers) => {
    expect(pointersIn(await world.ask('POST', URL, { body })).toSorted()).toEqual(pointers.toSorted())
  })
})

describe('a simulation of stored schedules', () => {
  it('goes as their last runs on record went, unless something else is assumed', async () => {
    const { id } = await create({
      name: 'Hourly',
      cron: '0 * * * *',
      retry_policy: { max_retries: 0 },
      timeout_seconds: 60,
    })
    await create({ name: 'Off', every_seconds: 60, enabled: false })
    await record([
      { schedule: id, at: 120 * MINUTE, took: 30_000 },
      { schedule: id, at: 60 * MINUTE, took: 30_000, state: 'failed' },
    ])
    const answer = await simulate({ all: true, seed: 3 })
    expect(answer.schedules.map(({ name }) => name)).toEqual(['Hourly'])
    expect(answer.basis).toEqual([{ schedule_id: id, source: 'stored', observed_runs: 2, recorded_attempts: 0 }])
    expect(answer.totals).toMatchObject({ occurrences: 23, busy_ms: 23 * 30_000, tokens: 23 * 30 })
    expect(answer.totals.by_status.failed).toBeGreaterThan(3)
    const assumed = await simulate({ ids: [id], assume: { failure_rate: 0, duration_ms: 5 } })
    expect(assumed.totals).toMatchObject({ by_status: { success: 23 }, busy_ms: 23 * 5 })
    expect((await simulate({ ids: [id], observed: false })).basis[0]?.observed_runs).toBe(0)
  })

  it('starts the share of runs that a probe has started, at what those used', async () => {
    const probe = { kind: 'state', when: { path: '/runs', op: 'exists' } }
    const { id } = await create({ every_seconds: 60, probe, retry_policy: { max_retries: 0 } })
    await record([4, 3, 2, 1].map((minutes) => ({ schedule: id, at: minutes * MINUTE })))
    const { db } = world.services
    await db.query(
      `update run set usage = null, why = '{"reason": "probe_no", "rule": "probe", "evidence": {}}' where id <> 'run_0'`,
      [],
    )
    const unknown = await simulate({ ids: [id], window_seconds: 6_000 })
    expect(unknown.basis[0]?.observed_runs).toBe(1)
    expect(unknown.totals.tokens).toBe(30 * unknown.totals.runs)
    await db.query(
      `insert into probe (org_id, subject, asked, saved, errors, last_answer, last_sentence, last_at, last_run_id)
       values ('acme', $1, 4, 3, 0, 'no', 'it is so', now(), 'run_3')`,
      [id],
    )
    const { totals, rows } = await simulate({ ids: [id], window_seconds: 6_000 })
    const started = rows.filter(({ reason }) => reason !== 'probe_no').length
    expect(started).toBeGreaterThan(totals.runs / 8)
    expect(started).toBeLessThan(totals.runs / 2.5)
    expect(totals).toMatchObject({ runs: unknown.totals.runs, tokens: 30 * started })
  })

  it('begins with what is under way', async () => {
    const { id } = await create({ every_seconds: 60, overlap_action: 'SKIP', timeout_seconds: 600 })
    world.services.pass(MINUTE)
    await world.services.fire(id)
    const { rows } = await simulate({ ids: [id], window_seconds: 90, assume: { duration_ms: 70_000 } })
    expect(rows.map(({ status }) => status)).toEqual(['success', 'skipped'])
    problemIn(await world.ask('POST', URL, { body: { ids: [id] }, as: 'stranger' }), 'VALIDATION')
  })

  it('replays history: attempts as they went, and the gap in which nobody looked', async () => {
    const { id } = await create({
      every_seconds: 60,
      anchor: ago(60 * MINUTE),
      misfire_policy: 'FIRE_NOW',
      timeout_seconds: 600,
    })
    await record([
      { schedule: id, at: 10 * MINUTE, took: 90_000 },
      { schedule: id, at: 9 * MINUTE },
      ...[8, 7, 6, 5].map((n) => ({ schedule: id, at: n * MINUTE, seen: (n - 4) * MINUTE, state: 'skipped' })),
      { schedule: id, at: 4 * MINUTE, state: 'failed', took: 2_000 },
    ])
    const asked = { ids: [id], replay: true, from: ago(10.5 * MINUTE), to: ago(3.5 * MINUTE) }
    const was = await simulate({ ...asked, against: [{ set: { overlap_action: 'SKIP', misfire_policy: 'SKIP' } }] })
    expect(was.outages).toEqual([{ kind: 'engine', from: ago(8 * MINUTE), to: ago(4 * MINUTE) }])
    expect(was.basis[0]).toMatchObject({ recorded_attempts: 3 })
    expect(was.rows.map(({ trigger }) => trigger).filter((trigger) => trigger === 'catchup')).toHaveLength(4)
    expect(was.against?.totals).toMatchObject({ skipped_by_reason: { overlap: 1, misfire: 4 } })
  })
})

const through = (compute: SimulationPort['compute']): void =>
  world.change({ ports: { ...world.services.ports, simulations: { compute } } })

/** Where it is reached from outside of this process. */
let address: Promise<string> | null = null
const listening = (): Promise<string> => (address ??= world.app.listen({ port: 0 }))

describe('a simulation as a stream', () => {
  const stream = (body: SimulateInput) => world.ask('POST', URL, { body, headers: { accept: 'text/event-stream' } })
  const body: SimulateInput = { schedules: [{ every_seconds: 60 }], window_seconds: 120 }
  afterAll(() => world.change({ ports: world.services.ports }))

  it('tells how far it is, then the result', async () => {
    through((_org, job, listening) => {
      listening?.progress?.({ done: 1, total: 2 })
      return Promise.resolve(computeSimulation(job))
    })
    const told = await stream(body)
    expect(told.headers['content-type']).toContain('text/event-stream')
    const [progress, result] = told.body.split('\n\n')
    expect(progress).toBe('event: progress\ndata: {"done":1,"total":2}')
    expect(simulateAnswer.parse(JSON.parse(result?.replace('event: result\ndata: ', '') ?? ''))).toHaveProperty('rows')
  })

  it('is refused as everything is before it has begun, and in its own words after', async () => {
    expect(pointersIn(await stream({}))).toEqual(['/schedules'])
    through(async (_org, _job, listening) => {
      listening?.progress?.({ done: 1, total: 2 })
      throw await Promise.resolve(new Refusal('SIMULATION_LIMIT', 'too long'))
    })
    expect((await stream(body)).body).toContain('"code":"SIMULATION_LIMIT"')
  })

  it('is read by the client: progress, result, and refusals before and after it has begun', async () => {
    const client = createClient({ url: await listening(), key: 'owner' })
    const heard: unknown[] = []
    through((_org, job, listening) => {
      listening?.progress?.({ done: 1, total: 2 })
      return job.against === null
        ? Promise.resolve(computeSimulation(job))
        : Promise.reject(new Refusal('SIMULATION_LIMIT', 'too long'))
    })
    const answer = await client.simulate(body, { onProgress: (progress) => heard.push(progress) })
    expect([answer.totals.occurrences, heard]).toEqual([1, [{ done: 1, total: 2 }]])
    await expect(client.simulate({})).rejects.toMatchObject({ code: 'VALIDATION', status: 400 })
    await expect(client.simulate({ ...body, against: [] })).rejects.toMatchObject({ code: 'SIMULATION_LIMIT' })
  })

  it('ends when whoever asked hangs up', async () => {
    const url = await listening()
    const asker = new AbortController()
    const ended = new Promise((resolve) => {
      through((_org, _job, listening) => {
        listening?.signal?.addEventListener('abort', resolve)
        asker.abort()
        return new Promise(() => undefined)
      })
    })
    const headers = { authorization: 'Bearer owner', 'content-type': 'application/json' }
    const asked = fetch(`${url}${URL}`, { method: 'POST', headers, body: JSON.stringify(body), signal: asker.signal })
    await expect(asked).rejects.toThrow('aborted')
    await ended
  })
})
