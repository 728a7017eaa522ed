import { afterAll, beforeAll, describe, expect } from 'vitest'
import { isTerminal } from '../../src/domain/run/run-machine.ts'
import type { RunDetail, RunView } from '../../src/features/runs/schema.ts'
import { type Child, type ChildProgram, compileChildren, killAllChildren, startChild } from './children.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, inMs, inState, nothingFor, runsWhen, send, timeOf } from './support.ts'
import { scenario, type World } from './world.ts'

// kill -9 of real processes. Leases are short, so that what they held is free again soon.

let program: ChildProgram
beforeAll(() => {
  program = compileChildren()
})
afterAll(async () => {
  await killAllChildren()
  program.remove()
})

const LEASE_MS = 1_500
const node = { lease_ms: LEASE_MS, renew_ms: 400 } as const

const start = (world: World, workMs = 20): Promise<Child> => startChild(program, { url: world.url, workMs, node })

const runIdOf = (answer: unknown): string => (answer as { readonly run_id: string }).run_id
const idOf = (answer: unknown): string => (answer as { readonly id: string }).id

const terminalEntries = ({ timeline }: RunDetail): number => timeline.filter((entry) => isTerminal(entry.status)).length

describe.concurrent('30: kill -9', () => {
  scenario('with 1 running and 2 queued: the queued run once, the running is tried again', async (world) => {
    const child = await start(world)
    const retry_policy = { max_retries: 2, strategy: 'fixed', base_ms: 100 }
    await child.call('agents', 'update', 'worker', { retry_policy })
    const ids: string[] = []
    for (const text of ['hold', 'q1', 'q2']) ids.push(runIdOf(await child.call('sessions', 'send', chat('s'), text)))
    const schedule = idOf(
      await child.call('schedules', 'create', { agent_id: 'worker', every_seconds: 1, payload: 't' }),
    )
    await eventually(() => expect(child.began().map((act) => act.label)).toContain('hold'))
    await child.kill()

    const stage = createStage({ open: true })
    const next = await world.start({ agents: { worker: stage.handler }, node })
    expect(await endings(next, ids)).toEqual(['success', 'success', 'success'])
    const [held, ...queued] = await Promise.all(ids.map((id) => next.runs.get(id)))
    expect(held?.attempts.map(({ number, status, error_code }) => [number, status, error_code])).toEqual([
      [1, 'failed', 'node_lost'],
      [2, 'success', null],
    ])
    for (const run of queued) expect(run.attempts).toHaveLength(1)
    expect(stage.started().filter((label) => label !== 't')).toEqual(['hold', 'q1', 'q2'])
    const runs = await runsWhen(next, schedule, (found) => found.some((run) => run.status === 'success'))
    const restartedAt = timeOf(held?.attempts[1]?.started_at ?? null)
    await eventually(async () => {
      const { items } = await next.runs.list({ schedule_id: schedule, status: 'success' })
      expect(items.some((run) => timeOf(run.nominal_time) > restartedAt)).toBe(true)
    })
    expect(new Set(runs.map((run) => run.nominal_time)).size).toBe(runs.length)
  })

  scenario('the running one is settled by its policy: without retries it has failed', async (world) => {
    const child = await start(world)
    await child.call('agents', 'update', 'worker', { retry_policy: { max_retries: 0 } })
    const id = runIdOf(await child.call('sessions', 'send', chat('s'), 'hold'))
    await eventually(() => expect(child.began()).toHaveLength(1))
    await child.kill()
    const next = await world.start({ agents: { worker: () => 'done' }, node })
    // It believes a lease that it finds for as long as it lasts, by its own counter, and then looks: fivefold slack.
    const noticedBy = Date.now() + 5 * LEASE_MS
    const run = await ended(next, id)
    expect(run).toMatchObject({ status: 'failed', error_code: 'node_lost', attempt: 1 })
    expect(timeOf(run.finished_at)).toBeLessThan(noticedBy)
  })

  scenario('8: text buffered in the window runs all the same', async (world) => {
    const child = await start(world)
    const message = { sender: 'ann', debounce_ms: 2_500 }
    const id = runIdOf(await child.call('sessions', 'send', chat('s'), { ...message, text: 'a' }))
    await child.call('sessions', 'send', chat('s'), { ...message, text: 'b' })
    await child.kill()
    const stage = createStage({ open: true })
    const next = await world.start({ agents: { worker: stage.handler }, node })
    expect((await ended(next, id)).status).toBe('success')
    expect(stage.started()).toEqual(['a\nb'])
  })

  scenario('a run that was asked to stop ends `cancelled`, whoever died', async (world) => {
    const child = await start(world)
    const other = await world.start({ node })
    const { run_id: id } = await send(other, chat('s'), 'hold')
    await eventually(() => expect(child.began()).toHaveLength(1))
    await child.kill()
    expect(await other.sessions.stop(chat('s'))).toEqual({ stopped: 1, drained: 0 })
    expect(await ended(other, id)).toMatchObject({ status: 'cancelled', reason: 'stopped' })
  })

  scenario('a callback that is awaited is not lost with the node that began it', async (world) => {
    const child = await start(world)
    const other = await world.start({ node, agents: { later: (_, context) => context.defer() } })
    const { run_id: id } = await send(other, chat('s', 'later'), 'work')
    await inState(other, id, 'awaiting_callback')
    await child.kill()
    await nothingFor(LEASE_MS + 500)
    expect((await other.runs.get(id)).status).toBe('awaiting_callback')
  })
})

