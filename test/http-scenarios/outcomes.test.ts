import { describe, expect } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { Handler } from '../../src/executors/in-process.ts'
import { createStage, labelOf } from '../scenarios/stage.ts'
import {
  chat,
  ended,
  eventually,
  inMs,
  inShort,
  inState,
  refused,
  runsWhen,
  send,
  timeOf,
} from '../scenarios/support.ts'
import { scenario } from './world.ts'

/** Fails so often, and works from then on. */
function failing(times: number): Handler {
  let failed = 0
  return () => {
    if (failed >= times) return 'works'
    failed += 1
    throw new Error(`failure ${failed}`)
  }
}

/** From the end of each attempt to the beginning of the next. */
const gapsOf = ({ attempts }: RunDetail): readonly number[] =>
  attempts.slice(1).map((attempt, index) => timeOf(attempt.started_at) - timeOf(attempts[index]?.finished_at ?? null))

describe.concurrent('26: a failing agent turn over HTTP', () => {
  scenario(
    'with 3 retries: 4 attempts after about 2, 4 and 8 s, one run `failed`',
    async (world) => {
      const node = await world.start({ agents: { worker: failing(9) } })
      const { run_id: id } = await send(node, chat('s'), 'turn')
      expect(await ended(node, id, 30_000)).toMatchObject({
        ...{ status: 'failed', reason: 'retries_exhausted', attempt: 4, error_message: 'failure 4' },
      })
      const run = await node.runs.get(id)
      expect(run.attempts.map(({ number, status }) => `${number} ${status ?? ''}`)).toEqual([
        ...['1 failed', '2 failed', '3 failed', '4 failed'],
      ])
      for (const [index, gap] of gapsOf(run).entries()) {
        const about = 2_000 * 2 ** index
        expect(gap, `gap ${index + 1}`).toBeGreaterThanOrEqual(0.75 * about)
        // The wait is below the bound; picking it up afterwards may take a busy machine a moment.
        expect(gap, `gap ${index + 1}`).toBeLessThan(1.25 * about + 700)
      }
      expect((await node.runs.list({ session: chat('s') })).items).toHaveLength(1)
    },
    45_000,
  )

  scenario('that fails twice and then works: `success` on attempt 3', async (world) => {
    const node = await world.start({ agents: { worker: failing(2) } })
    await node.agents.update('worker', { retry_policy: { max_retries: 3, strategy: 'fixed', base_ms: 100 } })
    expect(await node.sessions.ask(chat('s'), 'turn')).toMatchObject({ status: 'success', attempt: 3, output: 'works' })
  })
})

describe.concurrent('27: an `at` job over HTTP', () => {
  scenario('that succeeds is gone, and its run is in the history', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const at = inMs(1_500)
    const made = await node.schedules.create({ agent_id: 'worker', at, payload: 'remember' })
    expect(made).toMatchObject({ kind: 'at', state: 'active', next_run_at: at })
    const act = await stage.begun('remember')
    stage.open()
    const run = await ended(node, act.attempt.runId)
    expect(run).toMatchObject({ status: 'success', trigger: 'schedule', schedule_id: made.id, nominal_time: at })
    await refused(node.schedules.get(made.id), 'NOT_FOUND')
    expect((await node.runs.list({ schedule_id: made.id })).items.map((item) => item.id)).toEqual([run.id])
  })

  scenario('that fails for good stays, switched off, with its error', async (world) => {
    const node = await world.start({ agents: { worker: failing(9) } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', at: inMs(1_500), retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 100 } },
    })
    await eventually(async () =>
      expect(await node.schedules.get(id)).toMatchObject({
        ...{ state: 'failed', enabled: false, next_run_at: null, last_status: 'failed', failure_count: 1 },
        last_error: expect.stringContaining('failure 2') as string,
      }),
    )
  })
})

/** A function that accepts and reports later, and the tokens it was given. */
function createAsync(): { readonly handler: Handler; readonly token: (nth?: number) => Promise<string> } {
  const tokens: string[] = []
  return {
    handler: async (attempt, context) => {
      if (labelOf(attempt.payload) !== 'later') return 'at once'
      const deferred = await context.defer()
      tokens.push(deferred.token)
      return deferred
    },
    token: (nth = 1) => eventually(() => tokens[nth - 1] ?? Promise.reject(new Error('nothing was deferred'))),
  }
}

