import { describe, expect } from 'vitest'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { METRICS, UNPREFIXED } from '../../src/server/metrics/catalogue.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { missSeconds } from '../scenarios/downtime.ts'
import { createStage } from '../scenarios/stage.ts'
import { chat, ended, eventually, runsWhen, send } from '../scenarios/support.ts'
import { parsePrometheusText, type Exposition } from '../support/prometheus-text.ts'
import { scenario, type Remote } from './world.ts'

async function scrape({ url, key }: Remote, as: string | null = key): Promise<Exposition> {
  const answer = await fetch(`${url}/metrics`, { headers: as === null ? {} : { authorization: `Bearer ${as}` } })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parsePrometheusText(await answer.text())
}

const worksOrNot = (): ReturnType<typeof createStage> => {
  const stage = createStage({
    then: ({ label }) => {
      if (label === 'fails') throw new Error('as asked')
      return 'works'
    },
  })
  stage.release('works', 'fails')
  return stage
}

describe.concurrent('39: after 1 success, 1 failure and 1 timeout', () => {
  scenario('/metrics shows 3 triggers, one of each ending, and how long they took', async (world) => {
    const node = await world.start({ agents: { worker: worksOrNot().handler } })
    await node.agents.update('worker', { timeout_seconds: 1, retry_policy: { max_retries: 0 } })
    for (const payload of ['works', 'fails', 'takes for ever']) {
      const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload })
      await ended(node, (await node.schedules.runNow(id)).run_id ?? '')
    }
    const seen = await scrape(node)
    expect(seen.by('escapement_runs_total', 'status')).toEqual({
      ...{ success: 1, failed: 1, timeout: 1, cancelled: 0, skipped: 0, dropped: 0, rejected: 0, expired: 0 },
    })
    expect(seen.by('escapement_triggers_total', 'trigger')).toMatchObject({ manual: 3, message: 0, schedule: 0 })
    for (const status of ['success', 'failed', 'timeout'])
      expect(seen.value('escapement_runs_by_trigger_total', { trigger: 'manual', status })).toBe(1)
    expect(seen.value('escapement_task_timeout_total')).toBe(1)
    expect(seen.value('escapement_attempts_total')).toBe(3)
    expect(seen.value('escapement_run_duration_seconds_count')).toBe(3)
    expect(seen.value('escapement_run_duration_seconds_sum')).toBeGreaterThan(0.9)
    expect(seen.value('escapement_run_duration_seconds_bucket', { le: '0.5' })).toBe(2)
    expect(seen.by('escapement_schedules', 'state')).toMatchObject({ active: 3, paused: 0 })
    expect(seen.by('runs_total', 'status')).toEqual(seen.by('escapement_runs_total', 'status'))
    expect(seen.value('task_timeout_total')).toBe(1)
    const change = { metrics: { unprefixed_names: false } }
    expect((await node.raw('PATCH', '/api/v1/config', { body: change })).status).toBe(200)
    expect([...(await scrape(node)).types.keys()]).toEqual(Object.keys(METRICS))
  })
})

describe.concurrent('what is skipped, retried, late and missed', () => {
  scenario('moves the counters that the seeds name, and those by reason', async (world) => {
    const { ids } = await missSeconds(world, 5, [
      { misfire_policy: 'SKIP' },
      { misfire_policy: 'FIRE_NOW', concurrency_policy: 'SKIP', max_concurrency: 1 },
      { misfire_policy: 'FIRE_NOW', overlap_action: 'SKIP' },
    ])
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 20 } })
    // One of each is at work until all others have been decided.
    const isDecided = (run: { readonly reason: string | null }): boolean => run.reason !== 'held'
    for (const id of ids) await runsWhen(node, id, (found) => found.length >= 5 && found.every(isDecided))
    stage.open()
    for (const id of ids)
      await runsWhen(node, id, (found) => found.length >= 5 && found.every((run) => run.finished_at !== null))
    const seen = await scrape(node)
    const skips = seen.by('escapement_skips_total', 'reason')
    expect(skips).toEqual({ misfire: 4, concurrency: 4, overlap: 4 })
    expect(seen.value('escapement_concurrency_skipped_total')).toBe(4)
    expect(seen.value('escapement_task_overlap_skipped_total')).toBe(4)
    const misfires = seen.by('escapement_misfires_total', 'outcome')
    expect(misfires).toEqual({ skipped: 4, caught_up: 2 })
    expect(seen.by('escapement_runs_total', 'status')).toMatchObject({ skipped: 12, success: 3 })
    expect(seen.by('escapement_triggers_total', 'trigger')).toMatchObject({ schedule: 7, catchup: 8 })
    // Each of the three began seconds after its moment.
    expect(seen.value('escapement_run_lateness_seconds_count')).toBe(3)
    expect(seen.value('escapement_run_lateness_seconds_sum')).toBeGreaterThan(3)
    expect(seen.value('escapement_scan_duration_seconds_count')).toBeGreaterThan(0)
    expect(seen.value('escapement_scan_age_seconds')).toBeLessThan(60)
  })

  scenario('retries inside a run, attempts that time out, and occurrences that retry', async (world) => {
    const failing: Handler = () => {
      throw new Error('out of order')
    }
    const stage = createStage()
    const node = await world.start({ agents: { worker: failing, slow: stage.handler } })
    await node.agents.update('worker', { retry_policy: { max_retries: 2, strategy: 'fixed', base_ms: 20 } })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    await ended(node, id)
    await node.agents.update('slow', {
      ...{ timeout_seconds: 1, retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 20 } },
    })
    const slow = await send(node, 'agent:slow:chat:direct:s', 'turn')
    await ended(node, slow.run_id)
    const seen = await scrape(node)
    expect(seen.by('escapement_retries_total', 'error_code')).toEqual({ agent_error: 2, timeout: 1 })
    expect(seen.value('escapement_task_failure_retry_total')).toBe(3)
    expect(seen.value('escapement_task_timeout_total')).toBe(2)
    expect(seen.by('escapement_runs_total', 'status')).toMatchObject({ failed: 1, timeout: 1 })
    expect(seen.value('escapement_attempts_total')).toBe(5)
    const made = await node.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 1, payload: 'x', failure_action: 'RETRY', max_fires: 2 },
    })
    await runsWhen(node, made.id, (found) => found.filter((run) => run.status === 'failed').length >= 2)
    expect((await scrape(node)).value('escapement_task_failure_retry_total')).toBe(4)
  })
})