describe.concurrent('13: signals', () => {
  scenario('SIGTERM: what runs ends, what waits survives into the next process', async (world) => {
    const child = await start(world, 700)
    const ids: string[] = []
    for (const text of ['running', 'waiting']) ids.push(runIdOf(await child.call('sessions', 'send', chat('s'), text)))
    await eventually(() => expect(child.began()).toHaveLength(1))
    child.signal('SIGTERM')
    await eventually(async () =>
      expect(await child.call('nodes', 'list')).toMatchObject({ items: [{ draining: true }] }),
    )
    await expect(child.call('sessions', 'send', chat('s'), 'new')).rejects.toThrow(/draining/)
    await child.ended
    expect(child.began().map((act) => act.label)).toEqual(['running'])
    const stage = createStage({ open: true })
    const next = await world.start({ agents: { worker: stage.handler }, node })
    expect(await endings(next, ids)).toEqual(['success', 'success'])
    expect(stage.started()).toEqual(['waiting'])
    expect((await next.runs.get(ids[0] ?? '')).attempts).toHaveLength(1)
  })

  scenario('SIGUSR1: the sessions at work there are reset, others are not', async (world) => {
    const child = await start(world)
    const other = await world.start({ agents: { elsewhere: createStage().handler }, node })
    const ids: string[] = []
    for (const text of ['hold', 'waiting']) ids.push((await send(other, chat('s'), text)).run_id)
    const { run_id: far } = await send(other, chat('s', 'elsewhere'), 'far')
    await eventually(() => expect(child.began()).toHaveLength(1))
    await inState(other, far, 'running')
    child.signal('SIGUSR1')
    expect(await endings(other, ids)).toEqual(['cancelled', 'cancelled'])
    expect((await other.runs.get(ids[1] ?? '')).reason).toBe('lane_cleared')
    expect((await other.sessions.get(chat('s'))).generation).toBe(1)
    expect((await other.runs.get(far)).status).toBe('running')
    const { run_id: later } = await send(other, chat('s'), 'later')
    expect((await ended(other, later)).status).toBe('success')
  })
})

describe.concurrent('14: every accepted submission settles exactly once under crashes', () => {
  scenario('two of three nodes are killed while 60 messages go through', async (world) => {
    const children = [await start(world, 60), await start(world, 60)]
    // A small lane of its own, so that the others have something to die with.
    const survivor = await world.start({ agents: { worker: () => nothingFor(60) }, node, lanes: { main: 1 } })
    await survivor.agents.update('worker', { retry_policy: { max_retries: 5, strategy: 'fixed', base_ms: 50 } })
    const ids: string[] = []
    for (let n = 0; n < 60; n += 1) {
      ids.push((await send(survivor, chat(`s${n % 12}`), String(n))).run_id)
      if (n === 20) await children[0]?.kill()
      if (n === 40) await children[1]?.kill()
      if (n % 6 === 5) await nothingFor(20)
    }
    expect(await endings(survivor, ids)).toEqual(ids.map(() => 'success'))
    const runs = await Promise.all(ids.map((id) => survivor.runs.get(id)))
    for (const run of runs) expect(terminalEntries(run), JSON.stringify(run.timeline)).toBe(1)
    expect(new Set(runs.flatMap((run) => run.attempts.map((attempt) => attempt.node_id))).size).toBeGreaterThan(1)
    expect((await survivor.runs.list({ limit: 200 })).items).toHaveLength(ids.length)
  })
})

describe.concurrent('31: two nodes, an every-second cron, and one of them is killed', () => {
  const lateness = (run: RunView): number => timeOf(run.started_at) - timeOf(run.nominal_time)

  scenario('still one run per second, the gap bounded by the lease', async (world) => {
    const [first, second] = await Promise.all([start(world), start(world)])
    const schedule = idOf(
      await first.call('schedules', 'create', {
        ...{ agent_id: 'worker', cron: '* * * * * *', payload: 'tick', misfire_policy: 'FIRE_NOW' },
        ...{ concurrency_policy: 'PARALLEL', ends_at: inMs(9_000), retry_policy: { max_retries: 3, base_ms: 50 } },
      }),
    )
    await eventually(() => expect(first.began().length + second.began().length).toBeGreaterThanOrEqual(3))
    await first.kill()
    const runs = await eventually(async () => {
      const { items } = (await second.call('schedules', 'runs', schedule, { limit: 50 })) as {
        readonly items: readonly RunView[]
      }
      expect(await second.call('schedules', 'get', schedule)).toMatchObject({ state: 'finished' })
      expect(items.length).toBeGreaterThanOrEqual(7)
      expect(items.filter((run) => run.status !== 'success')).toEqual([])
      return items.toSorted((a, b) => timeOf(a.nominal_time) - timeOf(b.nominal_time))
    })
    const moments = runs.map((run) => timeOf(run.nominal_time))
    expect(moments).toEqual(moments.map((_, index) => (moments[0] ?? 0) + index * 1_000))
    expect(Math.max(...runs.map(lateness))).toBeLessThan(LEASE_MS + 2_500)
  })
})