describe.concurrent('28: an agent that reports later, over HTTP', () => {
  scenario('is settled by its callback once; a repeat is ignored; a wrong token is nobody', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    const { run_id: id } = await send(node, chat('s'), 'later')
    await inState(node, id, 'awaiting_callback')
    // Whoever reports has the token and no key.
    const report = async (token: string, body: unknown): Promise<readonly unknown[]> => {
      const answer = await node.raw('POST', `/api/v1/callbacks/${token}`, { key: '', body })
      return [answer.status, answer.body['code'] ?? answer.body]
    }
    const token = await agent.token()
    expect(await report(`${token.slice(0, -2)}xx`, { status: 'success' })).toEqual([404, 'NOT_FOUND'])
    await inState(node, id, 'awaiting_callback')
    const done = { status: 'success', output: 'the result' }
    expect(await report(token, done)).toEqual([200, { status: 'success', ignored: false }])
    expect(await report(token, done)).toEqual([200, { status: 'success', ignored: true }])
    expect(await report(token, { status: 'failed' })).toEqual([200, { status: 'success', ignored: true }])
    expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: 'the result', attempt: 1 })
  })

  scenario('that never reports ends `timeout`', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    await node.agents.update('worker', { timeout_seconds: 1, retry_policy: { max_retries: 0 } })
    const { run_id: id } = await send(node, chat('s'), 'later')
    expect(await ended(node, id)).toMatchObject({ status: 'timeout', error_code: 'callback_timeout' })
    expect(await node.runs.callback(await agent.token(), { status: 'success' })).toEqual({
      ...{ status: 'timeout', ignored: true },
    })
  })

  scenario('counts as pending for overlap meanwhile', async (world) => {
    const agent = createAsync()
    const node = await world.start({ agents: { worker: agent.handler } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 1, overlap_action: 'SKIP', payload: 'later', misfire_policy: 'FIRE_NOW' },
    })
    const runs = await runsWhen(
      node,
      id,
      (found) => found.length >= 3 && found.every((run) => run.status !== 'waiting'),
    )
    expect(runs.slice(0, 3).map(inShort)).toEqual(['awaiting_callback', 'skipped/overlap', 'skipped/overlap'])
  })
})

describe.concurrent('29: run-now over HTTP', () => {
  scenario('runs a disabled schedule, leaves its plan alone, and is on record', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 7 * * *', enabled: false })
    const before = await node.schedules.get(id)
    const answer = await node.raw('POST', `/api/v1/schedules/${id}/run-now`)
    expect(answer).toMatchObject({ status: 202, body: { ran: true } })
    const run = await ended(node, String(answer.body['run_id']))
    expect(run).toMatchObject({
      status: 'success',
      trigger: 'manual',
      schedule_id: id,
      decision: { reason: 'run_now' },
    })
    const after = await node.schedules.get(id)
    for (const field of ['state', 'enabled', 'next_run_at', 'cron', 'version'] as const)
      expect(after[field], field).toEqual(before[field])
    const { items } = await node.client.audit.list({ action: 'schedule.run_now' })
    expect(items).toEqual([
      expect.objectContaining({
        ...{ org_id: 'default', object: { kind: 'schedule', id }, actor: expect.stringMatching(/^key_/) as string },
        after: expect.objectContaining({ run_id: run.id }) as unknown,
      }),
    ])
    expect(await node.client.audit.verify()).toMatchObject({ ok: true, faults: [] })
  })

  scenario('policy SKIP and full: 409 CONCURRENCY_LIMIT, and nothing is made', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 7 * * *', concurrency_policy: 'SKIP' })
    await node.schedules.runNow(id)
    await stage.begunMany(1)
    const refusal = await node.raw('POST', `/api/v1/schedules/${id}/run-now`)
    expect([refusal.status, refusal.body['code']]).toEqual([409, 'CONCURRENCY_LIMIT'])
    expect((await node.schedules.runs(id)).items).toHaveLength(1)
    stage.open()
  })

  scenario('in the same second as an occurrence: both exist', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id } = await node.schedules.create({ agent_id: 'worker', every_seconds: 1, max_fires: 1, payload: 'x' })
    await runsWhen(node, id, (found) => found.length >= 1)
    const { run_id: manual } = await node.schedules.runNow(id)
    const runs = await runsWhen(
      node,
      id,
      (found) => found.length === 2 && found.every((run) => run.finished_at !== null),
    )
    expect(runs.map((run) => [run.trigger, run.status]).toSorted()).toEqual([
      ['manual', 'success'],
      ['schedule', 'success'],
    ])
    expect(runs.map((run) => run.id)).toContain(manual)
    expect(new Set(runs.map((run) => run.job_run_id)).size).toBe(2)
  })
})