describe.concurrent('what there is at this moment', () => {
  scenario('lanes, agents, callbacks, pools and what was refused', async (world) => {
    const stage = createStage()
    const later: Handler = async (_, { defer }) => {
      await defer()
    }
    const node = await world.start({ agents: { worker: stage.handler, later }, lanes: { main: 2 } })
    const callback = await send(node, 'agent:later:chat:direct:s', 'turn')
    await eventually(async () => {
      expect((await node.runs.get(callback.run_id)).status).toBe('awaiting_callback')
    })
    for (const peer of ['a', 'b', 'c', 'd']) await send(node, chat(peer), 'held')
    await stage.begunMany(2)
    await node.raw('GET', '/api/v1/runs/run_nobody')
    await node.raw('GET', '/api/v1/runs', { key: 'nonsense' })
    const seen = await eventually(async () => {
      const found = await scrape(node)
      expect(found.value('escapement_lane_queued', { lane: 'main' })).toBe(2)
      return found
    })
    expect([...seen.types.keys()]).toEqual([...Object.keys(METRICS), ...Object.keys(UNPREFIXED)])
    for (const name of ['escapement_lane_slots', 'escapement_lane_held', 'escapement_lane_in_flight'])
      expect(seen.value(name, { lane: 'main' }), name).toBe(2)
    const worker = { org: 'default', agent: 'worker' }
    expect(seen.value('escapement_agent_queued', worker)).toBe(2)
    expect(seen.value('escapement_agent_in_flight', worker)).toBe(2)
    expect(seen.value('escapement_callbacks_pending')).toBe(1)
    expect(seen.by('escapement_pending_runs', 'state')).toMatchObject({ awaiting_callback: 1 })
    expect(seen.by('escapement_refusals_total', 'code')).toEqual({ NOT_FOUND: 1, UNAUTHENTICATED: 1 })
    expect(seen.by('escapement_nodes', 'state')).toEqual({ up: 1, draining: 0, lost: 0 })
    expect(seen.value('escapement_database_up')).toBe(1)
    expect(seen.value('escapement_draining')).toBe(0)
    expect(seen.value('escapement_database_connections', { pool: 'engine', state: 'idle' })).toBeGreaterThan(0)
    stage.open()
  })

  scenario('deliveries, by what became of each try', async (world) => {
    const peer = await startPeer((_, response, n) => json(response, n === 1 ? 200 : 500, {}))
    try {
      const node = await world.start({
        ...{ agents: { worker: () => 'done' }, outbound: { allow_hosts: [`127.0.0.1:${peer.port}`] } },
      })
      const { body: hook } = await node.raw('POST', '/api/v1/targets', {
        body: { name: 'Hook', kind: 'webhook', url: `${peer.url}/hook` },
      })
      const delivery = { target_id: hook['id'] }
      const { body: made } = await node.raw('POST', '/api/v1/schedules', {
        body: { agent_id: 'worker', cron: '0 0 1 1 *', payload: 'x', delivery },
      })
      for (const outcome of ['delivered', 'retry']) {
        await node.schedules.runNow(String(made['id']))
        await eventually(async () => {
          expect((await scrape(node)).by('escapement_deliveries_total', 'outcome')[outcome]).toBe(1)
        })
      }
    } finally {
      await peer.close()
    }
  })

  scenario('is open without a key on a loopback address with one org, and with two is not', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    await scrape(node, null)
    await node.client.orgs.create({ id: 'other', name: 'Other' })
    // Whether there are others is looked at every few seconds.
    await eventually(async () => {
      expect((await fetch(`${node.url}/metrics`)).status).toBe(401)
    }, 15_000)
    await scrape(node)
  })

  scenario('is not open without a key where others reach it by a name', async (world) => {
    const node = await world.start({ server: { allowed_hosts: ['escapement.example'] } })
    expect((await fetch(`${node.url}/metrics`)).status).toBe(401)
    await scrape(node)
  })
})
