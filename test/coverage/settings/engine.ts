import { expect } from 'vitest'
import { createStage } from '../../scenarios/stage.ts'
import { makeAndLeave, missSeconds, MINUTE, setBack } from '../../scenarios/downtime.ts'
import { chat, ended, eventually, nothingFor, runsWhen, send, timeOf } from '../../scenarios/support.ts'
import type { World } from '../../http-scenarios/world.ts'
import type { Effects } from './effect.ts'

const FAILING = (): never => {
  throw new Error('out of paper')
}

const lanes = { main: 3, subagent: 4, team: 5, cron: 6, task: 7 }

const setsLanes = async ({ start }: World): Promise<void> => {
  const node = await start({ lanes })
  const sizes = (await node.client.lanes.list()).items.map(({ name, concurrency }) => [name, concurrency])
  expect(Object.fromEntries(sizes)).toEqual(lanes)
}

/** Two run, one waits, and the next is turned away: none of this is so by default. */
const setsQueue = async ({ start }: World): Promise<void> => {
  const stage = createStage()
  const sessions = { cap: 1, drop: 'new', debounce_ms: 0, max_concurrent: 2 }
  const node = await start({ agents: { worker: stage.handler }, sessions })
  for (const text of ['1', '2', '3']) await send(node, chat('s'), text)
  await stage.begunMany(2)
  const target = `/api/v1/sessions/${encodeURIComponent(chat('s'))}/messages`
  expect((await node.raw('POST', target, { body: { text: '4' } })).status).toBe(429)
}

/** The wait after the first and after the second failure, exactly as the settings say: there is no jitter. */
const setsRetries = async ({ start }: World): Promise<void> => {
  const retry = { max_retries: 2, base_ms: 3_000, max_ms: 4_000, jitter: 0 }
  const node = await start({ agents: { worker: FAILING }, retry })
  const { run_id: id } = await send(node, chat('s'), 'x')
  for (const [attempt, wait] of [3_000, 4_000].entries())
    await eventually(async () => {
      const run = await node.client.runs.get(id)
      expect([run.status, run.attempts.length]).toEqual(['waiting', attempt + 1])
      expect(timeOf(run.not_before) - timeOf(run.attempts[attempt]?.finished_at ?? null)).toBe(wait)
    })
  expect(await ended(node, id)).toMatchObject({ status: 'failed', attempt: 3 })
}

/** A node that performs one task at a time, whatever else is set, and what became of three. */
const limitsTasks =
  (tasks: object, lane: number, answers: readonly number[]) =>
  async ({ start }: World): Promise<void> => {
    const stage = createStage()
    const node = await start({ agents: { worker: stage.handler }, lanes: { task: lane }, tasks })
    const submit = async (): Promise<number> =>
      (await node.raw('POST', '/tasks', { body: { agentId: 'worker', action: 'x' } })).status
    const first = await submit()
    await stage.begunMany(1)
    expect([first, await submit(), await submit()]).toEqual(answers)
    expect(stage.busy()).toBe(1)
  }

