import { describe, expect } from 'vitest'
import { callbackScenarios, createAsync, retryScenarios } from '../scenarios/both/outcomes.ts'
import { atScenarios, runNowScenarios } from '../scenarios/both/schedules.ts'
import { createStage } from '../scenarios/stage.ts'
import { chat, ended, inState, send } from '../scenarios/support.ts'
import { scenario } from './world.ts'

describe.concurrent('over HTTP', () => {
  retryScenarios(scenario)
  atScenarios(scenario)
  callbackScenarios(scenario)
  runNowScenarios(scenario)
})

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
    const token = await agent.first()
    expect(await report(`${token.slice(0, -2)}xx`, { status: 'success' })).toEqual([404, 'NOT_FOUND'])
    await inState(node, id, 'awaiting_callback')
    const done = { status: 'success', output: 'the result' }
    expect(await report(token, done)).toEqual([200, { status: 'success', ignored: false }])
    expect(await report(token, done)).toEqual([200, { status: 'success', ignored: true }])
    expect(await report(token, { status: 'failed' })).toEqual([200, { status: 'success', ignored: true }])
    expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: 'the result', attempt: 1 })
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
})