export const ENGINE_EFFECTS: Effects = {
  'node.lease_ms': async ({ start, database }) => {
    await start({ node: { lease_ms: 600_000 } })
    const [node] = await database.outside(
      `select extract(epoch from lease_until - now())::int as seconds from escapement.node`,
    )
    expect(node?.['seconds']).toBeGreaterThan(60)
  },
  'node.renew_ms': async ({ start, database }) => {
    await start({ node: { lease_ms: 600_000, renew_ms: 590_000 } })
    const lease = async (): Promise<unknown> =>
      (await database.outside('select lease_until::text as until from escapement.node'))[0]?.['until']
    const before = await lease()
    // Longer than the usual 5 s between two renewals.
    await nothingFor(6_000)
    expect(await lease()).toBe(before)
  },
  'node.stop_grace_ms': [
    'test/scenarios/interrupt.test.ts',
    '9: an interrupting message › waits no longer than the grace for what does not listen',
  ],
  'lanes.main': setsLanes,
  'lanes.subagent': setsLanes,
  'lanes.team': setsLanes,
  'lanes.cron': setsLanes,
  'lanes.task': setsLanes,
  'lanes.max_org_share': async ({ start }) => {
    const node = await start({ lanes: { main: 10, max_org_share: 0.3 } })
    await node.client.orgs.create({ id: 'acme', name: 'Acme' })
    const main = (await node.client.lanes.list()).items.find(({ name }) => name === 'main')
    expect(main?.max_per_org).toBe(3)
  },
  'sessions.mode': async ({ start }) => {
    const stage = createStage()
    const node = await start({ agents: { worker: stage.handler }, sessions: { mode: 'interrupt', debounce_ms: 0 } })
    const { run_id: id } = await send(node, chat('s'), '1')
    await stage.begun('1')
    await send(node, chat('s'), '2')
    expect(await ended(node, id)).toMatchObject({ status: 'cancelled', reason: 'interrupted' })
  },
  'sessions.cap': setsQueue,
  'sessions.drop': setsQueue,
  'sessions.max_concurrent': setsQueue,
  'sessions.debounce_ms': async ({ start }) => {
    const node = await start({ agents: { worker: () => 'done' }, sessions: { debounce_ms: 0 } })
    expect((await send(node, chat('s'), { text: '1', sender: 'ann' })).state).not.toBe('waiting')
  },
  'tasks.enabled': async ({ start }) => {
    const node = await start({ tasks: { enabled: false } })
    expect((await node.raw('GET', '/tasks')).status).toBe(404)
  },
  'tasks.max_queue': limitsTasks({ max_queue: 1 }, 1, [202, 202, 429]),
  'tasks.max_per_agent': limitsTasks({ max_per_agent: 1 }, 1, [202, 202, 429]),
  'tasks.max_inflight': limitsTasks({ max_inflight: 1 }, 20, [202, 202, 202]),
  'tasks.max_per_agent_inflight': limitsTasks({ max_per_agent_inflight: 1 }, 20, [202, 202, 202]),
  'tasks.result_ttl_seconds': [
    'test/server/tasks-queue.test.ts',
    'the time to live of a task › begins with its end, and is another one after a reload',
  ],
  'tasks.default_deadline_seconds': async ({ start }) => {
    const stage = createStage()
    const node = await start({ agents: { worker: stage.handler }, tasks: { default_deadline_seconds: 900 } })
    const { body } = await node.raw('POST', '/tasks', { body: { agentId: 'worker', action: 'x' } })
    const run = await node.runs.get(String(body['taskId']))
    expect(timeOf(run.deadline) - timeOf(run.created_at)).toBe(900_000)
  },
  'schedules.default_timezone': async ({ start }) => {
    const node = await start({ agents: { worker: () => 'done' }, schedules: { default_timezone: 'Asia/Tokyo' } })
    expect(await node.schedules.create({ agent_id: 'worker', cron: '0 9 * * *' })).toMatchObject({
      timezone: 'Asia/Tokyo',
    })
  },
  'schedules.poll_ms': async ({ start, database }) => {
    const node = await start({ agents: { worker: () => 'HEARTBEAT_OK' }, schedules: { poll_ms: 600_000 } })
    await node.client.heartbeat.set('worker', { checklist: { text: '- Disk?' }, target: 'none' })
    await database.outside('update escapement.heartbeat set next_at = now(), due_at = now()')
    // Longer than the usual second between two looks.
    await nothingFor(3_000)
    expect((await node.client.heartbeat.log('worker')).items).toEqual([])
  },
  'schedules.misfire_grace_seconds': async (world) => {
    const inputs = [{ misfire_policy: 'SKIP', payload: 'x' } as const]
    const { ids } = await missSeconds(world, 1, inputs)
    const node = await world.start({ agents: { worker: () => 'done' }, schedules: { misfire_grace_seconds: 0 } })
    const [run] = await runsWhen(node, ids[0] ?? '', (runs) => runs.length === 1)
    expect(run).toMatchObject({ status: 'skipped', reason: 'misfire' })
  },
  'schedules.catchup_window_seconds': async (world) => {
    const past = Math.floor((Date.now() - 5 * MINUTE) / MINUTE) * MINUTE
    const cron = `${new Date(past).getUTCMinutes()} ${new Date(past).getUTCHours()} * * *`
    const [id = ''] = await makeAndLeave(world, [{ cron, timezone: 'UTC', payload: 'x' }])
    await setBack(world, id, past - MINUTE)
    const node = await world.start({ agents: { worker: () => 'done' }, schedules: { catchup_window_seconds: 60 } })
    const [run] = await runsWhen(node, id, (runs) => runs.length === 1)
    expect(run).toMatchObject({ status: 'skipped', reason: 'misfire' })
  },
  'schedules.catchup_spacing_ms': async (world) => {
    const inputs = [{ misfire_policy: 'FIRE_NOW', payload: 'x', max_concurrency: 9 } as const]
    const { ids } = await missSeconds(world, 3, inputs)
    const node = await world.start({ agents: { worker: () => 'done' }, schedules: { catchup_spacing_ms: 600_000 } })
    const runs = await runsWhen(node, ids[0] ?? '', (all) => all.length === 3)
    expect(runs.map(({ status }) => status === 'waiting')).toEqual([false, true, true])
    expect(timeOf(runs[2]?.not_before ?? null) - timeOf(runs[1]?.not_before ?? null)).toBe(600_000)
  },
  'schedules.catchup_max_active': async (world) => {
    const inputs = ['1', '2', '3'].map((payload) => ({ payload, misfire_policy: 'FIRE_NOW' }) as const)
    const past = Math.floor((Date.now() - 5 * MINUTE) / MINUTE) * MINUTE
    const cron = `${new Date(past).getUTCMinutes()} ${new Date(past).getUTCHours()} * * *`
    const ids = await makeAndLeave(
      world,
      inputs.map((input) => ({ ...input, cron, timezone: 'UTC' })),
    )
    for (const id of ids) await setBack(world, id, past - MINUTE)
    const stage = createStage()
    const node = await world.start({
      agents: { worker: stage.handler },
      schedules: { catchup_max_active: 1, catchup_spacing_ms: 0 },
    })
    await stage.begunMany(1)
    for (const id of ids) await runsWhen(node, id, (runs) => runs.length === 1)
    stage.open()
    for (const id of ids) await runsWhen(node, id, ([run]) => run?.status === 'success')
    expect(stage.most()).toBe(1)
  },
  'retry.max_retries': setsRetries,
  'retry.base_ms': setsRetries,
  'retry.max_ms': setsRetries,
  'retry.jitter': setsRetries,
}
